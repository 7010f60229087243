"""The house rules that no linter knows: what may import what, and what appears nowhere."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache

import pytest

from corpus import errors
from tests.paths import REPOSITORY

PACKAGES = ("corpus", "index", "qa")
MODULES = {
    path.relative_to(REPOSITORY).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for package in PACKAGES
    for path in sorted((REPOSITORY / package).rglob("*.py"))
    if "sample" not in path.parts
}
# What is heavy or an extra is imported in these modules alone, a folder standing for all in it.
ADAPTERS = {
    "psycopg": {"index/postgres/"},
    "distributed": {"index/workers/dask_cluster.py"},
    "faiss": {"index/dense/faiss_segments.py", "qa/explore/clusters.py"},
    "scipy": {"qa/explore/clusters.py", "qa/evaluation/"},
    "sklearn": {"qa/explore/"},
    "torch": {
        "index/encoder/sentence_transformer.py",
        "index/encoder/torch_backend.py",
        "index/encoder/openvino_conversion.py",
        "index/encoder/devices.py",
    },
    "sentence_transformers": {"index/encoder/sentence_transformer.py"},
    "safetensors": {"index/encoder/openvino_graph.py", "qa/explore/grouping.py", "qa/reader/network.py"},
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
# Of another package, only its names and these are seen.
SHARED = {"corpus.errors", "corpus.formats", "corpus.types"}
TERMINAL = {"qa/cli/errors.py", "qa/cli/main.py", "qa/cli/session.py", "qa/terminal/answers.py"}

# The one module that changes files, and what changes them: methods of paths, functions of modules, whole modules.
DISK = "index/storage/disk.py"
CHANGING_METHODS = {
    *("unlink", "rmdir", "mkdir", "touch", "rename", "chmod", "write_bytes", "write_text", "symlink_to", "hardlink_to"),
    # Of libraries that write a file themselves.
    *("save_model", "serialize", "write_index", "save_pretrained", "tofile", "save_file"),
}
CHANGING_FUNCTIONS = {
    *("os.remove", "os.unlink", "os.rename", "os.renames", "os.replace", "os.mkdir", "os.makedirs", "os.rmdir"),
    *("os.write", "os.pwrite", "os.writev", "os.truncate", "os.ftruncate", "os.fsync", "os.fdatasync", "os.link"),
    *("os.symlink", "os.chmod", "os.chown", "os.utime", "os.mkfifo", "os.posix_fallocate", "os.removedirs"),
    *("numpy.save", "np.save", "np.savez"),
}
CHANGING_MODULES = {"tempfile", "fileinput", "mmap"}
SHUTIL_LOOKS = {"shutil.get_terminal_size", "shutil.which", "shutil.disk_usage"}
# OpenVINO saves its graph itself, into a folder that the module then syncs and renames step by step.
MAY_CHANGE = {
    "index/compiled/compiled_copy.py: .save_model",
    # In a folder of the reader process that vanishes: what its library converts.
    "corpus/readers/office/office97.py: tempfile.TemporaryDirectory",
}


@cache
def imported(name: str) -> tuple[str, ...]:
    """Dotted names of what a module imports, wherever in it; relative imports made absolute."""
    return tuple(_imported(name))


def _imported(name: str) -> Iterator[str]:
    package = name.rpartition("/")[0].replace("/", ".")
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            yield ".".join((*parents, *([node.module] if node.module else [])))


def importers(library: str) -> set[str]:
    return {name for name in MODULES if any(found.partition(".")[0] == library for found in imported(name))}


def called(name: str) -> Iterator[str]:
    """Names that a module calls as they are, such as `print`."""
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def changing(tree: ast.AST) -> Iterator[str]:
    """What changes files in a module, by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = "" if isinstance(node, ast.Import) else f"{node.module}."
            names = [f"{module}{alias.name}" for alias in node.names]
            yield from (name for name in names if name.partition(".")[0] in CHANGING_MODULES)
            yield from (name for name in names if name.startswith("shutil.") and name not in SHUTIL_LOOKS)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            method = isinstance(node.func, ast.Attribute)
            shutil = called.startswith("shutil.") and called not in SHUTIL_LOOKS
            if (
                shutil
                or called in CHANGING_FUNCTIONS
                or (called in {"os.open", "open", "io.open"} and opens_for_writing(node))
            ):
                yield called
            elif method and called.rpartition(".")[2] in CHANGING_METHODS and not called.startswith("disk."):
                yield f".{called.rpartition('.')[2]}"
            elif method and called.endswith(".replace") and len(node.args) == 1 and not node.keywords:
                yield ".replace"  # of a path: that of a text has two arguments
            elif method and called.endswith(".open") and called != "os.open" and may_write(mode_of(node, 0)):
                yield ".open"


