"""Builders of documents that are archives of XML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

# The part of each sample that contains its text.
MAIN = {
    "swans.docx": "word/document.xml",
    "talk.pptx": "ppt/slides/slide1.xml",
    "boats.xlsx": "xl/worksheets/sheet1.xml",
    "ice.odt": "content.xml",
    "catch.ods": "content.xml",
    "moor.odp": "content.xml",
    "ferry.epub": "OEBPS/text/chapter 1.xhtml",
}


def pack(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive of these parts in order; the first part is not compressed."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, content) in enumerate(parts.items()):
            part = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            data = content.encode() if isinstance(content, str) else content
            archive.writestr(part, data, zipfile.ZIP_DEFLATED if number else zipfile.ZIP_STORED)
    return output.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def replace_part(data: bytes, part: str, content: bytes) -> bytes:
    """A copy of an archive with new content in one part."""
    return pack(unpack(data) | {part: content})


def rels(*targets: tuple[str, str]) -> str:
    """The part with the relationships of another part: kinds and targets, with the ids r1, r2 and so on."""
    rows = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE_RELATIONS}">{rows}</Relationships>'


def core_properties(title: str) -> str:
    """The part with the metadata of an Office file."""
    return (
        f'<c:p xmlns:c="urn:c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></c:p>'
    )


def docx(body: str, *, title: str = "", notes: str = "", numbering: str = "", more_styles: str = "") -> bytes:
    """A Word document; `body` is made of `word_paragraph` and `word_table`."""
    styles = (
        '<w:style w:styleId="Ue1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Ue2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Top"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="Ue2"/></w:style>'
        '<w:style w:styleId="Dots"><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Dots2"><w:name w:val="Dots 2"/><w:basedOn w:val="Dots"/></w:style>'
    )
    return pack(
        {
            "[Content_Types].xml": _TYPES,
            "_rels/.rels": rels(("officeDocument", "word/document.xml")),
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": rels(
                ("styles", "styles.xml"), ("footnotes", "footnotes.xml"), ("numbering", "numbering.xml")
            ),
            "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}{more_styles}</w:styles>',
            "word/numbering.xml": f'<w:numbering xmlns:w="{_WORD}">{numbering}</w:numbering>',
            "word/footnotes.xml": f'<w:footnotes xmlns:w="{_WORD}">{notes}</w:footnotes>',
            "docProps/core.xml": core_properties(title),
        }
    )


def word_paragraph(text: str, *, style: str = "", depth: int | None = None, list_id: str = "1") -> str:
    number = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>'
    properties = (f'<w:pStyle w:val="{style}"/>' if style else "") + (number if depth is not None else "")
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def word_numbering(definitions: dict[str, list[tuple[str, str, str]]], lists: dict[str, str]) -> str:
    """Definitions of lists, by id the format, text and further properties of each level, and each list's definition."""
    written = ""
    for key, levels in definitions.items():
        written += f'<w:abstractNum w:abstractNumId="{key}">'
        for depth, (kind, text, more) in enumerate(levels):
            written += f'<w:lvl w:ilvl="{depth}"><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'
        written += "</w:abstractNum>"
    for list_id, content in lists.items():
        written += f'<w:num w:numId="{list_id}">{content}</w:num>'
    return written


