"""Readers: one module per format, with a function `read(path, data)` that extracts the text and structure of a file."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from corpus.types import Extracted

Reader = Callable[[str, bytes], Extracted]


def reader_for(name: str) -> Reader:
    """Return a reader by the name of its module, which is imported on first use.

    The reader raises `Unreadable` for a file that it cannot read.
    """
    read: Reader = import_module(f"corpus.readers.{name}").read
    return read