def opens_for_writing(call: ast.Call) -> bool:
    """Whether a call of `open` or `os.open` may write; the null device takes anything."""
    if call.args and ast.unparse(call.args[0]) == "os.devnull":
        return False
    if ast.unparse(call.func) == "os.open":
        return bool(re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)", ast.unparse(call.args[1])))
    mode = mode_of(call, 1)
    return mode is not None and (not isinstance(mode, ast.Constant) or may_write(mode))


def mode_of(call: ast.Call, place: int) -> ast.expr | None:
    """The mode that a file is opened in, by its place or its name."""
    named = [word.value for word in call.keywords if word.arg == "mode"]
    return named[0] if named else call.args[place] if len(call.args) > place else None


def may_write(mode: ast.expr | None) -> bool:
    """Whether a mode is one that is written down and writes."""
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool(re.search(r"[wax+]", mode.value))


# Rooms that people and programs meet; each stands on the others, and may have rooms of its own.
FACES = ("qa/cli", "qa/conversation", "qa/integrations", "qa/mcp", "qa/web")


def face_of(room: str) -> str | None:
    """The face that a room belongs to."""
    return next((face for face in FACES if f"{room}/".startswith(f"{face}/")), None)


def test_all_modules_are_looked_at() -> None:
    """The rules below hold for something."""
    assert {
        "corpus/chunking/splitter.py",
        "corpus/readers/plaintext/plain.py",
        "index/dense/faiss_segments.py",
        "qa/retrieval/retriever.py",
    } <= MODULES.keys()
    assert "corpus.types" in set(imported("corpus/chunking/splitter.py"))
    assert "index.storage.database" in set(imported("index/commit/store.py"))


@pytest.mark.parametrize(
    ("below", "above"), [("corpus", "index"), ("corpus", "qa"), ("index", "qa"), ("", "tests"), ("corpus", "numpy")]
)
def test_one_direction(below: str, above: str) -> None:
    """Corpus knows neither index nor qa, nor arrays; index does not know qa; what is not installed is not needed."""
    assert [name for name in importers(above) if name.startswith(below)] == []


def room_of(module: str) -> str:
    """The folder of a module, a package being a room itself."""
    return module.rpartition("/")[0]


def edges() -> dict[tuple[str, str], set[str]]:
    """Which room imports from which other of its package, and by which modules."""
    found: dict[tuple[str, str], set[str]] = {}
    for name in MODULES:
        if name.count("/") == 1 and name.endswith(("__init__.py", "__main__.py")):
            continue  # a facade names every home and imports none before it is asked for; nothing imports `__main__`
        for module in imported(name):
            path = module.replace(".", "/")
            there = path if f"{path}/__init__.py" in MODULES else room_of(path)
            if there.partition("/")[0] == name.partition("/")[0] and there != room_of(name):
                found.setdefault((room_of(name), there), set()).add(name)
    return found


