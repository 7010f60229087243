"""Archives that are bombs, state wrong sizes, are encrypted or declare entities; titles and slides."""

from __future__ import annotations

import copy
import io
import struct
import zipfile

import pytest

from corpus.errors import Unreadable
from corpus.formats import ARCHIVE, format_of
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.readers.office import detect
from corpus.readers.office.xml_tree import parse_xml
from corpus.readers.office.zip_archive import MAX_PART, Archive
from tests.corpus.readers.outcome import outcome
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.archives import MAIN, replace_part, unpack
from tests.corpus.readers.samples.files import FILES

ENTITIES = b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>'
REFUSED = "declares XML entities, which are not supported"
TOO_LARGE = "unpacked size exceeds the limit"
EACH_ARCHIVE = pytest.mark.parametrize("path", MAIN)


def test_every_archive_sample_lists_its_main_part() -> None:
    kinds = [(path, format_of(path)) for path in FILES]
    assert {path for path, kind in kinds if kind and kind.magic == ARCHIVE.magic} == set(MAIN)


@pytest.mark.parametrize(("stated", "title"), [("", "Oars"), ("Boats", "Boats")])
def test_a_paragraph_in_the_style_of_titles_is_the_title(stated: str, title: str, sandbox: Sandbox) -> None:
    """Even with first-level headings below it, unless the metadata of the file states a title."""
    styles = {"Oars": "Top", "Ash": "Ue1", "Of ash.": "", "Pine": "Ue1", "Of pine.": "", "Last": "Top"}
    body = "".join(archives.word_paragraph(text, style=style) for text, style in styles.items())
    assert parse("a.docx", archives.docx(body, title=stated), sandbox=sandbox).title == title


def test_paragraphs_in_a_list_style_are_list_items(sandbox: Sandbox) -> None:
    """Also in a style based on it, but not if the paragraph itself leaves the list."""
    properties = '<w:pPr><w:pStyle w:val="Dots"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>'
    body = "".join(archives.word_paragraph(f"{style} oars.", style=style) for style in ("Dots", "Dots2", "Other"))
    body += f"<w:p>{properties}<w:r><w:t>Ash.</w:t></w:r></w:p>"
    document = parse("a.docx", archives.docx(body), sandbox=sandbox)
    assert [block.kind.value for block in document.blocks] == ["item", "item", "paragraph", "paragraph"]


def test_raised_numbers_are_superscripts(sandbox: Sandbox) -> None:
    """In Word, slides and OpenDocument: 10⁶ is not 106; 2nd stays as it is."""
    parts = ("10", "−6", " on the 2", "nd", " day. H", "2", "O")
    run = '<w:r><w:rPr><w:vertAlign w:val="{}"/></w:rPr><w:t xml:space="preserve">{}</w:t></w:r>'
    alignments = ("baseline", "superscript", "baseline", "superscript", "baseline", "subscript", "baseline")
    word_runs = "".join(run.format(*run_parts) for run_parts in zip(alignments, parts, strict=True))
    word_runs += "<w:r><w:t> or 10</w:t></w:r><w:sup><w:r><w:t>6</w:t></w:r></w:sup>"
    run = '<a:r><a:rPr baseline="{}"/><a:t>{}</a:t></a:r>'
    baselines = ("0", "30000", "0", "30%", "0", "-25000", "0")
    slide_runs = "".join(run.format(*run_parts) for run_parts in zip(baselines, parts, strict=True))
    slides = archives.pptx([("Oars", [(0, "LINE")], "")])
    slide = unpack(slides)["ppt/slides/slide1.xml"].replace(b"<a:r><a:t>LINE</a:t></a:r>", slide_runs.encode())
    styles = "".join(
        f'<style name="{name}"><text-properties text-position="{position}"/></style>'
        for name, position in (("0", "0% 100%"), ("up", "super 58%"), ("up2", "33% 58%"), ("down", "sub 58%"))
    )
    run = '<text:span text:style-name="{}">{}</text:span>'
    style_names = ("0", "up", "0", "up2", "0", "down", "0")
    spans = "".join(run.format(*run_parts) for run_parts in zip(style_names, parts, strict=True))
    files = {
        "a.docx": archives.docx(f"<w:p>{word_runs}</w:p>"),
        "a.pptx": replace_part(slides, "ppt/slides/slide1.xml", slide),
        "a.odt": archives.open_document(f"{styles}<text:p>{spans}</text:p>"),
    }
    for path, data in files.items():
        assert "10⁻⁶ on the 2nd day. H2O" in parse(path, data, sandbox=sandbox).text, path
    assert "or 10⁶" in parse("a.docx", files["a.docx"], sandbox=sandbox).text


