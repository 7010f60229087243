"""Check the types of arguments of Python callers."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, TypeVar

from corpus.errors import UsageError

# Strings that may be passed instead of enum members, spelt out for type checkers and editors.
ModeName = Literal["hybrid", "dense", "keyword"]
DeviceName = Literal["auto", "cpu", "cuda", "mps"]

_Member = TypeVar("_Member", bound=StrEnum)


def require_type(name: str, value: object, *types: type) -> None:
    """Raise a TypeError that names an argument unless it is of one of these types."""
    if not isinstance(value, types):
        type_names = " or ".join(expected.__name__ for expected in types)
        raise TypeError(f"{name} must be of type {type_names}, not {type(value).__name__}")


def require_texts(name: str, value: object) -> None:
    """Raise a TypeError that names an argument unless it is a string or several."""
    if not isinstance(value, Iterable) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{name} must be a str, or several, not {value!r}")


def require_encoder(value: object) -> None:
    """Raise a TypeError if an argument is neither None nor an encoder, such as a model's name."""
    # Not by `isinstance`, which would read all properties of the protocol; one may load a model.
    if value is not None and not hasattr(value, "encode_passages"):
        raise TypeError(f"encoder must be of type Encoder, not {type(value).__name__}")


def require_member(name: str, value: object, kind: type[_Member]) -> _Member:
    """Return the enum member that an argument is or names; a UsageError if there is none."""
    try:
        return kind(str(value))
    except ValueError as error:
        raise UsageError(f"{name} must be {either(kind)}, not {value!r}.") from error


def either(choices: Iterable[str]) -> str:
    """Return words as a choice: "hybrid, dense or keyword"."""
    *first_choices, last = choices
    return f"{', '.join(first_choices)} or {last}" if first_choices else last
