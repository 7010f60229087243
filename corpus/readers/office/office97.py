"""Word, Excel and PowerPoint files from before 2007: converted by office-oxide, then read like their successors."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from corpus.errors import Unreadable
from corpus.formats import DOC, PPT, XLS
from corpus.readers.office import detect
from corpus.types import Extracted

# Each format by suffix, with the stream that identifies it; a file may embed others.
_KINDS = {"doc": ("WordDocument", DOC), "ppt": ("PowerPoint Document", PPT), "xls": ("Workbook", XLS)}


def read(path: str, data: bytes) -> Extracted:
    """Read an old Office file; see `corpus.readers`."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise Unreadable("encrypted")
    suffix = PurePosixPath(path).suffix.lower()[1:]
    kinds = [kind for kind, (stream, _) in _KINDS.items() if stream.encode("utf-16-le") in data]
    if not kinds:
        raise Unreadable("damaged, or not a document of Word, Excel or PowerPoint")
    kind = suffix if suffix in kinds else kinds[0]
    with TemporaryDirectory() as folder:
        modern = Path(folder, f"a.{kind}x")
        _convert(data, kind, modern)
        document = detect.read(path, _remove_default_titles(modern.read_bytes()))
    return replace(document, media_type=_KINDS[kind][1].media_type)


def _convert(data: bytes, kind: str, target: Path) -> None:
    try:
        from office_oxide import Document  # noqa: PLC0415 - an extra
    except ImportError as error:
        reason = f'an Office format from before 2007; save it as .{kind}x, or: pip install "qa-passages[office]"'
        raise Unreadable(reason, unknown=True) from error
    try:
        Document.from_bytes(data, kind).save_as(str(target))
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic in the library is not an Exception
        raise Unreadable(f"encrypted or damaged: cannot be opened as a {kind.upper()} file") from error


def _remove_default_titles(data: bytes) -> bytes:
    """Remove the titles "Slide 1" etc., which the library gives to slides without a title."""
    output = BytesIO()
    with ZipFile(BytesIO(data)) as source, ZipFile(output, "w") as target:
        for name in source.namelist():
            part, slide = source.read(name), re.fullmatch(r"ppt/slides/slide(\d+)\.xml", name)
            target.writestr(
                name, part.replace(f"<a:t>Slide {slide[1]}</a:t>".encode(), b"<a:t/>", 1) if slide else part
            )
    return output.getvalue()