def test_tables_in_books_have_no_lines_to_cite() -> None:
    page = "<table><tr><td>Oars<td>2</tr><tr><td>Masts<td>1</tr></table>"
    document = detect.read("a.epub", archives.epub([page]))
    assert (document.text, document.file_lines) == ("Oars | 2\nMasts | 1", None)


def test_authors_of_books_are_read() -> None:
    """Each once, but no illustrators, translators and the like, in both versions of the format."""
    names = {"a": "Ida  Grün", "b": "Tom Ash", "c": "", "d": "Una Fir", "e": "Ida Grün", "f": "Leo Elm"}
    roles = {"b": 'o:role="aut"', "d": 'o:role="ill"'}
    creator = '<dc:creator xmlns:o="urn:opf" id="{}" {}>{}</dc:creator>'
    metadata = "".join(creator.format(key, roles.get(key, ""), name) for key, name in names.items())
    metadata += '<meta refines="#f" property="role">trl</meta><meta refines="#a" property="role">aut</meta>'
    document = detect.read("a.epub", archives.epub(["<h1>Oars</h1><p>Of ash.</p>"], title="Boats", metadata=metadata))
    assert document.metadata == (("author", "Ida Grün"), ("author", "Tom Ash"))
    assert document.text == "---\nauthor: Ida Grün\nauthor: Tom Ash\n---\n\nOars\n\nOf ash."
    assert (document.title, document.file_lines) == ("Boats", None)
    assert [block.kind.value for block in document.blocks] == ["data", "heading", "paragraph"]


def test_the_author_and_keywords_of_a_word_document_are_metadata() -> None:
    parts = unpack(archives.docx(archives.word_paragraph("Oars.")))
    assert detect.read("a.docx", archives.pack(parts)).metadata == ()
    core = archives.core_properties("Boats").replace(
        "</c:p>", "<dc:creator>Ida\n Grün</dc:creator><c:keywords>oars, ash</c:keywords></c:p>"
    )
    document = detect.read("a.docx", archives.pack(parts | {"docProps/core.xml": core}))
    assert document.metadata == (("author", "Ida Grün"), ("keywords", "oars, ash"))
    assert (document.title, document.text) == ("Boats", "Oars.")


def test_notes_and_chapter_headings_of_books_are_read() -> None:
    """A book has nothing beside its main content."""
    page = '<header><h1>Oars</h1></header><article><p>Of ash.</p></article><aside epub:type="footnote">Or pine.</aside>'
    assert detect.read("a.epub", archives.epub([page])).text == "Oars\n\nOf ash.\n\nOr pine."


def test_struck_out_text_of_a_word_document_is_read_only_on_its_own() -> None:
    """A struck-out task is done; a struck-out price no longer holds. Hidden text is never read."""
    run = "<w:r><w:rPr><w:{}/></w:rPr><w:t xml:space='preserve'>{}</w:t></w:r>"
    paragraphs = (
        (("b", "Oars cost "), ("strike", "12 "), ("dstrike", "13 "), ('strike w:val="0"', "14 euros.")),
        (("b", "• "), ("strike", "Buy tar.")),
        (("vanish", "Draft."),),
    )
    body = "".join(f"<w:p>{''.join(run.format(*part) for part in parts)}</w:p>" for parts in paragraphs)
    assert detect.read("a.docx", archives.docx(body)).text == "Oars cost 14 euros.\n\n• Buy tar."


