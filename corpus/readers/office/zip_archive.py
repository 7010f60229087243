"""The parts of a ZIP archive, inflated within limits on what comes out."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.readers.office.xml_tree import first, parse_xml

# Of one file in an archive, and of all that is read; what the archive says of their sizes is not believed.
MAX_PART = 32 * 1024 * 1024
MAX_ALL = 128 * 1024 * 1024
MAX_PARTS = 20_000
_NO_TITLE = re.compile(r"(?:powerpoint|microsoft word)?[\s-]*(?:presentation|document)?\s*\d*", re.IGNORECASE)
_STEP = 256 * 1024
# Of the name of a part, in a reason: a document may ask for one of megabytes.
_LONGEST_SHOWN = 100


class Archive:
    """The parts of a ZIP archive, each inflated at most once.

    Raises:
        Unreadable: It cannot be opened or is encrypted.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise Unreadable("damaged: no archive that can be opened") from error
        parts = self._zip.infolist()
        if len(parts) > MAX_PARTS:
            raise Unreadable(f"an archive of more than {MAX_PARTS:,} files")
        if any(part.flag_bits & 1 for part in parts):
            raise Unreadable("encrypted")
        self._parts = {part.filename: part for part in parts}
        self._read = 0

    def has(self, name: str) -> bool:
        """Whether there is a part of that name."""
        return name in self._parts

    def part(self, name: str) -> bytes:
        """The bytes of a part.

        Raises:
            Unreadable: It is missing, damaged, or larger than may be.
        """
        if name not in self._parts:
            raise Unreadable(f"damaged: {_shown(name)} is missing in it")
        found = bytearray()
        try:
            with self._zip.open(self._parts[name]) as stream:
                while piece := stream.read(_STEP):
                    found += piece
                    if len(found) > MAX_PART or self._read + len(found) > MAX_ALL:
                        raise Unreadable("unpacks to more than may be read")
        except (
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            EOFError,
            OSError,
            ValueError,
            RuntimeError,
        ) as error:
            raise Unreadable(f"damaged: {_shown(name)} in it cannot be unpacked") from error
        self._read += len(found)
        return bytes(found)

    def xml(self, name: str) -> Element:
        """A part as XML.

        Raises:
            Unreadable: As `part`, or it is not well formed.
        """
        return parse_xml(self.part(name))

    def optional(self, name: str) -> Element | None:
        """A part as XML, or None where there is none."""
        return self.xml(name) if self.has(name) else None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office file refers to: type and name of the part, by their ids."""
        folder, file = posixpath.split(name)
        links = self.optional(f"{folder}/_rels/{file}.rels".removeprefix("/"))
        if links is None:
            return {}
        return {
            link.get("Id", ""): (link.get("Type", "").rpartition("/")[2], resolve(folder, link.get("Target", "")))
            for link in links
            if link.get("TargetMode") != "External"
        }

    def title(self, name: str) -> str:
        """The title that a part with metadata states, or ""."""
        about = self.optional(name)
        found = None if about is None else first(about, "title")
        title = "" if found is None else "".join(found.itertext()).strip()
        return "" if _NO_TITLE.fullmatch(title) else title


def _shown(name: str) -> str:
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"


def resolve(folder: str, target: str) -> str:
    """The name of a part that another one in `folder` refers to."""
    return posixpath.normpath(posixpath.join("/", folder, unquote(target.partition("#")[0]))).lstrip("/")
