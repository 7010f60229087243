"""What `import qa` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import qa
from tests.paths import REPOSITORY


def test_every_public_name_is_there_and_documented() -> None:
    """Few names, sorted, each with a docstring of its own."""
    assert len(qa.__all__) <= 14
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


def test_star_import() -> None:
    names: dict[str, object] = {}
    exec("from qa import *", names)  # noqa: S102 - a star import is not allowed inside a function
    assert names.keys() - {"__builtins__"} == set(qa.__all__)


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"^module 'qa' has no attribute 'Retreiver'$"):
        _ = qa.Retreiver
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from qa import nothing  # noqa: F401


def test_python_m_qa() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "qa", "--version"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"qa {qa.__version__}\n"
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