def test_a_cell_of_a_word_document_is_repeated_in_each_row_that_it_spans() -> None:
    """Below cells that span columns, too; but not a long text, nor in a blank row."""
    begin, go_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    long_text = "Varnish. " * 20
    rows = (
        ((begin, "Ash"), ('<w:gridSpan w:val="2"/>', "Oars"), (begin, "Two"), (begin, long_text)),
        ((go_on, ""), ("", "Blades"), ("", "Grips"), ('<w:vMerge w:val="continue"/>', ""), (go_on, "")),
        (("", "Fir"), ("", "Masts"), ("", "Yards"), (go_on, ""), (begin, "")),
        (('<w:vMerge w:val="restart"/>', ""), ("", "Keels"), ("", "Ribs"), ("", "Three"), (go_on, "")),
    )
    cell = "<w:tc><w:tcPr>{}</w:tcPr><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    body = "".join(f"<w:tr>{''.join(cell.format(*part) for part in row)}</w:tr>" for row in rows)
    body += f'<w:tr><w:trPr><w:gridBefore w:val="3"/></w:trPr>{cell.format(go_on, "")}{cell.format("", "Oak")}</w:tr>'
    body += f"<w:tr>{cell.format('', '') * 3}{cell.format(go_on, '')}</w:tr>"
    document = detect.read("a.docx", archives.docx(f"<w:tbl>{body}</w:tbl>"))
    assert document.text.splitlines() == [
        f"Ash | Oars | Two | {long_text.strip()}",
        "Ash | Blades | Grips | Two",
        "Fir | Masts | Yards | Two",
        "– | Keels | Ribs | Three",
        "Three | Oak",
    ]


def test_text_boxes_of_a_word_document_follow_their_paragraph() -> None:
    """In a cell or a note, they stay there; a box in another, hidden text and the form for old programs, too."""
    hidden = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Draft.</w:t></w:r></w:p>"
    box = "<w:r><w:AlternateContent><w:Choice><w:txbxContent>{}</w:txbxContent></w:Choice></w:AlternateContent></w:r>"
    old = (
        "<w:Fallback><w:pict><w:txbxContent><w:p><w:r><w:t>Tar.</w:t></w:r></w:p></w:txbxContent></w:pict></w:Fallback>"
    )
    inner = box.format(archives.word_paragraph("Varnish."))
    content = archives.word_paragraph("Paint.").replace("</w:p>", f"{inner}</w:p>") + hidden
    content += archives.word_table(("Oars", "Ash"))
    boxes = box.format(content).replace("</w:Choice>", f"</w:Choice>{old}")
    note = "<w:footnoteReference w:id='1'/>"
    body = f"<w:p><w:r><w:t>Locked at 23:00</w:t></w:r>{boxes}<w:r><w:t> at night.</w:t>{note}</w:r></w:p>"
    paragraph = archives.word_paragraph("Mast").replace("</w:p>", f"{inner}</w:p>")
    body += archives.word_paragraph("Next.") + archives.word_table(("MAST", "Fir")).replace(
        archives.word_paragraph("MAST"), paragraph
    )
    notes = f"<w:footnote w:id='1'>{paragraph}</w:footnote>"
    document = detect.read("a.docx", archives.docx(body, notes=notes))
    assert document.text.split("\n\n") == [
        *("Locked at 23:00 at night.", "Mast\nVarnish.", "Paint.", "Varnish.", "Oars | Ash", "Next."),
        "Mast Varnish. | Fir",
    ]


def test_a_line_in_bold_is_directly_above_its_text() -> None:
    """Also below a blank paragraph, and by a style; a line that is partly in bold, or a sentence, is not."""
    strong, plain = '<w:rPr><w:rStyle w:val="Strong"/></w:rPr>', '<w:rPr><w:b w:val="0"/></w:rPr>'
    lines = (
        *(("<w:rPr><w:b/></w:rPr>", "Kitchen"), ("", ""), ("", "Gas is in the crate."), (strong, "Fishing")),
        *(("", "Trout may be kept."), (plain, "Rowing"), ("", "Oars are of ash."), (strong, "Never swim alone.")),
        *(("", "Nor at night."), (strong, "Boats")),
    )
    body = "".join(f"<w:p><w:r>{properties}<w:t>{text}</w:t></w:r></w:p>" for properties, text in lines)
    body += archives.word_paragraph("Of pine.", depth=0)
    body += "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Masts: </w:t></w:r><w:r><w:t>two of fir</w:t></w:r></w:p>"
    document = detect.read("a.docx", archives.docx(body + archives.word_paragraph("Of spruce.")))
    assert document.text.split("\n\n") == [
        *("Kitchen\nGas is in the crate.", "Fishing\nTrout may be kept.", "Rowing", "Oars are of ash."),
        *("Never swim alone.", "Nor at night.", "Boats", "- Of pine.", "Masts: two of fir", "Of spruce."),
    ]
    assert [document.text[block.start : block.end] for block in document.blocks[:2]] == [
        "Kitchen",
        "Gas is in the crate.",
    ]


