"""Scans are read if Tesseract is installed, or else refused with a reason that names it."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pytest

from corpus.discovery.walk import walk
from corpus.errors import Unreadable
from corpus.loading.load import load
from corpus.readers.pdf.pdf import read
from corpus.readers.pdf.picture import draw
from tests.corpus.readers.samples.files import FILES

WHY = "no text found; probably a scan, which qa index --full reads once Tesseract is installed"
# Prints what it was asked and the size of the picture, then what it "sees": two pages in a TIFF. It has no `xyz`,
# crashes once on `crash`, and sees part of a sentence with `half`.
STAND_IN = """#!/bin/sh
if [ "$1" = --list-langs ]; then printf 'List of languages:\\ndeu\\neng\\nosd\\n'; exit; fi
if [ "$4" = xyz ] || { [ "$4" = crash ] && mkdir "$0.crashed"; }; then echo failed >&2; exit 1; fi
kind=$(head -c 2); size=$(wc -c)
if [ "$4" = half ]; then echo 'half of a sentence, and then the other'; exit; fi
if [ "$kind" = II ]; then printf 'Another page.\\n\\f'; fi
printf 'Words of %s, asked for\\nwith %s %s.\\n\\nThe her-\\nons.\\n\\f' "$size" "$3" "$4"
"""


def scan(*pages: int, scanned: Collection[int] | None = None) -> bytes:
    """Pages of a sample, as pictures unless only some are `scanned`."""
    source, made = pypdfium2.PdfDocument(FILES["paper.pdf"]), pypdfium2.PdfDocument.new()
    for number in pages:
        if scanned is not None and number not in scanned:
            made.import_pages(source, [number])
            continue
        width, height = source[number].get_size()
        image = pypdfium2.PdfImage.new(made)
        image.set_bitmap(source[number].render(scale=2))
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page = made.new_page(width, height)
        page.insert_obj(image)
        page.gen_content()
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def test_missing_tesseract_is_named_in_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, languages in ((str(tmp_path), "eng"), (os.environ["PATH"], "")):
        with monkeypatch.context() as patch:
            patch.setenv("PATH", path)
            patch.setenv("QA_OCR", languages)
            with pytest.raises(Unreadable) as caught:
                read("a.pdf", scan(0))
            assert (caught.value.reason, caught.value.unknown) == (WHY, False)


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the program."""
    (tmp_path / "tesseract").write_text(STAND_IN)
    (tmp_path / "tesseract").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.usefixtures("tesseract")
def test_tesseract_gets_each_page_and_the_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The languages are all that are installed, or those in QA_OCR; a sentence continues on the next page."""
    found = read("a.pdf", scan(0, 1))
    page = "Words of {}, asked for with -l deu+eng.\n\nThe herons."
    width, height = pypdfium2.PdfDocument(scan(0))[0].get_size()
    size = -(-width * 300 // 72) * -(-height * 300 // 72)
    assert int(found.text.split()[2].rstrip(",")) == pytest.approx(size, rel=0.01)
    shown = page.format(found.text.split()[2].rstrip(","))
    assert found.text == f"{shown}\n\n{shown}"
    assert (found.pages, found.note) == ((0, len(shown) + 2), "a scan, read by Tesseract (deu+eng)")
    monkeypatch.setenv("QA_OCR", "lat")
    assert "with -l lat." in read("a.pdf", scan(0)).text
    monkeypatch.setenv("QA_OCR", "half")
    assert read("a.pdf", scan(0, 1)).text == " ".join(["half of a sentence, and then the other"] * 2)


@pytest.mark.usefixtures("tesseract")
def test_only_the_pages_without_text_are_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognised text comes between the pages before and after it."""
    data = scan(0, 1, 2, scanned=[1])
    found = read("a.pdf", data)
    whole = read("a.pdf", FILES["paper.pdf"])
    first, second, third = (found.text[start:end] for start, end in pairwise([*found.pages, len(found.text)]))
    assert "ended in Words of" in first  # a sentence continues from the first page
    assert second.strip() == "The herons."
    assert third.strip() == whole.text[whole.pages[2] :].strip()
    assert found.note == "1 of 3 pages is a scan, read by Tesseract (deu+eng)"
    monkeypatch.setenv("QA_OCR", "")
    found = read("a.pdf", data)
    assert found.note == "1 of 3 pages is a scan, which qa index --full reads once Tesseract is installed"
    assert found.pages[1] == found.pages[2]


@pytest.mark.usefixtures("tesseract")
def test_pages_that_tesseract_fails_on_are_counted_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fails = "which Tesseract cannot read in xyz; QA_OCR takes languages that `tesseract --list-langs` lists"
    monkeypatch.setenv("QA_OCR", "xyz")
    found = read("a.pdf", scan(0, 1, 2, scanned=[1]))
    assert found.note == f"1 of 3 pages is a scan, {fails}"
    assert "The observers thank the ferryman" in found.text
    with pytest.raises(Unreadable) as caught:
        read("a.pdf", scan(0, 1))
    assert (caught.value.reason, caught.value.unknown) == (f"probably a scan, {fails}", True)


@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize(("scanned", "note"), [(None, "a scan"), ([0, 1], "2 of 3 pages are scans")])
def test_a_page_that_tesseract_crashes_on_is_counted(
    monkeypatch: pytest.MonkeyPatch, scanned: list[int] | None, note: str
) -> None:
    monkeypatch.setenv("QA_OCR", "crash")
    found = read("a.pdf", scan(0, 1, 2, scanned=scanned))
    assert found.note == f"{note}, read by Tesseract (crash), but for 1, where it failed"
    assert found.pages[:2] == (0, 0)
    assert found.text.startswith("Words of")


@pytest.mark.usefixtures("tesseract")
def test_pictures_are_read_only_if_enabled_in_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Photographs are not read by default, and neither is a file that only has the name of a picture."""
    (tmp_path / "page.png").write_bytes(draw(FILES["paper.pdf"], 1).png)
    (tmp_path / "text.png").write_text("Words")
    assert [skip.reason for skip in walk(tmp_path).skipped if "png" in skip.path] == ["format not supported"] * 2
    found = load(tmp_path, "page.png", formats=[".png=scan"])
    assert "asked for with -l deu+eng.\n\nThe herons." in found.text
    assert (found.media_type, found.pages, found.path) == ("image/png", (), "page.png")
    (tmp_path / "pages.tiff").write_bytes(b"II*\0" + bytes(9))
    found = load(tmp_path, "pages.tiff", formats=[".tiff=scan"])
    assert (found.media_type, found.pages) == ("image/tiff", (0, len("Another page.\n\n")))
    with pytest.raises(Unreadable, match="content does not match its name"):
        load(tmp_path, "text.png", formats=[".png=scan"])
    monkeypatch.setenv("QA_OCR", "")
    with pytest.raises(Unreadable, match="a picture, which qa index --full reads once Tesseract is installed"):
        load(tmp_path, "page.png", formats=[".png=scan"])


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_a_scan_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_OCR", "eng")
    assert "The observers thank the ferryman" in read("a.pdf", scan(2)).text
