"""The parts of a ZIP archive, inflated within limits on their size."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.readers.office.xml_tree import each, first, parse_xml

# Bytes of one part, and of all parts read; the sizes that an archive states are not trusted.
MAX_PART = 32 * 1024 * 1024
MAX_ALL = 128 * 1024 * 1024
MAX_PARTS = 20_000
_DEFAULT_TITLE = re.compile(r"(?:powerpoint|microsoft word)?[\s-]*(?:presentation|document)?\s*\d*", re.IGNORECASE)
_STEP = 256 * 1024
# Characters of a part's name shown in an error; a document may refer to a name of several megabytes.
_MAX_SHOWN = 100
_DAMAGE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError, RuntimeError)


class Archive:
    """A ZIP archive in memory; raises `Unreadable` if it is damaged, encrypted or has too many parts."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise Unreadable("damaged: cannot be opened as a ZIP archive") from error
        parts = self._zip.infolist()
        if len(parts) > MAX_PARTS:
            raise Unreadable(f"archive of more than {MAX_PARTS:,} files")
        if any(part.flag_bits & 1 for part in parts):
            raise Unreadable("encrypted")
        self._parts = {part.filename: part for part in parts}
        self._inflated = 0

    def has(self, name: str) -> bool:
        """Return whether there is a part with this name."""
        return name in self._parts

    def part(self, name: str) -> bytes:
        """Inflate a part; one that is missing, damaged or too large raises `Unreadable`."""
        shown = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"
        if name not in self._parts:
            raise Unreadable(f"damaged: {shown} is missing")
        data = bytearray()
        try:
            with self._zip.open(self._parts[name]) as stream:
                while piece := stream.read(_STEP):
                    data += piece
                    if len(data) > MAX_PART or self._inflated + len(data) > MAX_ALL:
                        raise Unreadable("unpacked size exceeds the limit")
        except _DAMAGE as error:
            raise Unreadable(f"damaged: {shown} cannot be unpacked") from error
        self._inflated += len(data)
        return bytes(data)

    def xml(self, name: str) -> Element:
        """Parse a part as XML; see `part` and `parse_xml`."""
        return parse_xml(self.part(name))

    def optional(self, name: str) -> Element | None:
        """Parse a part as XML if there is one."""
        return self.xml(name) if self.has(name) else None

    def links(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the type and name, by id, of each part to which this part of an Office file refers."""
        folder, file = posixpath.split(name)
        links = self.optional(f"{folder}/_rels/{file}.rels".removeprefix("/"))
        return {
            link.get("Id", ""): (link.get("Type", "").rpartition("/")[2], resolve(folder, link.get("Target", "")))
            for link in each(links, "Relationship")
            if link.get("TargetMode") != "External"
        }

    def title(self, name: str) -> str:
        """Return the title from a metadata part, or "" if it is a program's default."""
        title = text_of(first(self.optional(name), "title"))
        return "" if _DEFAULT_TITLE.fullmatch(title) else title


def text_of(element: Element | None) -> str:
    """Return all text inside an element, stripped of surrounding whitespace."""
    return "" if element is None else "".join(element.itertext()).strip()


def resolve(folder: str, target: str) -> str:
    """Return the name of the part that `target` refers to, seen from a part in `folder`."""
    return posixpath.normpath(posixpath.join("/", folder, unquote(target.partition("#")[0]))).lstrip("/")
