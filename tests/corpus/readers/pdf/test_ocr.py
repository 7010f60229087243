"""Scans: read where Tesseract is installed, else refused with a reason that names it."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pypdfium2
import pytest

from corpus.errors import Unreadable
from corpus.loading.sandbox import Sandbox
from tests.corpus.readers.samples.files import FILES

WHY = "no text found; probably a scan, which qa index --full reads once Tesseract is installed"
# Says what it was asked, then what it "sees", once it has got a picture of the right size.
STAND_IN = """#!/bin/sh
if [ "$1" = --list-langs ]; then printf 'List of languages:\\ndeu\\neng\\nosd\\n'; exit; fi
head -c 13 >/dev/null; size=$(wc -c)
printf 'Words of %s, asked for\\nwith %s %s.\\n\\nThe her-\\nons.\\n\\f' "$size" "$3" "$4"
"""


def scan(*pages: int) -> bytes:
    """Pages of a sample as pictures."""
    source, made = pypdfium2.PdfDocument(FILES["paper.pdf"]), pypdfium2.PdfDocument.new()
    for number in pages:
        width, height = source[number].get_size()
        image = pypdfium2.PdfImage.new(made)
        image.set_bitmap(source[number].render(scale=3))
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page = made.new_page(width, height)
        page.insert_obj(image)
        page.gen_content()
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def test_without_tesseract_the_reason_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in (("PATH", str(tmp_path)), ("QA_OCR", "")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            with Sandbox() as sandbox, pytest.raises(Unreadable) as caught:
                sandbox.read("scan.pdf", scan(0))
            assert (caught.value.reason, caught.value.unknown) == (WHY, False)


def test_tesseract_gets_each_page_and_the_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that are installed, or those that the user names; each page may take as long as a file."""
    (tmp_path / "tesseract").write_text(STAND_IN)
    (tmp_path / "tesseract").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with Sandbox() as sandbox:
        found = sandbox.read("scan.pdf", scan(0, 1))
    page = "Words of {}, asked for with -l deu+eng.\n\nThe herons."
    width, height = pypdfium2.PdfDocument(scan(0))[0].get_size()
    size = -(-width * 300 // 72) * -(-height * 300 // 72)
    assert int(found.text.split()[2].rstrip(",")) == pytest.approx(size, rel=0.01)
    shown = page.format(found.text.split()[2].rstrip(","))
    assert found.text == f"{shown}\n\n{shown}"
    assert (found.pages, found.note) == ((0, len(shown) + 2), "a scan, read by Tesseract (deu+eng)")
    monkeypatch.setenv("QA_OCR", "lat")
    with Sandbox() as sandbox:
        assert "with -l lat." in sandbox.read("scan.pdf", scan(0)).text


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_a_scan_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_OCR", "eng")
    with Sandbox() as sandbox:
        found = sandbox.read("scan.pdf", scan(2))
    assert "The observers thank the ferryman" in found.text
