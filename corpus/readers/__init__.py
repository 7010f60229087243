"""Readers: one module per format, whose `read(path, data)` extracts a file's text and structure."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from corpus.types import Extracted

Reader = Callable[[str, bytes], Extracted]


def reader_for(name: str) -> Reader:
    """Return a reader by the name of its module, which is imported on first use.

    It raises `Unreadable` for a file that it cannot read.
    """
    read: Reader = import_module(f"corpus.readers.{name}").read
    return read
