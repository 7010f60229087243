"""Text of scanned pages by Tesseract, where its program is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from corpus.errors import Unreadable
from corpus.formats import PDF
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.types import Extracted

# Dots an inch: what Tesseract is trained on.
_RESOLUTION = 300
_POINTS = 72
# Of a page's longer side: larger ones are drawn smaller.
_MAX_DOTS = 6000
# Languages such as "deu+eng" in place of all that are installed; empty to turn it off.
_LANGUAGES = "QA_OCR"
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010]\n(?=[^\W\d_])")

# Called after each page, as many take longer than a file may.
progress: Callable[[], None] = lambda: None  # noqa: E731 - set by the process that reads files


def read_scans(document: Any) -> Extracted:
    """Read a `pypdfium2.PdfDocument` whose pages are pictures; without Tesseract, it is refused as `Unreadable`."""
    languages = find_languages()
    if not languages:
        raise Unreadable("no text found; probably a scan, which qa index --full reads once Tesseract is installed")
    builder = DocumentBuilder()
    found = False
    for number in range(len(document)):
        builder.page()
        page = document[number]
        for paragraph in _read_scan(page, languages):
            builder.block(paragraph)
            found = True
        page.close()
    if not found:
        raise Unreadable("no text found, not even by Tesseract")
    return builder.build(PDF.media_type, note=f"a scan, read by Tesseract ({languages})", title="")


def find_languages() -> str:
    """Return the languages to look for, as Tesseract wants them; "" where it is not installed or turned off."""
    asked = os.environ.get(_LANGUAGES)
    if asked is not None or shutil.which("tesseract") is None:
        return asked or ""
    done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=False)  # noqa: S607
    return "+".join(name for name in done.stdout.split("\n")[1:] if name and name != "osd")


def _read_scan(page: Any, languages: str) -> list[str]:
    """Return the paragraphs that Tesseract sees on a `pypdfium2.PdfPage`."""
    scale = min(_RESOLUTION / _POINTS, _MAX_DOTS / max(page.get_size()))
    bitmap = page.render(scale=scale, grayscale=True)
    rows = memoryview(bytes(bitmap.buffer))
    dots = b"".join(rows[at : at + bitmap.width] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride))
    image = b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + dots
    bitmap.close()
    command = ["tesseract", "stdin", "stdout", "-l", languages]
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    try:
        done = subprocess.run(command, input=image, capture_output=True, env=environment, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unreadable("probably a scan; Tesseract could not read it", unknown=True) from error
    progress()
    text = done.stdout.decode("utf-8", "replace").replace("\f", "\n\n")
    return [" ".join(_BROKEN_WORD.sub("", part).split()) for part in re.split(r"\n\s*\n", text) if part.strip()]