@pytest.mark.parametrize("library", ADAPTERS)
def test_heavy_libraries_have_their_adapters(library: str) -> None:
    """Each is imported in few known places, so that it can be replaced."""
    found = importers(library)
    assert found
    assert {name for name in found if not name.startswith(tuple(ADAPTERS[library]))} == set()


def test_packages_see_each_other_through_their_facades() -> None:
    """What another package offers is named in its `__init__`; errors, formats and types are everybody's."""
    deep = {
        f"{name}: {module}"
        for name in MODULES
        for module in imported(name)
        if module.partition(".")[0] in PACKAGES
        and module.partition(".")[0] != name.partition("/")[0]
        and "." in module
        and module not in SHARED
    }
    assert deep == set()


@pytest.mark.parametrize("package", ["corpus", "index", "qa"])
def test_rooms_form_no_circle(package: str) -> None:
    """Rooms can be put in an order in which each imports only from those before it."""
    arrows = {(a, b) for a, b in edges() if a.startswith(package) and b != package}
    rooms = {room for arrow in arrows for room in arrow}
    while rooms:
        free = {room for room in rooms if not any(a == room and b in rooms for a, b in arrows)}
        assert free, f"a circle among {sorted(rooms)}"
        rooms -= free


def needed(name: str) -> set[str]:
    """Files that a module imports when it runs, at once or later; what only types need is left out."""
    found = set()
    parts: list[ast.AST] = [*MODULES[name].body]
    while parts:
        node = parts.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        parts += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {f"{module.replace('.', '/')}.py" for module in modules}
    return (found & MODULES.keys()) - {name}


def test_modules_form_no_circle() -> None:
    """Each can be read after those that it needs; an import inside a function hides no circle."""
    left = {name: needed(name) for name in MODULES}
    while left:
        free = {name for name in left if not left[name] & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        left = {name: needs for name, needs in left.items() if name not in free}


@pytest.mark.parametrize(("package", "most"), [("corpus", 40), ("index", 30), ("qa", 23)])
def test_few_arrows_between_rooms(package: str, most: int) -> None:
    """A stage can be read alone: rooms hold together inside more than with one another."""
    assert len([1 for a, _ in edges() if a.startswith(package) and face_of(a) is None]) <= most


def test_faces_do_not_know_each_other() -> None:
    """Each stands on few rooms by itself; the command line starts the others."""
    arrows = {(face_of(a), b) for a, b in edges() if face_of(a) and face_of(a) != face_of(b)}
    assert [(a, b) for a, b in arrows if a != "qa/cli" and face_of(b)] == []
    assert {a: [b for c, b in arrows if c == a] for a, _ in arrows if len([1 for c, _ in arrows if c == a]) > 10} == {}


def test_no_room_is_crowded() -> None:
    """A folder that can be taken in at a glance."""
    rooms = [room_of(name) for name in MODULES if not name.endswith("__init__.py")]
    assert {room: rooms.count(room) for room in rooms if rooms.count(room) > 12} == {}


def test_no_pickle() -> None:
    """Nothing that runs code when it is read."""
    assert {name for one in ("pickle", "dill", "joblib", "marshal", "shelve") for name in importers(one)} == set()


def test_no_eval() -> None:
    """No text becomes code."""
    assert {name for name in MODULES if {"eval", "exec", "compile", "__import__"} & set(called(name))} == set()


def test_printing_has_its_place() -> None:
    """Only the console's modules print or touch the standard streams for writing."""
    assert {name for name in MODULES if "print" in set(called(name))} <= TERMINAL
    streams = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"stdout", "stderr"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    }
    assert streams <= TERMINAL


def test_one_module_changes_files() -> None:
    """Every change of a file that SQLite does not make goes through the module that tests can fail at each step."""
    found = {f"{name}: {what}" for name, tree in MODULES.items() if name != DISK for what in changing(tree)}
    # Segments are read into memory without a file.
    assert found <= MAY_CHANGE
    assert {"os.open", "os.write", "os.fsync", ".unlink", ".replace", ".mkdir"} <= set(changing(MODULES[DISK]))


