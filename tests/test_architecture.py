"""Architecture rules that no linter checks: who may import what, and what is banned."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from graphlib import TopologicalSorter

import pytest

from corpus import errors
from tests.paths import REPOSITORY
from tests.qa.commands import run_python

PACKAGES = ("corpus", "index", "qa")
# Heavy and optional libraries may only be imported in these modules and folders.
ADAPTERS = {
    "psycopg": {"index/postgres/"},
    "distributed": {"index/workers/dask_cluster.py"},
    "faiss": {"index/dense/faiss_segments.py", "qa/explore/clusters.py"},
    "scipy": {"qa/explore/clusters.py", "qa/evaluation/"},
    "sklearn": {"qa/explore/"},
    "torch": {
        *("index/encoder/sentence_transformer.py", "index/encoder/torch_backend.py"),
        *("index/encoder/openvino_conversion.py", "index/encoder/devices.py"),
    },
    "sentence_transformers": {"index/encoder/sentence_transformer.py"},
    "safetensors": {"index/encoder/", "qa/explore/grouping.py", "qa/reader/network.py"},
    "transformers": {"index/encoder/"},
    "tokenizers": {"index/encoder/tokenizer.py"},
    "huggingface_hub": {"index/encoder/"},
    "openvino": {"index/compiled/runtime.py"},
    "sqlite3": {"index/"},
    "tree_sitter": {"corpus/readers/source/grammars.py"},
    "pypdfium2": {"corpus/readers/pdf/"},
    "lxml": {"corpus/readers/web/html.py"},
    "ir_measures": {"qa/evaluation/ranking_measures.py"},
    "tqdm": {"qa/cli/session.py"},
    "mcp": {"qa/mcp/"},
    "mcp_types": {"qa/mcp/"},
    "prompt_toolkit": {"qa/conversation/line_input.py"},
    "watchfiles": {"qa/collection/file_events.py"},
    "langchain_core": {"qa/integrations/langchain.py"},
    "llama_index": {"qa/integrations/llama_index.py"},
    "haystack": {"qa/integrations/haystack.py"},
    "click": {"qa/cli/"},
    "starlette": {"qa/web/"},
    "uvicorn": {"qa/web/protocol.py", "qa/web/serve.py"},
    "h11": {"qa/web/protocol.py"},
}
# Modules that other packages may import directly; anything else is imported from the package itself.
SHARED = {"corpus.errors", "corpus.formats", "corpus.types"}
TERMINAL = {"qa/cli/errors.py", "qa/cli/main.py", "qa/cli/session.py", "qa/terminal/answers.py"}

# The only module that may change files, and what changes them: methods of paths, functions, modules.
DISK = "index/storage/disk.py"
CHANGING_METHODS = {
    *("unlink", "rmdir", "mkdir", "touch", "rename", "chmod", "write_bytes", "write_text", "symlink_to", "hardlink_to"),
    # Libraries that write files themselves.
    *("save_model", "serialize", "write_index", "save_pretrained", "tofile", "save_file"),
}
CHANGING_FUNCTIONS = {
    *("os.remove", "os.unlink", "os.rename", "os.renames", "os.replace", "os.mkdir", "os.makedirs", "os.rmdir"),
    *("os.write", "os.pwrite", "os.writev", "os.truncate", "os.ftruncate", "os.fsync", "os.fdatasync", "os.link"),
    *("os.symlink", "os.chmod", "os.chown", "os.utime", "os.mkfifo", "os.posix_fallocate", "os.removedirs"),
    *("numpy.save", "np.save", "np.savez"),
}
CHANGING_MODULES = {"tempfile", "fileinput", "mmap"}
SHUTIL_READS = {"shutil.get_terminal_size", "shutil.which", "shutil.disk_usage"}
MAY_CHANGE = {
    # OpenVINO saves its graph itself, into a folder that the module then syncs and renames step by step.
    "index/compiled/compiled_copy.py: .save_model",
    # A copy for one process, if the cache cannot be written.
    "index/compiled/compiled_copy.py: tempfile.TemporaryDirectory",
    # A line on stderr.
    "qa/__main__.py: os.write",
    # A temporary folder of the reader process, in which its library converts files.
    "corpus/readers/office/office97.py: tempfile.TemporaryDirectory",
}
# User and program interfaces; each may have subfolders.
INTERFACES = ("qa/cli", "qa/conversation", "qa/integrations", "qa/mcp", "qa/web")


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax trees of all modules, by path."""
    paths = (path for package in PACKAGES for path in sorted((REPOSITORY / package).rglob("*.py")))
    return {
        path.relative_to(REPOSITORY).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if "sample" not in path.parts
    }


