"""What `import qa` offers."""

from __future__ import annotations

import pydoc
import subprocess
import sys

import pytest

import qa
from corpus import errors
from tests.paths import REPOSITORY


def test_every_public_name_is_there_and_documented() -> None:
    """Few names, sorted, each with a docstring of its own."""
    assert len(qa.__all__) <= 27
    assert set(qa.__all__) | {"__version__"} <= set(dir(qa))
    assert qa.__all__ == sorted(qa.__all__)
    for name in qa.__all__:
        thing = getattr(qa, name)
        assert thing.__name__ == name
        assert thing.__doc__, name
        assert not thing.__doc__.startswith(f"{name}("), "a docstring that dataclasses made up"


def test_public_methods_are_documented() -> None:
    for name in qa.__all__:
        thing = getattr(qa, name)
        for attribute, value in vars(thing).items() if isinstance(thing, type) else ():
            if not attribute.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
                assert value.__doc__, f"{name}.{attribute}"


def test_help() -> None:
    """It has the example, the classes and their methods."""
    text = pydoc.plain(pydoc.render_doc(qa))
    for part in ('build_index("notes/")', "class Retriever", "Answer one question.", "class NoIndexError"):
        assert part in text


def test_every_error_is_exported() -> None:
    """Whatever the packages raise on purpose can be caught by a name of `qa`."""
    known, pending = set(), [errors.QAError]
    while pending:
        known.add(kind := pending.pop())
        pending.extend(one for one in kind.__subclasses__() if one.__module__ == errors.__name__)
    assert {kind.__name__ for kind in known} <= set(qa.__all__)


def test_star_import() -> None:
    names: dict[str, object] = {}
    exec("from qa import *", names)  # noqa: S102 - a star import is not allowed inside a function
    assert names.keys() - {"__builtins__"} == set(qa.__all__)


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"^module 'qa' has no attribute 'Retreiver'$"):
        _ = qa.Retreiver  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from qa import nothing  # type: ignore[attr-defined]  # noqa: F401


def test_python_m_qa() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "qa", "--version"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"qa {qa.__version__}\n"
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
