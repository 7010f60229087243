"""Word documents: numbers of list items, text boxes, merged and deleted rows, authors."""

from __future__ import annotations

from corpus.readers.office import detect
from corpus.types import Extracted
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.archives import unpack

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def level(number: int, numerals: str, start: str = "1") -> str:
    return f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{numerals}"/></w:lvl>'


def defined(number: int, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{number}">{"".join(levels)}</w:abstractNum>'


def listed(number: int, definition: int, start: str = "") -> str:
    override = f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{start}"/></w:lvlOverride>' if start else ""
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{definition}"/>{override}</w:num>'


NUMBERING = "".join(
    (
        defined(7, level(0, "decimal"), level(1, "lowerLetter")),
        defined(8, level(0, "bullet")),
        defined(9, level(0, "upperRoman", "4")),
        *(listed(1, 7), listed(2, 7), listed(3, 7, "1"), listed(4, 8), listed(5, 9), listed(6, 99)),
    )
)


def item(text: str, number: int, depth: int = 0) -> str:
    properties = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def read(body: str, **parts: str) -> Extracted:
    files = unpack(archives.docx(body))
    names = ("styles", "footnotes", *parts)
    files["word/_rels/document.xml.rels"] = archives.rels(*((name, f"{name}.xml") for name in names)).encode()
    files |= {f"word/{name}.xml": content.encode() for name, content in parts.items()}
    return detect.read("a.docx", archives.pack(files))


def test_list_items_have_the_numbers_that_word_shows() -> None:
    """Lists of the same definition continue each other unless one starts again; inner lists start again."""
    items = [
        *(("Ash", 1), ("Bark", 1), ("Cone", 1, 1), ("Dew", 1, 1), ("Elm", 2), ("Fir", 2, 1)),
        *(("Gorse", 3), ("Hay", 3), ("Ivy", 4), ("Jet", 5), ("Kelp", 5), ("Lime", 6)),
    ]
    body = "".join(item(*it) for it in items)  # type: ignore[arg-type]
    text = read(body, numbering=f"<w:numbering {NAMESPACE}>{NUMBERING}</w:numbering>").text
    assert text.split() == (
        [
            "1.",
            "Ash",
            "2.",
            "Bark",
            "a)",
            "Cone",
            "b)",
            "Dew",
            "3.",
            "Elm",
            "a)",
            "Fir",
            "1.",
            "Gorse",
            "2.",
            "Hay",
            "-",
            "Ivy",
            "IV)",
            "Jet",
            "V)",
            "Kelp",
            "-",
            "Lime",
        ]
    )


def test_text_boxes_follow_their_paragraph() -> None:
    box = f"<w:r><w:txbxContent>{archives.word_paragraph('Spare key: box 14')}</w:txbxContent></w:r>"
    body = f"<w:p><w:r><w:t>Locked at</w:t></w:r>{box}<w:r><w:t> eleven.</w:t></w:r></w:p>"
    assert read(body).text == "Locked at eleven.\n\nSpare key: box 14"


def test_merged_cells_have_their_text_in_each_row_and_deleted_rows_none() -> None:
    cell = "<w:tc><w:tcPr>{}</w:tcPr>{}</w:tc>"
    rows = [
        [("<w:vMerge w:val='restart'/>", "First"), ("", "Heron")],
        [("<w:vMerge/>", ""), ("", "Tern")],
        [("", "Third"), ("", "Gull")],
    ]
    cells = ["".join(cell.format(it, archives.word_paragraph(text)) for it, text in row) for row in rows]
    body = (
        f"<w:tbl><w:tr>{cells[0]}</w:tr><w:tr>{cells[1]}</w:tr><w:tr><w:trPr><w:del/></w:trPr>{cells[2]}</w:tr></w:tbl>"
    )
    assert read(body).text == "First | Heron\nFirst | Tern"


def test_authors_are_read_but_not_the_names_of_programs() -> None:
    files = unpack(archives.docx(archives.word_paragraph("Oars.")))

    def authors(*names: str) -> tuple[tuple[str, str], ...]:
        creators = "".join(f"<dc:creator xmlns:dc='urn:d'>{name}</dc:creator>" for name in names)
        files["docProps/core.xml"] = f"<core>{creators}</core>".encode()
        return detect.read("a.docx", archives.pack(files)).metadata

    assert authors("Ida Grün", "Tom Ash") == (("author", "Ida Grün"), ("author", "Tom Ash"))
    assert authors("python-docx", "") == ()
