"""Word documents: merged cells, deleted rows and authors."""

from __future__ import annotations

from corpus.readers.office import detect
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.archives import unpack


def test_merged_cells_have_their_text_in_each_row_and_deleted_rows_none() -> None:
    cell = "<w:tc><w:tcPr>{}</w:tcPr>{}</w:tc>"
    rows = [
        [("<w:vMerge w:val='restart'/>", "First"), ("", "Heron")],
        [("<w:vMerge/>", ""), ("", "Tern")],
        [("", "Third"), ("", "Gull")],
    ]
    cells = ["".join(cell.format(it, archives.word_paragraph(text)) for it, text in row) for row in rows]
    written = "<w:tr>{}</w:tr><w:tr>{}</w:tr><w:tr><w:trPr><w:del/></w:trPr>{}</w:tr>".format(*cells)
    document = detect.read("a.docx", archives.docx(f"<w:tbl>{written}</w:tbl>"))
    assert document.text == "First | Heron\nFirst | Tern"


def test_authors_are_read_but_not_the_names_of_programs() -> None:
    files = unpack(archives.docx(archives.word_paragraph("Oars.")))

    def authors(*names: str) -> tuple[tuple[str, str], ...]:
        creators = "".join(f"<dc:creator xmlns:dc='urn:d'>{name}</dc:creator>" for name in names)
        files["docProps/core.xml"] = f"<core>{creators}</core>".encode()
        return detect.read("a.docx", archives.pack(files)).metadata

    assert authors("Ida Grün", "Tom Ash") == (("author", "Ida Grün"), ("author", "Tom Ash"))
    assert authors("python-docx", "") == ()
