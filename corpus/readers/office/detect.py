"""Tell the ZIP-based formats apart by their parts, whatever the file name says."""

from __future__ import annotations

from corpus.errors import Unreadable
from corpus.readers.office import docx, epub, odt, opendocument, pptx, xlsx
from corpus.readers.office.zip_archive import Archive
from corpus.types import Extracted

_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."


def read(path: str, data: bytes) -> Extracted:
    """Read an archive that is a document; see `corpus.readers`."""
    archive = Archive(data)
    kind = archive.part("mimetype").strip() if archive.has("mimetype") else b""
    if kind == b"application/epub+zip" or archive.has("META-INF/container.xml"):
        return epub.read(archive)
    if kind.startswith(_OPEN_DOCUMENT):
        return _open_document(archive, kind.decode("ascii", "replace"))
    main = next((part for type_, part in archive.links("").values() if type_ == "officeDocument"), "")
    for folder, reader in (("word", docx.read), ("ppt", pptx.read), ("xl", xlsx.read)):
        if main.startswith(f"{folder}/"):
            return reader(archive, main)
    raise Unreadable("archive is not a supported document")


def _open_document(archive: Archive, media_type: str) -> Extracted:
    kind = media_type.rpartition(".")[2].removesuffix("-template")
    if kind == "spreadsheet":
        return opendocument.read_sheets(archive)
    if kind in ("presentation", "graphics"):
        return opendocument.read_slides(archive, media_type)
    if kind.startswith("text"):
        return odt.read(archive)
    raise Unreadable("archive is not a supported document")
