"""Read the parts of a ZIP archive within limits on their size."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.readers.office.xml_tree import find_all, find_first, parse_xml

# Bytes of a part, and of all parts read; sizes stated in the archive are not trusted.
MAX_PART = 32 * 1024 * 1024
MAX_ALL = 128 * 1024 * 1024
MAX_PARTS = 20_000
_DEFAULT_TITLE = re.compile(r"(?:powerpoint|microsoft word)?[\s-]*(?:presentation|document)?\s*\d*", re.IGNORECASE)
_MAX_FIELD = 1000
_CHUNK = 256 * 1024
# Characters of a part's name in an error message; names may have several megabytes.
_MAX_SHOWN = 100
_DAMAGE_ERRORS = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, RuntimeError)


class Archive:
    """A ZIP archive in memory; raises `Unreadable` if it is damaged or encrypted, or has too many parts."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE_ERRORS as error:
            raise Unreadable("damaged: cannot be opened as a ZIP archive") from error
        parts = self._zip.infolist()
        if len(parts) > MAX_PARTS:
            raise Unreadable(f"archive of more than {MAX_PARTS:,} files")
        if any(part.flag_bits & 1 for part in parts):
            raise Unreadable("encrypted")
        self._parts = {part.filename: part for part in parts}
        self._inflated = 0

    def has_part(self, name: str) -> bool:
        """Return whether there is a part with this name."""
        return name in self._parts

    def read_part(self, name: str) -> bytes:
        """Inflate a part; raise `Unreadable` if it is missing, damaged or too large."""
        shown_name = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"
        if name not in self._parts:
            raise Unreadable(f"damaged: {shown_name} is missing")
        data = bytearray()
        try:
            with self._zip.open(self._parts[name]) as stream:
                while chunk := stream.read(_CHUNK):
                    data += chunk
                    if len(data) > MAX_PART or self._inflated + len(data) > MAX_ALL:
                        raise Unreadable("unpacked size exceeds the limit")
        except _DAMAGE_ERRORS as error:
            raise Unreadable(f"damaged: {shown_name} cannot be unpacked") from error
        self._inflated += len(data)
        return bytes(data)

    def read_xml(self, name: str) -> Element:
        """Parse a part as XML; see `read_part` and `parse_xml`."""
        return parse_xml(self.read_part(name))

    def read_optional(self, name: str) -> Element | None:
        """Parse a part as XML; None if there is no such part."""
        return self.read_xml(name) if self.has_part(name) else None

    def relationships(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the type and name, by id, of the parts that this part of an Office file refers to."""
        folder, part = posixpath.split(name)
        entries = self.read_optional(f"{folder}/_rels/{part}.rels".removeprefix("/"))
        return {
            link.get("Id", ""): (link.get("Type", "").rpartition("/")[2], resolve(folder, link.get("Target", "")))
            for link in find_all(entries, "Relationship")
            if link.get("TargetMode") != "External"
        }

    def read_title(self, name: str) -> str:
        """Return the title from a metadata part, or "" if it is a program's default."""
        title = text_of(find_first(self.read_optional(name), "title"))
        return "" if _DEFAULT_TITLE.fullmatch(title) else title

    def read_metadata(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the author and keywords that a metadata part of an Office file states, without blank ones."""
        properties = self.read_optional(name)
        names = {"author": "creator", "keywords": "keywords"}
        texts = {field: " ".join(text_of(find_first(properties, tag)).split()) for field, tag in names.items()}
        return tuple((field, text[:_MAX_FIELD]) for field, text in texts.items() if text)


def text_of(element: Element | None) -> str:
    """Return all text inside an element, stripped of surrounding whitespace."""
    return "" if element is None else "".join(element.itertext()).strip()


def resolve(folder: str, target: str) -> str:
    """Return the name of the part that `target` refers to in a part of `folder`."""
    return posixpath.normpath(posixpath.join("/", folder, unquote(target.partition("#")[0]))).lstrip("/")
