"""The house rules that no linter knows: what may import what, and what appears nowhere."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus import errors

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("corpus", "index", "qa")
MODULES = {
    path.relative_to(REPOSITORY).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for package in PACKAGES
    for path in sorted((REPOSITORY / package).rglob("*.py"))
    if "sample" not in path.parts
}
# The seams to what is heavy; each library is imported by these alone.
SEAMS = {
    "faiss": {"index/vectors.py"},
    "torch": {"index/torch_encoder.py", "index/compile.py"},
    "sentence_transformers": {"index/torch_encoder.py", "index/compile.py"},
    "transformers": {"index/torch_encoder.py", "index/tokens.py"},
    "tokenizers": {"index/tokens.py"},
    "huggingface_hub": {"index/models.py", "index/torch_encoder.py"},
    "openvino": {"index/openvino_library.py"},
    "sqlite3": {
        "index/buckets.py",
        "index/entering.py",
        "index/insert.py",
        "index/meta.py",
        "index/places.py",
        "index/postings.py",
        "index/records.py",
        "index/repeats.py",
        "index/salvage.py",
        "index/schema.py",
        "index/settle.py",
        "index/store.py",
        "index/vector_rows.py",
        "index/verify.py",
    },
    "ir_measures": {"qa/evaluation/ranking.py"},
    "tqdm": {"qa/cli.py"},
    "click": {"qa/cli.py", "qa/boundary.py"},
}
TERMINAL = {"qa/cli.py", "qa/render.py", "qa/boundary.py"}


def imported(name: str) -> Iterator[str]:
    """Dotted names of what a module imports, wherever in it; relative imports made absolute."""
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


def test_all_modules_are_looked_at() -> None:
    """The rules below hold for something."""
    assert {"corpus/split.py", "corpus/readers/plain.py", "index/vectors.py", "qa/retriever.py"} <= MODULES.keys()
    assert "corpus.types" in set(imported("corpus/split.py"))
    assert "index.schema" in set(imported("index/store.py"))


@pytest.mark.parametrize(("below", "above"), [("corpus", "index"), ("corpus", "qa"), ("index", "qa")])
def test_one_direction(below: str, above: str) -> None:
    """Corpus knows neither index nor qa; index does not know qa."""
    assert [name for name in importers(above) if name.startswith(f"{below}/")] == []


def test_no_package_imports_the_tests() -> None:
    """What is installed does not need what is not."""
    assert importers("tests") == set()


@pytest.mark.parametrize("library", SEAMS)
def test_heavy_libraries_have_their_seams(library: str) -> None:
    """Each is imported in few known places, so that it can be replaced."""
    assert importers(library) <= SEAMS[library]


def test_corpus_needs_no_arrays() -> None:
    """Text in, passages out: no numpy, nothing scientific."""
    assert [name for name in importers("numpy") if name.startswith("corpus/")] == []


@pytest.mark.parametrize("library", ["pickle", "cPickle", "dill", "joblib", "marshal", "shelve"])
def test_no_pickle(library: str) -> None:
    """Nothing that runs code when it is read."""
    assert importers(library) == set()


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


def test_nothing_asserts_what_users_give() -> None:
    """`python -O` drops assertions, so none stands outside the tests."""
    asserting = {name for name, tree in MODULES.items() if any(isinstance(node, ast.Assert) for node in ast.walk(tree))}
    assert asserting == set()


def test_no_bare_except() -> None:
    """Every except says what it catches."""
    bare = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and node.type is None
    }
    assert bare == set()


def test_modules_and_public_things_are_documented() -> None:
    """Each module, and each class and function without an underscore at its top, has a docstring."""
    without = [
        f"{name}: {getattr(node, 'name', 'module')}"
        for name, tree in MODULES.items()
        for node in (tree, *tree.body)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and not getattr(node, "name", "").startswith("_")
        and not ast.get_docstring(node)
    ]
    assert without == []


def test_every_error_stands_in_the_tree() -> None:
    """The tree in the root's docstring is that of the classes, and each class has its own docstring."""
    classes = {
        name: thing
        for name, thing in inspect.getmembers(errors, inspect.isclass)
        if issubclass(thing, errors.QAError) and thing is not errors.QAError
    }
    drawn: dict[str, str] = {}
    above = ["QAError"]
    for indent, name in re.findall(r"^ {4}([│ ]*)[├└]── (\w+)  +\S", errors.QAError.__doc__ or "", re.MULTILINE):
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
    # These are caught inside: a file's own trouble, and a model that cannot be compiled.
    assert own <= {"Unreadable", "CompileError"}


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
