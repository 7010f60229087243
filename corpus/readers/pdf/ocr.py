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

# Dots per inch that Tesseract is trained for.
_RESOLUTION = 300
_POINTS = 72
# The most pixels of a page's longer side; larger pages are scaled down.
_MAX_PIXELS = 6000
# Languages such as "deu+eng", by default all that are installed; an empty value turns OCR off.
_LANGUAGES_VARIABLE = "QA_OCR"
_NEEDS_TESSERACT = "which qa index --full reads once Tesseract is installed"
_FAILS = "which Tesseract cannot read in {}; QA_OCR takes languages that `tesseract --list-langs` lists"
# A page is a scan if one picture fills more than this share of it.
_SCAN_SHARE = 0.4
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010]\n(?=[^\W\d_])")

# Called after each page: many together may take longer than the limit for a file.
progress: Callable[[], None] = lambda: None  # noqa: E731 - set by the process that reads files


def read(path: str, data: bytes) -> Extracted:
    """Read a picture of one or more pages; see `corpus.readers`."""
    languages = find_languages()
    if not languages:
        raise Unreadable(f"a picture, {_NEEDS_TESSERACT}")
    *pages, last = _run_tesseract(data, languages).split("\f")
    pages += [last] if last.strip() else []
    builder = DocumentBuilder()
    for page in pages:
        builder.page(len(pages) > 1)
        for paragraph in _split_paragraphs(page):
            builder.block(paragraph)
    if not "".join(pages).strip():
        raise Unreadable("no text found, not even by Tesseract")
    kind = "image/png" if data[:1] == b"\x89" else "image/jpeg" if data[:1] == b"\xff" else "image/tiff"
    return builder.build(kind, note=f"a picture, read by Tesseract ({languages})", title="")


def read_scans(document: Any, bare_pages: Sequence[int], *, is_scan: bool) -> tuple[dict[int, list[str]], str]:
    """Return the paragraphs of the scanned pages of a `pypdfium2.PdfDocument`, by page from 0, and a note on them.

    Args:
        document: The PDF.
        bare_pages: Pages with no more text than a stamp, which are scans if they are mostly a picture.
        is_scan: Whether no page has text, and so all are scans.

    Raises:
        Unreadable: No page has text, and Tesseract is missing or recognises none.
    """
    count = len(document)
    scans = bare_pages if is_scan else [number for number in bare_pages if _is_mostly_picture(document[number])]
    if not scans and not is_scan:
        return {}, ""
    languages = find_languages()
    if is_scan and not languages:
        raise Unreadable(f"no text found; probably a scan, {_NEEDS_TESSERACT}")
    paragraphs = dict(_recognise_pages(document, scans, languages)) if languages else {}
    if scans and is_scan and not paragraphs:
        raise Unreadable(f"probably a scan, {_FAILS.format(languages)}", unknown=True)
    failed = len(scans) - len(paragraphs)
    if is_scan and not any(paragraphs.values()):
        raise Unreadable("no text found, not even by Tesseract", unknown=failed > 0)
    kind = "a scan" if is_scan else f"{len(scans)} of {count} pages {'is a scan' if len(scans) == 1 else 'are scans'}"
    if not paragraphs:
        return paragraphs, f"{kind}, {_FAILS.format(languages) if languages else _NEEDS_TESSERACT}"
    return paragraphs, f"{kind}, read by Tesseract ({languages})" + (
        f", but for {failed}, where it failed" if failed else ""
    )


def _is_mostly_picture(page: Any) -> bool:
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


def _recognise_pages(document: Any, numbers: Iterable[int], languages: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the paragraphs of each page that Tesseract can read."""
    for number in numbers:
        with contextlib.suppress(Unreadable):
            yield number, _split_paragraphs(_run_tesseract(_render(document, number), languages))


def pixel_rows(bitmap: Any) -> Iterator[bytes]:
    """Yield the rows of a `pypdfium2.PdfBitmap`, without the padding after each."""
    pixels, width = bytes(bitmap.buffer), bitmap.width * bitmap.n_channels
    return (pixels[at : at + width] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride))


def _render(document: Any, number: int) -> bytes:
    page = document[number]
    scale = min(_RESOLUTION / _POINTS, _MAX_PIXELS / max(page.get_size()))
    bitmap = page.render(scale=scale, grayscale=True)
    image = b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(pixel_rows(bitmap))
    bitmap.close()
    page.close()
    return image


def _run_tesseract(image: bytes, languages: str) -> str:
    command = ["tesseract", "stdin", "stdout", "-l", languages]
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    try:
        result = subprocess.run(command, input=image, capture_output=True, env=environment, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unreadable(f"a picture, {_FAILS.format(languages)}", unknown=True) from error
    finally:
        progress()
    return result.stdout.decode("utf-8", "replace")


def _split_paragraphs(text: str) -> list[str]:
    parts = re.split(r"\n\s*\n", text.replace("\f", "\n\n"))
    return [" ".join(_BROKEN_WORD.sub("", part).split()) for part in parts if part.strip()]
