"""Readers: one module per format, with a function `read(path, data)` that extracts the text and structure of a file."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from corpus.types import Extracted

Reader = Callable[[str, bytes], Extracted]


def reader_for(name: str) -> Reader:
    """Return the reader in a module, imported on first use; it raises `Unreadable` for a file that it cannot read."""
    read: Reader = import_module(f"corpus.readers.{name}").read
    return read
