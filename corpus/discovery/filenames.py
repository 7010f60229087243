"""File names as text, the same in every locale: always decoded as UTF-8, while Python decodes them by the locale."""

from __future__ import annotations

import os
import sys

# The index and the settings of a collection; neither is a document.
INDEX_FOLDER = ".qa"
SETTINGS_FILE = "qa.toml"
IGNORE_FILES = (".gitignore", ".qaignore")
_IS_UTF_8 = sys.getfilesystemencoding() == "utf-8"


def from_os_name(name: str) -> str:
    """Return a name from Python's file functions as text; bytes that are not UTF-8 become lone surrogates."""
    return name if _IS_UTF_8 else os.fsencode(name).decode("utf-8", "surrogateescape")


def to_os_name(path: str) -> str:
    """Return a path in the form that Python's file functions take."""
    return path if _IS_UTF_8 else os.fsdecode(path.encode("utf-8", "surrogateescape"))
