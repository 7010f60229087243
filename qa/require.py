"""Require arguments of Python callers to be of their types."""

from __future__ import annotations


def require_type(name: str, value: object, *types: type) -> None:
    """Raise a TypeError that names an argument unless it is of one of these types."""
    if not isinstance(value, types):
        wanted = " or ".join(one.__name__ for one in types)
        raise TypeError(f"{name} must be of type {wanted}, not {type(value).__name__}")
