"""Scans are read if Tesseract is installed, or else refused with a reason that names it."""

from __future__ import annotations

import ctypes
import io
import os
import shutil
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from corpus.discovery.walk import walk
from corpus.errors import Unreadable
from corpus.loading.load import load
from corpus.readers.pdf.pdf import read
from corpus.readers.pdf.picture import draw
from tests.corpus.readers.samples.files import FILES

REASON = "no text found; probably a scan, which qa index --full reads once Tesseract is installed"
# Prints the size of the picture and its arguments, as the text of two pages for a TIFF. It does not know `xyz`, crashes
# once on `crash`, and recognises half of a sentence with `half`.
FAKE_TESSERACT = """#!/bin/sh
if [ "$1" = --list-langs ]; then printf 'List of languages:\\ndeu\\neng\\nosd\\n'; exit; fi
if [ "$4" = xyz ] || { [ "$4" = crash ] && mkdir "$0.crashed"; }; then echo failed >&2; exit 1; fi
kind=$(head -c 2); size=$(wc -c)
if [ "$4" = half ]; then echo 'half of a sentence, and then the other'; exit; fi
if [ "$kind" = II ]; then printf 'Another page.\\n\\f'; fi
printf 'Words of %s, asked for\\nwith %s %s.\\n\\nThe her-\\nons.\\n\\f' "$size" "$3" "$4"
"""


def scan(*pages: int, scanned: Collection[int] | None = None, stamp: str = "") -> bytes:
    """Pages of a sample, as pictures, perhaps with a stamp, unless only some are `scanned`."""
    source, document = pypdfium2.PdfDocument(FILES["paper.pdf"]), pypdfium2.PdfDocument.new()
    for number in pages:
        if scanned is not None and number not in scanned:
            document.import_pages(source, [number])
            continue
        width, height = source[number].get_size()
        image = pypdfium2.PdfImage.new(document)
        image.set_bitmap(source[number].render(scale=2))
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page = document.new_page(width, height)
        page.insert_obj(image)
        if stamp:
            font = pdfium.FPDFText_LoadStandardFont(document.raw, b"Helvetica")
            text = pdfium.FPDFPageObj_CreateTextObj(document.raw, font, 10)
            pdfium.FPDFText_SetText(text, (ctypes.c_ushort * (len(stamp) + 1))(*map(ord, stamp), 0))
            pdfium.FPDFPageObj_Transform(text, 1, 0, 0, 1, 400, 30)
            pdfium.FPDFPage_InsertObject(page.raw, text)
        page.gen_content()
    data = io.BytesIO()
    document.save(data)
    return data.getvalue()


