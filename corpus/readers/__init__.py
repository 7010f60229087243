"""Readers: one module a format, each with `read(path, data)`, which turns a file's bytes into a `Extracted`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from corpus.types import Extracted

Reader = Callable[[str, bytes], Extracted]


def reader_for(name: str) -> Reader:
    """The reader of that name; its module is only imported where there is such a file."""
    read: Reader = import_module(f"corpus.readers.{name}").read
    return read