def test_footnotes_and_endnotes_follow_their_paragraph() -> None:
    """They are not under a later heading."""
    note = f"<w:{{0}}note w:id='1'>{archives.word_paragraph('In the {0}note.')}</w:{{0}}note>"
    references = "<w:r><w:footnoteReference w:id='1'/></w:r><w:r><w:endnoteReference w:id='1'/></w:r>"
    body = archives.word_paragraph("Oars.").replace("</w:p>", f"{references}</w:p>")
    body += archives.word_paragraph("Tar", style="Ue1")
    parts = unpack(archives.docx(body, notes=note.format("foot"))) | {
        "word/endnotes.xml": f'<w:endnotes xmlns:w="urn:w">{note.format("end")}</w:endnotes>'.encode(),
        "word/_rels/document.xml.rels": archives.rels(
            ("footnotes", "footnotes.xml"), ("endnotes", "endnotes.xml")
        ).encode(),
    }
    assert detect.read("a.docx", archives.pack(parts)).text == "Oars.\n\nIn the footnote.\n\nIn the endnote.\n\nTar"


def test_numbered_headings_of_an_open_document_are_in_lists() -> None:
    item = "<text:list><text:list-item>{}</text:list-item></text:list>"
    body = item.format('<text:h text:outline-level="1">Oars</text:h>')
    body += item.format(item.format('<text:h text:outline-level="2">Costs</text:h>')) + item.format(
        "<text:p>Ash</text:p>"
    )
    document = detect.read("a.odt", archives.open_document(body))
    assert document.text == "Oars\n\nCosts\n\n- Ash"
    assert document.blocks[2].heading == ("Oars", "Costs")


def test_a_deleted_row_of_a_word_document_is_left_out() -> None:
    table = archives.word_table(("Boat", "Oars"), ("Ida", "2"), ("Eva", "4"))
    deleted = "<w:tr><w:trPr><w:del/></w:trPr>"
    table = deleted.join(table.rsplit("<w:tr>", 1))
    assert detect.read("a.docx", archives.docx(table)).text == "Boat | Oars\nIda | 2"


def test_spanned_and_repeated_cells_of_an_open_document_keep_columns_aligned() -> None:
    cells = [f"<table:table-cell{{}}><text:p>{text}</text:p></table:table-cell>" for text in ("A", "B", "C")]
    covered, repeated = "<table:covered-table-cell/>", ' table:number-columns-repeated="2"'
    rows = ("".join(cells).format("", "", ""), cells[0] + covered + cells[1], covered + cells[0].format(repeated))
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows).format("", "")
    document = detect.read("a.odt", archives.open_document(f"<table:table>{body}</table:table>"))
    assert document.text == "A | B | C\nA | | B\n– | A | A"


