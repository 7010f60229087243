"""OCR of scanned pages and pictures by Tesseract, if it is installed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pypdfium2.raw as pdfium

from corpus.errors import Unreadable
from corpus.formats import PDF
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.types import Extracted

# Dots per inch that Tesseract is trained on.
_RESOLUTION = 300
_POINTS = 72
# Of the longer side of a page; larger pages are scaled down.
_MAX_PIXELS = 6000
# Languages such as "deu+eng" instead of all installed ones; empty turns OCR off.
_LANGUAGES_VARIABLE = "QA_OCR"
_NEEDS_TESSERACT = "which qa index --full reads once Tesseract is installed"
_FAILS = "which Tesseract cannot read in {}; QA_OCR takes languages that `tesseract --list-langs` lists"
# A page is a scan if one picture fills more than this share of it.
_SCAN_SHARE = 0.4
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010]\n(?=[^\W\d_])")

# Called after each page, as many take longer than a file may.
progress: Callable[[], None] = lambda: None  # noqa: E731 - set by the process that reads files


def read(path: str, data: bytes) -> Extracted:
    """Read a picture of one or more pages; see `corpus.readers`."""
    languages = find_languages()
    if not languages:
        raise Unreadable(f"a picture, {_NEEDS_TESSERACT}")
    *pages, rest = _recognise(data, languages).split("\f")
    pages += [rest] if rest.strip() else []
    builder = DocumentBuilder()
    for page in pages:
        builder.page(len(pages) > 1)
        for paragraph in _paragraphs(page):
            builder.block(paragraph)
    if not "".join(pages).strip():
        raise Unreadable("no text found, not even by Tesseract")
    kind = "image/png" if data[:1] == b"\x89" else "image/jpeg" if data[:1] == b"\xff" else "image/tiff"
    return builder.build(kind, note=f"a picture, read by Tesseract ({languages})", title="")


def read_scans(document: Any) -> Extracted:
    """Read a `pypdfium2.PdfDocument` whose pages are pictures; raise `Unreadable` without Tesseract."""
    languages = find_languages()
    if not languages:
        raise Unreadable(f"no text found; probably a scan, {_NEEDS_TESSERACT}")
    pages = range(len(document))
    found = recognise_pages(document, pages, languages)
    if pages and not found:
        raise Unreadable(f"probably a scan, {_FAILS.format(languages)}", unknown=True)
    if not any(found.values()):
        raise Unreadable("no text found, not even by Tesseract", unknown=len(found) < len(pages))
    builder = DocumentBuilder()
    for number in pages:
        builder.page()
        for paragraph in found.get(number, ()):
            builder.block(paragraph)
    return builder.build(PDF.media_type, note=f"a scan, {_outcome(len(found), len(pages), languages)}", title="")


def scanned_pages(document: Any, without_text: Sequence[int]) -> list[int]:
    """Return which of these pages of a `pypdfium2.PdfDocument`, numbered from 0, are scans."""
    scans = []
    for number in without_text:
        page = document[number]
        width, height = page.get_size()
        boxes = [image.get_bounds() for image in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE])]
        page.close()
        if any((right - left) * (top - bottom) > _SCAN_SHARE * width * height for left, bottom, right, top in boxes):
            scans.append(number)
    return scans


def note_on(scans: int, read: int, pages: int, languages: str) -> str:
    """Return the note on a document with scanned pages, some of them read; "" if there are none."""
    if not scans:
        return ""
    which = f"{scans} of {pages} pages {'is a scan' if scans == 1 else 'are scans'}"
    return f"{which}, {_outcome(read, scans, languages) if languages else _NEEDS_TESSERACT}"


def _outcome(read: int, scans: int, languages: str) -> str:
    if not read:
        return _FAILS.format(languages)
    return f"read by Tesseract ({languages})" + (f", but for {scans - read}, where it failed" if read < scans else "")


def find_languages() -> str:
    """Return the languages to recognise, in Tesseract's notation; "" if it is not installed or turned off."""
    if shutil.which("tesseract") is None:
        return ""
    setting = os.environ.get(_LANGUAGES_VARIABLE)
    if setting is not None:
        return setting
    listing = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=False)  # noqa: S607
    return "+".join(name for name in listing.stdout.split("\n")[1:] if name and name != "osd")


def recognise_pages(document: Any, numbers: Iterable[int], languages: str) -> dict[int, list[str]]:
    """Return the paragraphs of scanned pages of a `pypdfium2.PdfDocument`, by number from 0.

    Pages that Tesseract cannot read are left out.
    """
    found = {}
    for number in numbers:
        with contextlib.suppress(Unreadable):
            found[number] = _paragraphs(_recognise(_picture(document, number), languages))
    return found


def pixel_rows(bitmap: Any) -> Iterator[bytes]:
    """Yield the rows of a `pypdfium2.PdfBitmap`, without the padding after each."""
    pixels, width = bytes(bitmap.buffer), bitmap.width * bitmap.n_channels
    return (pixels[at : at + width] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride))


def _picture(document: Any, number: int) -> bytes:
    page = document[number]
    scale = min(_RESOLUTION / _POINTS, _MAX_PIXELS / max(page.get_size()))
    bitmap = page.render(scale=scale, grayscale=True)
    image = b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(pixel_rows(bitmap))
    bitmap.close()
    page.close()
    return image


def _recognise(image: bytes, languages: str) -> str:
    command = ["tesseract", "stdin", "stdout", "-l", languages]
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    try:
        result = subprocess.run(command, input=image, capture_output=True, env=environment, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unreadable(f"a picture, {_FAILS.format(languages)}", unknown=True) from error
    finally:
        progress()
    return result.stdout.decode("utf-8", "replace")


def _paragraphs(text: str) -> list[str]:
    parts = re.split(r"\n\s*\n", text.replace("\f", "\n\n"))
    return [" ".join(_BROKEN_WORD.sub("", part).split()) for part in parts if part.strip()]