@cache
def imported(name: str) -> tuple[str, ...]:
    """Dotted names of all imports in a module, also inside functions; relative imports are made absolute."""
    names: list[str] = []
    package = name.split("/")[:-1]
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            names.append(".".join((*parents, *([node.module] if node.module else []))))
    return tuple(names)


def importers(library: str) -> set[str]:
    return {name for name in trees() if any(module.partition(".")[0] == library for module in imported(name))}


def callers(*functions: str) -> set[str]:
    """Modules that call one of these functions by its plain name, such as `print`."""
    return {
        name
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions
    }


def file_changes(tree: ast.AST) -> Iterator[str]:
    """Names of imports and calls in a module that may change files."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = "" if isinstance(node, ast.Import) else f"{node.module}."
            names = [f"{module}{alias.name}" for alias in node.names]
            yield from (name for name in names if name.partition(".")[0] in CHANGING_MODULES)
            yield from (name for name in names if name.startswith("shutil.") and name not in SHUTIL_READS)
        elif isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            is_method = isinstance(node.func, ast.Attribute)
            is_shutil_change = function.startswith("shutil.") and function not in SHUTIL_READS
            if (
                is_shutil_change
                or function in CHANGING_FUNCTIONS
                or (function in {"os.open", "open", "io.open"} and opens_for_writing(node))
            ):
                yield function
            elif is_method and function.rpartition(".")[2] in CHANGING_METHODS and not function.startswith("disk."):
                yield f".{function.rpartition('.')[2]}"
            elif is_method and function.endswith(".replace") and len(node.args) == 1 and not node.keywords:
                yield ".replace"  # of a path: `str.replace` has two arguments
            elif is_method and function.endswith(".open") and function != "os.open" and may_write(mode_of(node, 0)):
                yield ".open"


def opens_for_writing(call: ast.Call) -> bool:
    """Whether a call of `open` or `os.open` may write; writing to the null device is allowed."""
    if call.args and ast.unparse(call.args[0]) == "os.devnull":
        return False
    if ast.unparse(call.func) == "os.open":
        return bool(re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)", ast.unparse(call.args[1])))
    mode = mode_of(call, 1)
    return mode is not None and (not isinstance(mode, ast.Constant) or may_write(mode))


def mode_of(call: ast.Call, position: int) -> ast.expr | None:
    """The mode in which a file is opened, a positional or keyword argument."""
    keywords = [word.value for word in call.keywords if word.arg == "mode"]
    return keywords[0] if keywords else call.args[position] if len(call.args) > position else None


def may_write(mode: ast.expr | None) -> bool:
    """Whether a mode is a literal that allows writing."""
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool(re.search(r"[wax+]", mode.value))


def interface_of(folder: str) -> str | None:
    """The interface that a folder belongs to."""
    return next((path for path in INTERFACES if f"{folder}/".startswith(f"{path}/")), None)


def test_all_modules_are_found() -> None:
    """The rules below are not checked against an empty set."""
    assert {"corpus/chunking/splitter.py", "corpus/readers/plaintext/plain.py"} <= trees().keys()
    assert {"index/dense/faiss_segments.py", "qa/retrieval/retriever.py"} <= trees().keys()
    assert "corpus.types" in set(imported("corpus/chunking/splitter.py"))
    assert "index.storage.database" in set(imported("index/commit/store.py"))


@pytest.mark.parametrize(
    ("importer", "target"), [("corpus", "index"), ("corpus", "qa"), ("index", "qa"), ("", "tests"), ("corpus", "numpy")]
)
def test_imports_go_in_one_direction(importer: str, target: str) -> None:
    """Corpus imports neither index, qa nor NumPy, index does not import qa, and no package imports tests."""
    assert [name for name in importers(target) if name.startswith(importer)] == []


def folder_of(module: str) -> str:
    return module.rpartition("/")[0]


def edges() -> set[tuple[str, str]]:
    """Pairs of folders of one package, the first of which imports from the second."""
    pairs = set()
    for name in trees():
        if name.count("/") == 1 and name.endswith(("__init__.py", "__main__.py")):
            continue  # a package imports lazily, and nothing imports `__main__`
        for module in imported(name):
            module_path = module.replace(".", "/")
            target = module_path if f"{module_path}/__init__.py" in trees() else folder_of(module_path)
            if target.partition("/")[0] == name.partition("/")[0] and target != folder_of(name):
                pairs.add((folder_of(name), target))
    return pairs


@pytest.mark.parametrize("library", ADAPTERS)
def test_heavy_libraries_are_imported_only_by_their_adapters(library: str) -> None:
    """Each is imported in few places, so that it can be replaced."""
    modules = importers(library)
    assert modules
    assert {name for name in modules if not name.startswith(tuple(ADAPTERS[library]))} == set()


def test_packages_see_each_other_through_their_facades() -> None:
    """A package exports names in its `__init__`; only errors, formats and types are imported from their modules."""
    deep = {
        f"{name}: {module}"
        for name in trees()
        for module in imported(name)
        if module.partition(".")[0] in PACKAGES
        and module.partition(".")[0] != name.partition("/")[0]
        and "." in module
        and module not in SHARED
    }
    assert deep == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_form_no_import_cycle(package: str) -> None:
    arrows = {(a, b) for a, b in edges() if a.startswith(package) and b != package}
    TopologicalSorter({folder: {b for a, b in arrows if a == folder} for arrow in arrows for folder in arrow}).prepare()


def imported_files(name: str) -> set[str]:
    """Files that a module imports at run time, immediately or later; imports for type checking are left out."""
    files = set()
    parts: list[ast.AST] = [*trees()[name].body]
    while parts:
        node = parts.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        parts += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        files |= {f"{module.replace('.', '/')}.py" for module in modules}
    return (files & trees().keys()) - {name}


def test_modules_form_no_import_cycle() -> None:
    """An import inside a function does not hide a cycle."""
    TopologicalSorter({name: imported_files(name) for name in trees()}).prepare()


@pytest.mark.parametrize(("package", "most"), [("corpus", 40), ("index", 30), ("qa", 40)])
def test_folders_are_loosely_coupled(package: str, most: int) -> None:
    assert len([1 for a, _ in edges() if a.startswith(package) and interface_of(a) is None]) <= most


def test_interfaces_are_independent() -> None:
    """Each imports from few folders, and only the command line imports from other interfaces."""
    arrows = {(interface_of(a), b) for a, b in edges() if interface_of(a) and interface_of(a) != interface_of(b)}
    assert [(a, b) for a, b in arrows if a != "qa/cli" and interface_of(b)] == []
    assert {a: count for a, count in Counter(a for a, _ in arrows).items() if count > 10} == {}


def test_no_folder_is_crowded() -> None:
    counts = Counter(folder_of(name) for name in trees() if not name.endswith("__init__.py"))
    assert {folder: count for folder, count in counts.items() if count > 12} == {}


def test_no_text_or_data_is_run_as_code() -> None:
    """No module uses pickle or the like, which run code when they read data, or `eval` or the like."""
    libraries = ("pickle", "dill", "joblib", "marshal", "shelve")
    assert set().union(*map(importers, libraries)) == set()
    assert callers("eval", "exec", "compile", "__import__") == set()


def test_only_terminal_modules_print() -> None:
    """Other modules neither print nor use the standard streams for writing."""
    assert callers("print") <= TERMINAL
    streams = {
        name
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"stdout", "stderr"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    }
    assert streams <= TERMINAL


def test_one_module_changes_files() -> None:
    """All changes of files except SQLite's go through one module, which tests can make fail at each step."""
    changes = {f"{name}: {call}" for name, tree in trees().items() if name != DISK for call in file_changes(tree)}
    assert changes <= MAY_CHANGE
    assert {"os.open", "os.write", "os.fsync", ".unlink", ".replace", ".mkdir"} <= set(file_changes(trees()[DISK]))


