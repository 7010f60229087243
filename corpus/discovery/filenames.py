"""Names of files as text, the same in every locale: a system keeps bytes, and this tool reads them as UTF-8.

Python reads names in the encoding of the locale, so where that is another, `größe.md` would come as something else.
"""

from __future__ import annotations

import os
import sys

# The index of a collection, and what its owner sets for it; neither is a document.
INDEX_FOLDER = ".qa"
SETTINGS_FILE = "qa.toml"
IGNORE_FILES = (".gitignore", ".qaignore")
_IS_UTF_8 = sys.getfilesystemencoding() == "utf-8"


def from_os_name(name: str) -> str:
    """A name as Python got it from the system, as text; bytes that are not UTF-8 become lone surrogates."""
    return name if _IS_UTF_8 else os.fsencode(name).decode("utf-8", "surrogateescape")


def to_os_name(path: str) -> str:
    """The other way round: what Python needs to find a path that is kept as text.

    Raises:
        UnicodeEncodeError: No file can have this name.
    """
    return path if _IS_UTF_8 else os.fsdecode(path.encode("utf-8", "surrogateescape"))