def test_times_in_a_workbook_have_no_date() -> None:
    times = {0: "00:00", 9.5 / 24: "09:30", 75 / 86400: "00:01:15", 45414: "2024-05-02", 45414.5: "2024-05-02 12:00:00"}
    rows: list[list[str | float]] = [["Boat", "Start"]]
    rows.extend(["Ida", time] for time in times)
    document = detect.read("a.xlsx", archives.xlsx({"Race": rows}, dates=frozenset([1])))
    assert [line.partition(": ")[2] for line in document.text.splitlines() if "Start" in line] == list(times.values())


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("[h]:mm", 1.604166667, "38:30"),
        ("[hh]:mm:ss", -77415 / 86400, "-21:30:15"),
        ("0%", 0.07, "7%"),
        ("0.0 %;[Red]-0.0 %", 0.125, "12.5%"),
        ("0 &quot;% of sales&quot;", 0.125, "0.125"),
    ],
)
def test_hours_and_percentages_in_a_workbook_are_as_displayed(code: str, value: float, shown: str) -> None:
    """A total of hours is no date."""
    rows: list[list[str | float]] = [["Name", "Total"], ["Ida", value]]
    document = detect.read("a.xlsx", archives.xlsx({"May": rows}, dates=frozenset([1]), code=code))
    assert document.text.endswith(f"Name: Ida\nTotal: {shown}")


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("#,##0.00 &quot;€&quot;", 11850.5, "11850.50 €"),
        ("#,##0.00&quot; €&quot;", 12, "12.00 €"),
        ("&quot;€&quot; #,##0.00", 2.5, "€ 2.50"),
        ("$#,##0", 2.5, "$2.5"),
        ("_-[$£-809]* #,##0.00_-;-[$£-809]* #,##0.00_-", -12.5, "-£ 12.50"),
        ("[$CHF] #,##0.00", -12.5, "-12.50 CHF"),
        ("[Red]0.00 [$kr-41D]", 4, "4.00 kr"),
        ("[&lt;1000]0 &quot;pcs&quot;", 4, "4"),
        ("[$-409]0.0", 4, "4"),
        ("0.## [$zł-415]", 2.125, "2.125 zł"),
    ],
)
def test_amounts_in_a_workbook_have_their_currency(code: str, value: float, shown: str) -> None:
    """A sign stays before the number, other currencies do not, as they would be between a minus and the number."""
    rows: list[list[str | float]] = [["Item", "Price"], ["Oars", value]]
    document = detect.read("a.xlsx", archives.xlsx({"May": rows}, dates=frozenset([1]), code=code))
    assert document.text.endswith(f"Item: Oars\nPrice: {shown}")


def test_comments_on_cells_are_in_their_rows() -> None:
    """Also on the names of columns; a thread replaces its summary for older programs."""
    rows: list[list[str | float]] = [["Item", "Price"], ["Oars", 4], ["Tar", 5]]
    comment = '<comment ref="{}"><text><r><t>{}</t></r></text></comment>'
    notes = "".join(comment.format(*it) for it in (("B1", "Net"), ("B2", "Your version\nis old"), ("A2", "Ann:\nash")))
    thread = "".join(f'<threadedComment ref="B2"><text>{text}</text></threadedComment>' for text in ("Why?", "Ask Bo"))
    parts = unpack(archives.xlsx({"May": rows})) | {
        "xl/worksheets/_rels/sheet1.xml.rels": archives.rels(
            ("threadedComment", "../threads.xml"), ("comments", "../comments.xml")
        ).encode(),
        "xl/comments.xml": f"<c>{notes}</c>".encode(),
        "xl/threads.xml": f"<c>{thread}</c>".encode(),
    }
    assert detect.read("a.xlsx", archives.pack(parts)).text == (
        "May\n\nComment: Net\n\nItem: Oars\nPrice: 4\nComment: Why?\nComment: Ask Bo\nComment: Ann: ash"
        "\n\nItem: Tar\nPrice: 5"
    )


def test_comments_in_a_word_document_follow_their_paragraph() -> None:
    body = archives.word_paragraph("Oars.").replace("</w:p>", "<w:r><w:commentReference w:id='1'/></w:r></w:p>")
    comment = f"<w:comment w:id='1'>{archives.word_paragraph('Of ash?')}</w:comment>"
    parts = unpack(archives.docx(body + archives.word_paragraph("Tar."))) | {
        "word/comments.xml": f'<w:comments xmlns:w="urn:w">{comment}</w:comments>'.encode(),
        "word/_rels/document.xml.rels": archives.rels(("comments", "comments.xml")).encode(),
    }
    assert detect.read("a.docx", archives.pack(parts)).text == "Oars.\n\nComment: Of ash?\n\nTar."