@pytest.mark.parametrize(
    "line",
    [
        *("path.unlink()", "path.replace(other)", "path.rename(other)", "(folder / 'a').write_text('b')"),
        *("path.mkdir(parents=True)", "path.open('wb')", "path.open(mode='a')", "open(path, 'w')", "open(path, mode)"),
        *("os.open(path, os.O_RDWR | os.O_CREAT)", "os.replace(a, b)", "import tempfile", "shutil.move(a, b)"),
        *("from tempfile import mkstemp", "from shutil import rmtree", "faiss.write_index(index, name)"),
    ],
)
def test_code_that_changes_files_is_recognised(line: str) -> None:
    assert list(file_changes(ast.parse(line)))


def test_the_tree_of_errors_is_complete() -> None:
    """The tree in QAError's docstring matches the class hierarchy, and each class has its own docstring."""
    classes = {
        name: error_class
        for name, error_class in inspect.getmembers(errors, inspect.isclass)
        if issubclass(error_class, errors.QAError) and error_class is not errors.QAError
    }
    parents: dict[str, str] = {}
    path = ["QAError"]
    tree = inspect.cleandoc(errors.QAError.__doc__ or "")
    for indent, name in re.findall(r"^([│ ]*)[├└]── (\w+)  +\S", tree, re.MULTILINE):
        depth = len(indent) // 4
        parents[name] = path[depth]
        path[depth + 1 :] = [name]
    assert parents == {name: error_class.__bases__[0].__name__ for name, error_class in classes.items()}
    assert all(vars(error_class).get("__doc__") for error_class in classes.values())