def word_table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{word_paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def pptx(slides: list[tuple[str, list[tuple[int, str]], str]], *, title: str = "") -> bytes:
    """Slides, each with a title, lines with their depth, and speaker's notes."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": rels(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{_SLIDES}" xmlns:r="{_RELATIONS}"><p:sldIdLst>'
        + "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(1, len(slides) + 1))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": rels(*(("slide", f"slides/slide{n + 1}.xml") for n in range(len(slides)))),
        "docProps/core.xml": core_properties(title),
    }
    for number, (heading, lines, notes) in enumerate(slides, 1):
        text = "".join(_line(line, f'<a:pPr lvl="{depth}"/>') for depth, line in lines)
        # The title may come last.
        shapes = _shape("", text, index=1) + _shape("sldNum", _line("7")) + _shape("title", _line(heading))
        parts[f"ppt/slides/slide{number}.xml"] = _slide(shapes, "sld")
        if notes:
            target = f"../notesSlides/notes{number}.xml"
            parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = rels(("notesSlide", target))
            parts[f"ppt/notesSlides/notes{number}.xml"] = _slide(_shape("body", _line(notes)), "notes")
    return pack(parts)


def _line(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{escape(text)}</a:t></a:r></a:p>"


def _slide(shapes: str, kind: str) -> str:
    return (
        f'<p:{kind} xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}"><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:{kind}>'
    )


def _shape(kind: str, text: str, *, index: int | None = None) -> str:
    attributes = (f' type="{kind}"' if kind else "") + (f' idx="{index}"' if index else "")
    return f"<p:sp><p:nvSpPr><p:nvPr><p:ph{attributes}/></p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"


def xlsx(
    sheets: dict[str, list[list[str | float]]],
    *,
    dates: frozenset[int] = frozenset(),
    code: str = "dd/mm/yyyy",
    merged: Sequence[str] = (),
) -> bytes:
    """Sheets of rows; numbers in the columns `dates` (from 0) are shown as dates, or as the number format `code`.

    The cells `merged`, such as "A1:B2", are merged in each sheet.
    """
    merged_cells = "".join(f'<mergeCell ref="{cells}"/>' for cells in merged)
    strings: list[str] = []
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": rels(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATIONS}"><sheets>'
        + "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": rels(
            *(("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)),
            ("sharedStrings", "sharedStrings.xml"),
            ("styles", "styles.xml"),
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{_SHEETS}"><numFmts><numFmt numFmtId="164" formatCode="{code}"/>'
        '</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
    }
    for number, rows in enumerate(sheets.values(), 1):
        lines = []
        for r, row in enumerate(rows, 1):
            cells = []
            for c, value in enumerate(row):
                reference = f"{chr(65 + c)}{r}"
                if isinstance(value, str):
                    strings.append(value)
                    cells.append(f'<c r="{reference}" t="s"><v>{len(strings) - 1}</v></c>' if value else "")
                else:
                    cells.append(f'<c r="{reference}" s="{int(c in dates)}"><v>{value}</v></c>')
            lines.append(f'<row r="{r}">{"".join(cells)}</row>')
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_SHEETS}"><sheetData>{"".join(lines)}</sheetData>'
            f"<mergeCells>{merged_cells}</mergeCells></worksheet>"
        )
    string_items = "".join(f"<si><t>{escape(text)}</t></si>" for text in strings)
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{_SHEETS}">{string_items}</sst>'
    return pack(parts)


def open_document(body: str, *, kind: str = "text", title: str = "") -> bytes:
    """An OpenDocument file; `body` is XML with the prefixes office, text, table, draw and presentation."""
    names = 'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:draw="urn:d" xmlns:presentation="urn:p"'
    return pack(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document {names}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
            "</office:document>",
            "meta.xml": core_properties(title),
        }
    )


def epub(chapters: list[str], *, title: str = "", metadata: str = "") -> bytes:
    """An electronic book of HTML chapters."""
    items = "".join(
        f'<item id="c{n}" href="text/chapter%20{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(1, len(chapters) + 1)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(1, len(chapters) + 1))
    return pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:c"><rootfiles><rootfile full-path="OEBPS/book.opf"/>'
            "</rootfiles></container>",
            "OEBPS/book.opf": f'<package xmlns="urn:p" xmlns:dc="urn:d"><metadata><dc:title>{escape(title)}</dc:title>'
            f"{metadata}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OEBPS/text/chapter {n}.xhtml": text for n, text in enumerate(chapters, 1)},
        }
    )