def test_what_is_left_out_of_a_workbook_is_reported() -> None:
    """Hidden sheets, and formulas whose results are not saved, but not those with an empty result."""
    rows: list[list[str | float]] = [["Item", "Price"], ["Oars", 4]]
    cells = '<c r="B3"><f>B2*2</f><v></v></c><c r="C3"><f>B2*3</f></c><c r="D3" t="str"><f>A9&amp;""</f><v></v></c>'
    data = archives.xlsx({"May": rows, "Keys": rows, "June": rows, "Codes": rows})
    parts = unpack(data)
    sheet, book = (parts[name].decode() for name in ("xl/worksheets/sheet1.xml", "xl/workbook.xml"))
    data = replace_part(data, "xl/worksheets/sheet1.xml", sheet.replace("</row></sh", f"{cells}</row></sh").encode())
    book = book.replace('name="Keys"', 'name="Keys" state="hidden"').replace(
        'name="Codes"', 'name="Codes" state="veryHidden"'
    )
    document = detect.read("a.xlsx", replace_part(data, "xl/workbook.xml", book.encode()))
    assert document.note == (
        'hidden sheets were left out: "Keys", "Codes"; 2 formulas were left out, as no results are saved; '
        "open and save the file in a spreadsheet program"
    )


def test_claimed_archive_size_is_not_trusted(sandbox: Sandbox) -> None:
    """The archive states ten bytes for a large part."""
    data = bytearray(archives.docx(" " * (2 * MAX_PART)))
    at = data.rindex(b"word/document.xml") - 46
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    assert outcome(sandbox, "liar.docx", bytes(data)) in (TOO_LARGE, "damaged: word/document.xml cannot be unpacked")


