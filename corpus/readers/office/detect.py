"""Tell the ZIP-based formats apart by their parts rather than by file name."""

from __future__ import annotations

from corpus.errors import Unreadable
from corpus.readers.office import docx, epub, odt, opendocument, pptx, xlsx
from corpus.readers.office.zip_archive import Archive
from corpus.types import Extracted

# Readers by the beginning of the media type's last part, as of "text-template", and by the folder of the main part.
_OPEN_DOCUMENT = {"text": odt.read, "spreadsheet": opendocument.read_sheets, "presentation": opendocument.read_slides}
_OFFICE = {"word/": docx.read, "ppt/": pptx.read, "xl/": xlsx.read}


def read(path: str, data: bytes) -> Extracted:
    """Read an archive that is a document; see `corpus.readers`."""
    archive = Archive(data)
    kind = archive.read_part("mimetype").strip().decode("ascii", "replace") if archive.has_part("mimetype") else ""
    if kind == "application/epub+zip" or archive.has_part("META-INF/container.xml"):
        return epub.read(archive)
    for name, read_content in _OPEN_DOCUMENT.items():
        if kind.startswith(f"application/vnd.oasis.opendocument.{name}"):
            return read_content(archive)
    main = next((part for type_, part in archive.relationships("").values() if type_ == "officeDocument"), "")
    for folder, read_main in _OFFICE.items():
        if main.startswith(folder):
            return read_main(archive, main)
    raise Unreadable("archive is not a supported document")