def test_the_reason_names_a_missing_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, languages in ((str(tmp_path), "eng"), (os.environ["PATH"], "")):
        with monkeypatch.context() as patch:
            patch.setenv("PATH", path)
            patch.setenv("QA_OCR", languages)
            with pytest.raises(Unreadable) as caught:
                read("a.pdf", scan(0))
            assert (caught.value.reason, caught.value.unknown) == (REASON, False)


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake Tesseract on the path."""
    (tmp_path / "tesseract").write_text(FAKE_TESSERACT)
    (tmp_path / "tesseract").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.usefixtures("tesseract")
def test_tesseract_gets_each_page_and_the_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The languages are those in QA_OCR, or else all installed ones; a sentence continues on the next page."""
    document = read("a.pdf", scan(0, 1))
    page = "Words of {}, asked for with -l deu+eng.\n\nThe herons."
    width, height = pypdfium2.PdfDocument(scan(0))[0].get_size()
    pixels = -(-width * 300 // 72) * -(-height * 300 // 72)
    assert int(document.text.split()[2].rstrip(",")) == pytest.approx(pixels, rel=0.01)
    page_text = page.format(document.text.split()[2].rstrip(","))
    assert document.text == f"{page_text}\n\n{page_text}"
    assert (document.pages, document.note) == ((0, len(page_text) + 2), "a scan, read by Tesseract (deu+eng)")
    monkeypatch.setenv("QA_OCR", "lat")
    assert "with -l lat." in read("a.pdf", scan(0)).text
    monkeypatch.setenv("QA_OCR", "half")
    assert read("a.pdf", scan(0, 1)).text == " ".join(["half of a sentence, and then the other"] * 2)


@pytest.mark.usefixtures("tesseract")
def test_pages_without_text_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognised text comes between the pages before and after it."""
    data = scan(0, 1, 2, scanned=[1])
    document = read("a.pdf", data)
    original = read("a.pdf", FILES["paper.pdf"])
    first, second, third = (document.text[start:end] for start, end in pairwise([*document.pages, len(document.text)]))
    assert "ended in Words of" in first  # a sentence continues from the first page
    assert second.strip() == "The herons."
    assert third.strip() == original.text[original.pages[2] :].strip()
    assert document.note == "1 of 3 pages is a scan, read by Tesseract (deu+eng)"
    monkeypatch.setenv("QA_OCR", "")
    document = read("a.pdf", data)
    assert document.note == "1 of 3 pages is a scan, which qa index --full reads once Tesseract is installed"
    assert document.pages[1] == document.pages[2]


@pytest.mark.usefixtures("tesseract")
def test_scans_with_a_stamp_are_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stamp is kept; without Tesseract, a note says that the rest is missing."""
    data = scan(0, 1, 2, stamp="ACME No. 000120")
    document = read("a.pdf", data)
    assert document.text.count("The herons.") == 3
    assert "ACME No. 000120" in document.text
    assert document.note == "3 of 3 pages are scans, read by Tesseract (deu+eng)"
    monkeypatch.setenv("QA_OCR", "")
    note = "3 of 3 pages are scans, which qa index --full reads once Tesseract is installed"
    assert read("a.pdf", data).note == note


@pytest.mark.usefixtures("tesseract")
def test_pages_that_tesseract_cannot_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = "which Tesseract cannot read in xyz; QA_OCR takes languages that `tesseract --list-langs` lists"
    monkeypatch.setenv("QA_OCR", "xyz")
    document = read("a.pdf", scan(0, 1, 2, scanned=[1]))
    assert document.note == f"1 of 3 pages is a scan, {failure}"
    assert "The observers thank the ferryman" in document.text
    with pytest.raises(Unreadable) as caught:
        read("a.pdf", scan(0, 1))
    assert (caught.value.reason, caught.value.unknown) == (f"probably a scan, {failure}", True)


@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize(("scanned", "note"), [(None, "a scan"), ([0, 1], "2 of 3 pages are scans")])
def test_pages_on_which_tesseract_crashes_are_counted(
    monkeypatch: pytest.MonkeyPatch, scanned: list[int] | None, note: str
) -> None:
    monkeypatch.setenv("QA_OCR", "crash")
    document = read("a.pdf", scan(0, 1, 2, scanned=scanned))
    assert document.note == f"{note}, read by Tesseract (crash), but for 1, where it failed"
    assert document.pages[:2] == (0, 0)
    assert document.text.startswith("Words of")


@pytest.mark.usefixtures("tesseract")
def test_pictures_are_read_only_if_enabled_in_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Photographs are not read by default, and text named like a picture is never read as one."""
    (tmp_path / "page.png").write_bytes(draw(FILES["paper.pdf"], 1).png)
    (tmp_path / "text.png").write_text("Words")
    assert [skip.reason for skip in walk(tmp_path).skipped if "png" in skip.path] == ["format not supported"] * 2
    document = load(tmp_path, "page.png", formats=[".png=scan"])
    assert "asked for with -l deu+eng.\n\nThe herons." in document.text
    assert (document.media_type, document.pages, document.path) == ("image/png", (), "page.png")
    (tmp_path / "pages.tiff").write_bytes(b"II*\0" + bytes(9))
    document = load(tmp_path, "pages.tiff", formats=[".tiff=scan"])
    assert (document.media_type, document.pages) == ("image/tiff", (0, len("Another page.\n\n")))
    with pytest.raises(Unreadable, match="content does not match its name"):
        load(tmp_path, "text.png", formats=[".png=scan"])
    monkeypatch.setenv("QA_OCR", "")
    with pytest.raises(Unreadable, match="a picture, which qa index --full reads once Tesseract is installed"):
        load(tmp_path, "page.png", formats=[".png=scan"])


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_a_scan_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_OCR", "eng")
    assert "The observers thank the ferryman" in read("a.pdf", scan(2)).text