def test_parts_that_overlap_are_counted_each_time(sandbox: Sandbox) -> None:
    """Ninety chapters share the same compressed data."""
    names = [f"c{n}.xhtml" for n in range(90)]
    items = "".join(f'<item id="{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in names)
    spine = "".join(f'<itemref idref="{n}"/>' for n in names)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", '<c><rootfile full-path="b.opf"/></c>')
        archive.writestr("b.opf", f"<p><manifest>{items}</manifest><spine>{spine}</spine></p>")
        archive.writestr(names[0], b"<p>" + b"a " * (1024 * 1024) + b"</p>")
        for name in names[1:]:
            archive.filelist.append(copy.copy(archive.filelist[3]))
            archive.filelist[-1].filename = name
    assert outcome(sandbox, "overlap.epub", data.getvalue()) in (
        TOO_LARGE,
        "more than 8 Mi characters of text",
        "damaged: c1.xhtml cannot be unpacked",
    )


def test_the_total_size_of_all_parts_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part within its limit is refused if the archive would exceed the total limit."""
    monkeypatch.setattr("corpus.readers.office.zip_archive.MAX_ALL", 2000)
    archive = Archive(archives.pack(dict.fromkeys("abc", bytes(1000))))
    assert [len(archive.read_part(name)) for name in "ab"] == [1000, 1000]
    with pytest.raises(Unreadable, match=f"^{TOO_LARGE}$"):
        archive.read_part("c")


@EACH_ARCHIVE
def test_xml_entities_are_never_expanded_in_archives(path: str, sandbox: Sandbox) -> None:
    """A part that declares entities is refused when read; in chapters of books, which are HTML, they have no effect."""
    original = outcome(sandbox, path, FILES[path])
    texts = {}
    for name, content in unpack(FILES[path]).items():
        if content.startswith(b"<"):
            declared = ENTITIES + content.replace(b"</", b"&b;&c;</", 1)
            texts[name] = outcome(sandbox, path, replace_part(FILES[path], name, declared))
    assert set(texts.values()) <= {REFUSED, original} or path == "ferry.epub"
    assert not any("haha" in text for text in texts.values())
    assert texts[MAIN[path]] == REFUSED or path == "ferry.epub"
    assert REFUSED in texts.values()


def test_html_entities_need_no_declaration() -> None:
    assert parse_xml(b'<!DOCTYPE p PUBLIC "x" "y.dtd"><p>Andr&eacute;</p>').text == "André"


@EACH_ARCHIVE
def test_encrypted_archives_are_reported(path: str, sandbox: Sandbox) -> None:
    """A flag of each part or, in OpenDocument and EPUB, an entry in another part says so."""
    data = bytearray(FILES[path])
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + place] |= 1
            at = data.find(mark, at + 1)
    assert outcome(sandbox, path, bytes(data)) == "encrypted"
    entries = {
        "ice.odt": ("META-INF/manifest.xml", b"<m><file-entry><encryption-data/></file-entry></m>"),
        "ferry.epub": ("META-INF/encryption.xml", b'<e><CipherReference URI="OEBPS/text/chapter 1.xhtml"/></e>'),
    }
    if path in entries:
        assert outcome(sandbox, path, replace_part(FILES[path], *entries[path])) == "encrypted"


def test_a_long_part_name_is_shortened_in_the_reason(sandbox: Sandbox) -> None:
    container = f'<c><rootfile full-path="{"a" * 1_000_000}"/></c>'.encode()
    reason = outcome(sandbox, "ferry.epub", replace_part(FILES["ferry.epub"], "META-INF/container.xml", container))
    assert reason == f"damaged: {'a' * 100}… is missing"


def test_groups_charts_and_diagrams_on_a_slide_are_read() -> None:
    """A chart leaves out empty cells; the name of a group of categories is given at its first."""
    text = "<a:p><a:r><a:t>{}</a:t></a:r></a:p>"
    shape = f"<p:sp><p:txBody>{text}</p:txBody></p:sp>"
    frames = (
        '<p:graphicFrame><c:chart r:id="r1"/></p:graphicFrame><p:graphicFrame><d:relIds r:dm="r2"/></p:graphicFrame>'
    )
    slide = (
        f'<p:sld xmlns:p="urn:p" xmlns:c="urn:c" xmlns:d="urn:d" xmlns:a="urn:a" xmlns:r="urn:relationships">'
        f"<p:grpSp><p:grpSp>{shape.format('Grouped')}</p:grpSp></p:grpSp>{frames}</p:sld>"
    )
    series = (
        "<c:ser><c:tx><c:v>{}</c:v></c:tx><c:cat>"
        "<c:lvl><c:pt><c:v>East</c:v></c:pt><c:pt><c:v>West</c:v></c:pt><c:pt><c:v>Hills</c:v></c:pt></c:lvl>"
        '<c:lvl><c:pt idx="0"><c:v>Coast</c:v></c:pt></c:lvl></c:cat>'
        '<c:val><c:pt><c:v>{}</c:v></c:pt><c:pt idx="{}"><c:v>{}</c:v></c:pt></c:val></c:ser>'
    )
    chart = (
        f'<c:chartSpace xmlns:c="urn:c" xmlns:a="urn:a"><c:title>{text.format("Weather")}</c:title>'
        f"{series.format('Rain', 1.5, 1, 2)}{series.format('Snow', 3, 2, 4)}"
        f"<c:valAx><c:title>{text.format('In metres')}</c:title></c:valAx></c:chartSpace>"
    )
    points = "".join(f"<d:pt>{text.format(word)}</d:pt>" for word in ("Plan", "Row"))
    parts = unpack(archives.pptx([("Gauges", [], "")])) | {
        "ppt/slides/slide1.xml": slide.encode(),
        "ppt/slides/_rels/slide1.xml.rels": archives.rels(
            ("chart", "../charts/chart1.xml"), ("diagramData", "../diagrams/data1.xml")
        ).encode(),
        "ppt/charts/chart1.xml": chart.encode(),
        "ppt/diagrams/data1.xml": f'<d:dataModel xmlns:d="urn:d" xmlns:a="urn:a">{points}</d:dataModel>'.encode(),
    }
    deck = detect.read("a.pptx", archives.pack(parts))
    assert deck.text == (
        "Grouped\n\nWeather\n\nIn metres\n\n"
        "Coast East | Rain: 1.5 | Snow: 3\nWest | Rain: 2\nHills | | Snow: 4\n\n- Plan\n- Row"
    )