@pytest.mark.parametrize(
    "line",
    [
        "path.unlink()",
        "path.replace(other)",
        "path.rename(other)",
        "(folder / 'a').write_text('b')",
        "path.mkdir(parents=True)",
        "path.open('wb')",
        "path.open(mode='a')",
        "open(path, 'w')",
        "open(path, mode)",
        "os.open(path, os.O_RDWR | os.O_CREAT)",
        "os.replace(a, b)",
        "import tempfile",
        "from tempfile import mkstemp",
        "from shutil import rmtree",
        "shutil.move(a, b)",
        "faiss.write_index(index, name)",
    ],
)
def test_what_changes_a_file_is_recognised(line: str) -> None:
    assert list(changing(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "text.replace('a', 'b')",
        "replace(info, vectors=0)",
        "names.remove(name)",
        "import shutil",
        "shutil.get_terminal_size()",
        "path.open('rb')",
        "path.open()",
        "open(path)",
        "Retriever.open(root)",
        "os.open(path, os.O_RDONLY)",
        "os.open(os.devnull, os.O_RDWR)",
        "disk.rename(a, b)",
        "stream.write('a')",
    ],
)
def test_what_changes_no_file_is_left_in_peace(line: str) -> None:
    assert not list(changing(ast.parse(line)))


def test_class_names_are_unique() -> None:
    """One name, one class, over all packages; a leading underscore makes no difference.

    But each framework has its own retriever of the one name.
    """
    homes: dict[str, list[str]] = {}
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name != "QARetriever":
                homes.setdefault(node.name.lstrip("_"), []).append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_every_error_stands_in_the_tree() -> None:
    """The tree in the root's docstring is that of the classes, and each class has its own docstring."""
    classes = {
        name: thing
        for name, thing in inspect.getmembers(errors, inspect.isclass)
        if issubclass(thing, errors.QAError) and thing is not errors.QAError
    }
    drawn: dict[str, str] = {}
    above = ["QAError"]
    for indent, name in re.findall(
        r"^([│ ]*)[├└]── (\w+)  +\S", inspect.cleandoc(errors.QAError.__doc__ or ""), re.MULTILINE
    ):
        depth = len(indent) // 4
        drawn[name] = above[depth]
        above[depth + 1 :] = [name]
    assert drawn == {name: thing.__bases__[0].__name__ for name, thing in classes.items()}
    assert all(vars(thing).get("__doc__") for thing in classes.values())


def test_errors_stand_in_one_place() -> None:
    """Nothing that leaves the library on purpose is defined elsewhere, but for kinds of those in the tree."""
    own = {
        node.name
        for name, tree in MODULES.items()
        if name != "corpus/errors.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in {"QAError", "Exception"} for base in node.bases)
    }
    # These are caught inside: a file's own trouble, a model that cannot be compiled, a question that is left alone.
    assert own <= {"Unreadable", "CompileError", "NotExplainedError"}


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_costs_nothing(package: str) -> None:
    """`import qa` loads none of what takes seconds, and names come when they are asked for."""
    program = (
        f"import sys, {package}\n"
        "heavy = {'numpy', 'faiss', 'torch', 'transformers', 'sentence_transformers', 'tokenizers', 'openvino'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == "[]\n"


def test_what_is_read_at_run_time_is_installed() -> None:
    """Every file of a package that is no module and no document is package data."""
    tracked = subprocess.run(["git", "ls-files", *PACKAGES], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    wanted = [f"{package}/{pattern}" for package, patterns in settings["package-data"].items() for pattern in patterns]
    files = [name for name in tracked.stdout.splitlines() if not name.endswith((".py", ".md"))]
    files = [name for name in files if not name.startswith("corpus/sample/")]
    assert "qa/web/page/templates/page.html" in files
    assert [name for name in files if not any(fnmatch(name, pattern) for pattern in wanted)] == []