def test_errors_are_defined_in_one_module() -> None:
    """Only subclasses of specific errors, and errors that are always caught, may be defined elsewhere."""
    defined = {
        node.name
        for name, tree in trees().items()
        if name != "corpus/errors.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in {"QAError", "Exception"} for base in node.bases)
    }
    # These never leave the library: an unreadable file, a model that cannot be compiled, a question not explained.
    assert defined <= {"Unreadable", "CompileError", "NotExplainedError"}


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_is_cheap(package: str) -> None:
    """Importing it loads no heavy library."""
    program = (
        f"import sys, {package}\n"
        "heavy = {'numpy', 'faiss', 'torch', 'transformers', 'sentence_transformers', 'tokenizers', 'openvino'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    assert run_python("-c", program).stdout == "[]\n"


def test_files_that_are_read_at_run_time_are_installed() -> None:
    """Every file of a package, except modules and documents, is package data."""
    tracked = subprocess.run(["git", "ls-files", *PACKAGES], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    patterns = [f"{package}/{pattern}" for package, names in settings["package-data"].items() for pattern in names]
    files = [name for name in tracked.stdout.splitlines() if not name.endswith((".py", ".md"))]
    files = [name for name in files if not name.startswith("corpus/sample/")]
    assert "qa/web/page/templates/page.html" in files
    assert [name for name in files if not any(fnmatch(name, pattern) for pattern in patterns)] == []
