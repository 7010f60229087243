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


def read_scans(document: Any, without_text: Sequence[int]) -> tuple[dict[int, list[str]], str]:
    """Return the paragraphs of scanned pages of a `pypdfium2.PdfDocument`, by number from 0, and a note on these pages.

    Args:
        document: The PDF.
        without_text: Pages without text; if all are, they are a scan, else those that are mostly a picture.

    Raises:
        Unreadable: All pages are without text, and Tesseract is missing or reads none.
    """
    pages = len(document)
    is_scan = len(without_text) == pages
    scans = without_text if is_scan else [number for number in without_text if _is_picture(document[number])]
    if not scans and not is_scan:
        return {}, ""
    languages = find_languages()
    if is_scan and not languages:
        raise Unreadable(f"no text found; probably a scan, {_NEEDS_TESSERACT}")
    found = dict(_recognised_pages(document, scans, languages)) if languages else {}
    if scans and is_scan and not found:
        raise Unreadable(f"probably a scan, {_FAILS.format(languages)}", unknown=True)
    failed = len(scans) - len(found)
    if is_scan and not any(found.values()):
        raise Unreadable("no text found, not even by Tesseract", unknown=failed > 0)
    what = "a scan" if is_scan else f"{len(scans)} of {pages} pages {'is a scan' if len(scans) == 1 else 'are scans'}"
    if not found:
        return found, f"{what}, {_FAILS.format(languages) if languages else _NEEDS_TESSERACT}"
    return found, f"{what}, read by Tesseract ({languages})" + (
        f", but for {failed}, where it failed" if failed else ""
    )


def _is_picture(page: Any) -> bool:
    width, height = page.get_size()
    boxes = [image.get_bounds() for image in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE])]
    return any((right - left) * (top - bottom) > _SCAN_SHARE * width * height for left, bottom, right, top in boxes)


def find_languages() -> str:
    """Return the languages to recognise, in Tesseract's notation; "" if it is not installed or turned off."""
    if shutil.which("tesseract") is None:
        return ""
    setting = os.environ.get(_LANGUAGES_VARIABLE)
    if setting is not None:
        return setting
    listing = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=False)  # noqa: S607
    return "+".join(name for name in listing.stdout.split("\n")[1:] if name and name != "osd")


def _recognised_pages(document: Any, numbers: Iterable[int], languages: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the paragraphs of each page that Tesseract can read."""
    for number in numbers:
        with contextlib.suppress(Unreadable):
            yield number, _paragraphs(_recognise(_picture(document, number), languages))


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
