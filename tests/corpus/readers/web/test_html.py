"""HTML is read as blocks of content, without navigation and hidden text."""

from __future__ import annotations

import pytest

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.readers.web.html import read
from corpus.text.lines import FileLines
from corpus.types import BlockKind


def blocks(page: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Kind, text and headings of each block."""
    document = read("a.html", page.encode())
    return [(block.kind.value, document.text[block.start : block.end], block.heading) for block in document.blocks]


def test_terms_are_headings_of_their_definitions() -> None:
    """Inner terms nest under outer terms; the terms of a list of parameters, as Sphinx writes it, are no headings."""
    page = (
        "<h1>Boats</h1><dl><dt id=row><code>row</code>(oars)<a href='#row' title='Permalink'>¶</a></dt><dd><p>Rows.</p>"
        "<dl class='field-list simple'><dt>Parameters<dd><p>oars – of ash</dl>"
        "<dl><dt>fast</dt><dd>With two.</dl></dd><dt>sink<dd>Sinks.</dl><p>Ahoy.</p>"
    )
    assert blocks(page) == [
        ("heading", "Boats", ("Boats",)),
        ("heading", "row(oars)", ("Boats", "row(oars)")),
        ("paragraph", "Rows.", ("Boats", "row(oars)")),
        ("paragraph", "Parameters", ("Boats", "row(oars)")),
        ("paragraph", "oars – of ash", ("Boats", "row(oars)")),
        ("heading", "fast", ("Boats", "row(oars)", "fast")),
        ("paragraph", "With two.", ("Boats", "row(oars)", "fast")),
        ("heading", "sink", ("Boats", "sink")),
        ("paragraph", "Sinks.", ("Boats", "sink")),
        ("paragraph", "Ahoy.", ("Boats",)),
    ]


def test_raised_numbers_are_superscripts() -> None:
    """10⁶ is not 106, and a footnote mark is not part of the text; raised letters stay as they are."""
    page = "<p>2 × 10<sup>6</sup> cells per kg.<sup><a href=#n>3,4</a></sup> Never on the 2<sup>nd</sup>.<sup>[1]</sup>"
    assert blocks(page) == [("paragraph", "2 × 10⁶ cells per kg.³,⁴ Never on the 2nd.[1]", ())]


def test_soft_hyphens_are_dropped() -> None:
    """The lines of the words around them stay right."""
    document = read("a.html", "<title>Un&shy;der</title><p>long&shy;tailed\nd\xadu\xadcks\nswim</p>".encode())
    assert (document.title, document.text) == ("Under", "longtailed ducks swim")
    numbers = FileLines(document)
    for word, line in {"long": 1, "ducks": 2, "swim": 3}.items():
        at = document.text.index(word)
        assert numbers.range_of(at, at + len(word)) == (line, line), word


@pytest.mark.parametrize("mark", ["¶", "§", "#", " ¶\n"])
def test_links_from_a_heading_to_itself_are_dropped(mark: str) -> None:
    assert blocks(f"<h2>Oars<a href='#oars'>{mark}</a></h2>") == [("heading", "Oars", ("Oars",))]
    assert blocks(f"<h2>Oars {mark.strip()}</h2>")[0][1] == f"Oars {mark.strip()}"


@pytest.mark.parametrize("tag", ["aside", "div class='admonition sidebar'", "div role=complementary"])
def test_asides_are_read_only_inside_the_main_content(tag: str) -> None:
    aside = f"<{tag}>Beside.</{tag.split(maxsplit=1)[0]}>"
    text = read("a.html", f"{aside}<div role='main'><p>Main.</p>{aside}</div>{aside}".encode()).text
    assert text == "Main.\n\nBeside."


@pytest.mark.parametrize(
    ("page", "text"),
    [
        # Read the Docs
        (
            "<nav class=wy-nav-side>Oars</nav><section class=wy-nav-content-wrap><nav class=wy-nav-top>Top</nav><div "
            "class=wy-nav-content><div role=main><p>Row.</p><ul class=nav><li>Next</ul></div></div><p>End.</section>",
            "Row.",
        ),
        # VitePress
        ("<div class='VPContent has-sidebar'><aside class=VPSidebar>Oars</aside><main><p>Row.</main></div>", "Row."),
        ("<div class='page no-sidebar'><p>Row.</div><div class=left-sidebar>Oars</div>", "Row."),
        ("<div class=menu><main><p>Row.</main><p>Oars</div><p>End.", "Row.\n\nEnd."),
        ("<div class=menu><div hidden><main>Soon.</main></div><main>Row.</main></div>", "Row."),
        ("<template><main>Soon.</main></template><p>Row.", "Row."),
        # The ids of sections come from their headings.
        ("<section id=menu><h2>Menu</h2><p>Soup, 5 €.</section><div id=menu>Home</div>", "Menu\n\nSoup, 5 €."),
        ("<div role=main><div class=section id=cookies><p>Bake.</div><div class=toc>Top</div></div>", "Bake."),
        (
            "<main><section class=menu><div class=menu-item>Soup</div></section></main><div class=menu>Home</div>",
            "Soup",
        ),
        (
            "<main><table class=share><tr><td>Heron<td>3 %</table><div class=share-buttons>Mail</div></main>",
            "Heron | 3 %",
        ),
        ("<div class=social-care>Care is free.</div><div class=social-icons>Mail</div>", "Care is free."),
    ],
)
def test_content_inside_what_is_named_like_navigation_is_read(page: str, text: str) -> None:
    """Unless it is hidden; what is beside the main content is still skipped."""
    assert read("a.html", page.encode()).text == text


def test_a_button_that_unfolds_a_part_is_its_heading() -> None:
    """Other buttons, even in headings, are not read."""
    page = (
        "<h2><button aria-expanded=false>How do I return an oar?</button></h2><div>Within 30 days."
        "<button>Print</button></div><h2>Costs <button>Copy link</button></h2><p>None.</p>"
    )
    assert blocks(page) == [
        ("heading", "How do I return an oar?", ("How do I return an oar?",)),
        ("paragraph", "Within 30 days.", ("How do I return an oar?",)),
        ("heading", "Costs", ("Costs",)),
        ("paragraph", "None.", ("Costs",)),
    ]


@pytest.mark.parametrize(
    "page",
    [
        "<div class=accordion><h3>Oars?</h3><div class='panel collapse' style='display:none'><p>Of ash.</div></div>",
        "<div class=faq-list><h3>Oars?</h3><div hidden>Of ash.</div></div>",
        "<h3>Oars?</h3><div class=ui-accordion-content style='display: none' aria-hidden=true>Of ash.</div>",
        "<h3><button aria-expanded=false aria-controls=a1>Oars?</button></h3><div id=a1 hidden>Of ash.</div>",
        "<button class=accordion>Oars?</button><div class=panel>Of ash.</div>",
        "<button aria-expanded=false aria-controls=a1>Oars?</button><div id=a1 hidden>Of ash.</div><button>Go</button>",
        "<ul><li><a role=tab href=#a1>Oars?</a></ul><div role=tabpanel id=a1 aria-hidden=true>Of ash.</div>",
        "<dl><dt><button>Oars?</button><dd class=answer hidden>Of ash.</dl>",
        "<details><summary>Oars?</summary><p hidden=until-found>Of ash.</details>",
    ],
)
def test_what_a_button_or_heading_unfolds_is_read(page: str) -> None:
    assert [text.removeprefix("- ") for _, text, _ in blocks(page)] == ["Oars?", "Of ash."]


@pytest.mark.parametrize(
    "page",
    [
        "<button aria-expanded=false aria-controls=mobileMenu>Menu</button><div id=mobileMenu hidden>Home</div>",
        "<a data-bs-target='#loginModal'></a><div class='modal collapse' id=loginModal style='display:none'>Name</div>",
        "<div class='cookie-panel accordion' hidden>Accept</div><div class=accordion><span hidden>-</span></div>",
        "<button aria-haspopup=true aria-expanded=false aria-controls=a1>More</button>",
        "<div class=panel hidden>Loading</div><div id=a1 hidden>Soon</div>",
        "<div class=accordion></div><div hidden>Soon</div>",
    ],
)
def test_other_hidden_text_is_not_read(page: str) -> None:
    """Menus, dialogs and notices, even if a button shows them."""
    assert blocks(page) == []


def test_hidden_text_is_not_read() -> None:
    page = (
        b"<p>Seen.</p><script>evil()</script><style>x{}</style><template>not yet</template><p hidden>one</p>"
        b"<div style='DISPLAY : none'><p>two</p></div><p aria-hidden=true>three</p><noscript>four</noscript>"
        b"<svg><title>five</title></svg><div class='site-nav'>six</div>"
    )
    document = read("a.html", page)
    assert (document.text, document.title) == ("Seen.", "")


def test_struck_out_text_is_read_only_on_its_own() -> None:
    """A struck-out task is done; a struck-out price no longer holds. Deleted text is never read."""
    page = (
        b"<p>Oars: <s>12\n</s>14 <del>or 13</del> euros.<ul><li>* <strike>Buy\ntar.</strike><li><s>Row.</s></ul>"
        b"<table><tr><td>Ash<td><s>8</s> 9<tr><td><s>Oak</s><td>7</table>"
    )
    document = read("a.html", page)
    assert document.text == "Oars: 14 euros.\n\n- Buy tar.\n- Row.\n\nAsh | 9\nOak | 7"
    numbers = FileLines(document)
    for word, line in {"Oars": 1, "14": 2, "Buy": 2, "tar": 3, "Row": 3}.items():
        at = document.text.index(word)
        assert numbers.range_of(at, at + 1) == (line, line), word


@pytest.mark.parametrize("broken", ["<![foo[ b", "&#xD800; b", "<a b='"])
def test_text_before_broken_markup_is_read(broken: str) -> None:
    assert read("a.html", f"<p>Seen.</p><p>{broken}".encode()).text.startswith("Seen.")


def test_code_keeps_its_lines() -> None:
    """Elements in code, even code within code, begin lines, too."""
    page = "<pre>\n  a\n<div>  b</div><div>  c</div><pre>d</pre>e</pre><p>f</p>"
    assert blocks(page) == [("code", "a\n  b\n  c\nd\ne", ()), ("paragraph", "f", ())]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "<ol><li>a<li><p>b</p><p>c</p><ul><li>d</ul>e<li value=7>f<li>g</ol>",
            "1. a\n2. b\n  c\n  - d\n  e\n7. f\n8. g",
        ),
        ("<ol start=3 type=I><li>a<li type=a>b</ol>", "III) a\nd) b"),
        ("<ol style='list-style-type: lower-latin'><li value=26>a<li>b<li value=0>c</ol>", "z) a\naa) b\n0. c"),
        ("<ol reversed><li>a<ol><li>b<li>c</ol><li>d</ol>e", "2. a\n  1. b\n  2. c\n1. d\n\ne"),
        ("<ol reversed start=2><li>a<li>b<li>c</ol>", "2. a\n1. b\n0. c"),
        (
            "<ol style='list-style: none'><li>a</ol><ol><li style='list-style: none inside'>b<li>c</ol>",
            "- a\n- b\n2. c",
        ),
        ("<ol><li><div>a</div><li><h2>b</h2><p>c<li><table><tr><td>d<td>e</table></ol>", "1. a\n\nb\n\n2. c\n\nd | e"),
        ("<table><tr><td><ol><li>a<li>b</ol><td>c<tr><td>d<td><ul><li>e<li>f</ul></table>", "1. a 2. b | c\nd | e f"),
    ],
)
def test_items_have_the_numbers_that_browsers_show(page: str, text: str) -> None:
    """Letters have a bracket; further paragraphs of a numbered item are indented."""
    assert read("a.html", page.encode()).text == text


def test_numbers_of_items_are_in_no_line_of_the_file() -> None:
    document = read("a.html", b"<ol start=100>\n<li>Row\nto the\nlock.\n<li>Wait.</ol>")
    numbers = FileLines(document)
    for word, line in {"Row": 2, "to": 3, "lock": 4, "101.": 5, "Wait": 5}.items():
        at = document.text.index(word)
        assert numbers.range_of(at, at + 1) == (line, line), word


_LAYOUT = """<table role=presentation><tr><td width=150><a href=a>Home</a><br><a href=b>Rates</a></td><td>
<table><tr><td><a name=rates></a><h1>Club rates</h1><p>Founded in 1974.</p><p>212 members.</p>
<table><caption>Fees</caption>
<tr><th>Group<th>Fee</tr>
<tr><td><div>Adult</div><div>(from 18)</div><td>140</tr></table>
<ul><li>Bring your oar.</ul><pre>a
 b</pre></table></table>"""


def test_the_cells_of_a_table_around_tables_are_blocks() -> None:
    """As in most mail; only the innermost table is one of data."""
    at = ("Club rates",)
    assert blocks(_LAYOUT) == [
        ("paragraph", "Home\nRates", ()),
        ("heading", "Club rates", at),
        ("paragraph", "Founded in 1974.", at),
        ("paragraph", "212 members.", at),
        ("paragraph", "Fees", at),
        ("table", "Group | Fee\nAdult (from 18) | 140", at),
        ("item", "- Bring your oar.", at),
        ("code", "a\n b", at),
    ]
    document = read("a.html", _LAYOUT.encode())
    assert [document.text[at:].split("\n")[0] for at, _ in document.anchors] == ["Club rates"]
    numbers = FileLines(document)
    for word, line in {"Home": 1, "Club": 2, "212": 2, "Fees": 3, "Group": 4, "Adult": 5, "Bring": 6, "b": 7}.items():
        at_word = document.text.rindex(word)
        assert numbers.range_of(at_word, at_word + 1) == (line, line), word


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ("<tr><td>a<table><tr><td>b<td>c</table><td>d", ["a", "b | c", "d"]),
        ("<tr><td><table><tr><td>Soup</table><td><table><tr><td>4.80</table>", ["Soup | 4.80"]),
        ("<tr><td><h2>Oars</h2><p>Of ash.<td><h2>Sails</h2><p>Of flax.", ["Oars", "Of ash.", "Sails", "Of flax."]),
        # Rows of data, as in a receipt, beside others.
        (
            "<tr><td>Order<td>R-9<tr><td>Date<td>May 3<tr><td colspan=2><h2>Items</h2>",
            ["Order | R-9\nDate | May 3", "Items"],
        ),
        ("<tr><td>&nbsp;<td>Dear Kim,<td>", ["Dear Kim,"]),
        # Data may have several blocks in a cell, unless it is said to be none.
        ("<tr><td>Ida<td><p>oak<p>ash<tr><td>Tom<td><ul><li>fir</ul>", ["Ida | oak ash\nTom | fir"]),
        (
            "<tr><th>Name<th>Oars<tr><td>Ida<td><table><tr><td>oak<td>2<tr><td>ash<td>1</table>",
            ["Name | Oars\nIda | oak 2 ash 1"],
        ),
        ("<tr><th><h3>Name</h3><th><h3>Oars</h3><tr><td>Ida<td>2", ["Name | Oars\nIda | 2"]),
        # Text outside cells, as in a template, is not shown in a table.
        ("{% for oar in oars %}<tr>{% if oar %}<td>Ida<td>2</td>{% endif %}</tr>", ["Ida | 2"]),
        # A cell that is not closed inside a list.
        ("<tr><td><ul><li>Ida<td>2</ul>", ["Ida | 2"]),
    ],
)
def test_cells_are_blocks_only_where_a_table_lays_out_the_page(rows: str, texts: list[str]) -> None:
    assert [text for _, text, _ in blocks(f"<table>{rows}</table>")] == texts


def test_a_presentational_table_with_several_blocks_in_a_cell_is_layout() -> None:
    rows = "<tr><td>Ida<td><p>oak<p>ash<tr><td>Tom<td><p>fir"
    assert [text for _, text, _ in blocks(f"<table role=presentation>{rows}</table>")] == [
        "Ida",
        "oak",
        "ash",
        "Tom | fir",
    ]


def test_empty_cells_keep_columns_aligned() -> None:
    page = "<table><tr><th></th><th>Meat</th><th>Vegan</th></tr><tr><th>Monday</th><td></td><td>Curry</td></tr></table>"
    assert read("a.html", page.encode()).text == "– | Meat | Vegan\nMonday | | Curry"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><td rowspan=2>Ida<td>1990<td>4<tr><td>1995<td>6", "Ida | 1990 | 4\nIda | 1995 | 6"),
        ("<tr><td>Ida<td rowspan=3>oak<td>4<tr><td>Eva<td>6<tr><td>Tom", "Ida | oak | 4\nEva | oak | 6\nTom | oak"),
        (
            "<tr><th rowspan=2>Year<th colspan=2>Oars<th>Price<tr><th>Ash<th>Pine<tr><td>1990<td>4<td>6<td>2",
            "Year | Oars Ash | Oars Pine | Price\n1990 | 4 | 6 | 2",
        ),
        (
            "<tr><th colspan=3>Fees<tr><th><th colspan=2>Day<tr><th><th>Adult<th>Child<tr><th>A<td>5<td>3",
            "Fees\n– | Day Adult | Day Child\nA | 5 | 3",
        ),
        (
            "<tr><th>Day<th>Noon<th>Night<tr><td>Monday<td colspan=2>closed",
            "Day | Noon | Night\nMonday | closed | closed",
        ),
        (
            "<tr><td rowspan=2>Zone<td>5<td>9<tr><td colspan=2>6<tr><td colspan=2>Sum<td>15",
            "Zone | 5 | 9\nZone | 6 | 6\nSum | | 15",
        ),
        ("<tr><td colspan=2 rowspan=2>Ida<td>4<tr><td>6", "Ida | | 4\nIda | | 6"),
        # An empty row is still one that a cell spans.
        ("<tr><td rowspan=2>Ida<td rowspan=2>4<tr></tr><tr><td>Eva<td>6", "Ida | 4\nEva | 6"),
        ("<tr><td rowspan=1000000>Ida<td colspan=99999999999>4<tr><td>6", "Ida | 4\nIda | 6"),
        ("<tr><td rowspan=x>Ida<td colspan=-1>4<tr><td>Eva<td>6", "Ida | 4\nEva | 6"),
        # Long texts are not repeated.
        (f"<tr><td rowspan=2>{'oar' * 40}<td>4<tr><td>6", f"{'oar' * 40} | 4\n– | 6"),
    ],
)
def test_cells_that_span_rows_or_columns_keep_columns_aligned(rows: str, text: str) -> None:
    assert read("a.html", f"<table>{rows}</table>".encode()).text == text


def test_absurd_spans_hardly_lengthen_a_table() -> None:
    rows = "<tr><td colspan=1000 rowspan=1000>Ida<td>4" * 2000
    assert len(read("a.html", f"<table>{rows}</table>".encode()).text) < 4 * len(rows)


def test_a_row_has_its_own_line_even_below_a_cell_that_spans_rows() -> None:
    page = "<table>\n<tr><td rowspan=2>Ida</td>\n<td>1990</td></tr>\n<tr>\n<td>1995</td></tr></table>"
    document = read("a.html", page.encode())
    assert (document.text, document.file_lines) == ("Ida | 1990\nIda | 1995", ((0, 2), (11, 5)))


def test_text_at_any_depth_is_read() -> None:
    assert read("a.html", b"<div>" * 200_000 + b"The otter sleeps.").text == "The otter sleeps."


def test_the_nesting_of_headings_is_limited() -> None:
    """Otherwise the path of each heading could be as long as the page."""
    assert {len(heading) for _, _, heading in blocks("<dl><dt>a<dd>b" * 100)} == {1, 2, 3, 4, 5}


def test_too_much_text_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"^more than 8 Mi characters of text$"):
        read("a.html", b"<p>" + b"a" * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("<meta charset=latin1><p>Übigau".encode(), "Übigau", ""),
        ("<meta charset=cp1250><p>Łódź".encode("cp1250"), "Łódź", "read as cp1250"),
        ("<meta charset=iso-8859-1><p>Übigau – 5 €".encode("cp1252"), "Übigau – 5 €", "read as windows-1252"),
        # Windows-1252 does not have every byte.
        ("<meta charset=latin1><p>Übigau \x9d".encode("latin-1"), "Übigau \x9d", "read as latin1"),
        ("<meta charset=none><p>Übigau über".encode("cp1252"), "Übigau über", "read as windows-1252"),
    ],
)
def test_the_first_encoding_that_decodes_a_page_is_used(data: bytes, text: str, note: str) -> None:
    """UTF-8 is tried first, then the declared encoding, then a guess."""
    document = read("a.html", data)
    assert (document.text, document.note) == (text, note)


PAGE = """<!doctype html>
<html><head><title>Widgets &mdash; Python 3.13 documentation</title></head>
<body>
<!-- two
lines -->
<section id="widgets">
<h1>Widgets<a class="headerlink" href="#widgets">¶</a></h1>
<p>First it
goes on <b>bold</b>
and ends <a name="inside"></a>here.</p>
<p>Second.
<dl><dt id="row">row(<em>oars</em>)</dt>
<dd>Rows.</dd></dl>
<table><tr><td>a</td>
<td>b</td></tr>

<tr><td>c</td></tr></table>
</section></body></html>
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_text_has_its_file_line_and_the_nearest_anchor(newline: str) -> None:
    document = read("a.html", PAGE.replace("\n", newline).encode())
    assert document.file_lines is not None
    starts = [start for start, _ in document.file_lines]
    texts = [document.text[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    assert list(zip((line for _, line in document.file_lines), texts, strict=True)) == [
        (7, "Widgets"),
        (8, "First it"),
        (9, "goes on bold"),
        (10, "and ends here."),
        (11, "Second."),
        (12, "row(oars)"),
        (13, "Rows."),
        (14, "a | b"),
        (17, "c"),
    ]
    assert [(name, document.text[at:].split()[0]) for at, name in document.anchors] == [
        ("widgets", "Widgets"),
        ("inside", "Second."),
        ("row", "row(oars)"),
    ]


def test_metadata_of_a_page_is_read_with_its_lines() -> None:
    """Each field is read once, whichever standard names it; fields for machines are skipped."""
    html = """<html><head><meta charset="utf-8"><title>Kilns</title>
<meta name="viewport" content="width=device-width"><meta name="Author" content="Ida  Grün">
<meta property="article:published_time" content="2021-03-04T10:00:00+01:00">
<meta name="citation_author" content="Tom Ash"><meta name="dc.creator" content="Tom Ash">
<meta property="article:author" content="https://example.org/ida"><meta name="date" content="">
</head><body><h1>Kilns</h1><p>They are hot.</body></html>"""
    page = read("a.html", html.encode())
    assert page.metadata == (("author", "Ida Grün"), ("published", "2021-03-04"), ("author", "Tom Ash"))
    assert page.text == "---\nauthor: Ida Grün\npublished: 2021-03-04\nauthor: Tom Ash\n---\n\nKilns\n\nThey are hot."
    assert page.title == "Kilns"
    assert page.blocks[0].kind is BlockKind.DATA
    assert page.file_lines is not None
    assert [(page.text[at:].split()[1], line) for at, line in page.file_lines[:3]] == [
        ("author:", 2), ("2021-03-04", 3), ("Tom", 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Widgets — Python 3.13 documentation", "Widgets", "Widgets"),
        ("json — JSON encoder — Python 3.13 documentation", "json — JSON encoder", "json — JSON encoder"),
        ("json — JSON encoder — Python 3.13 documentation", "", "json — JSON encoder"),
        ("Site name | Boats", "Boats", "Boats"),
        ("Boats - Wikipedia", "", "Boats"),
        ("Boats - Oars", "Rowing", "Boats - Oars"),
        ("Flask Documentation (3.0.x)", "Welcome", "Flask Documentation (3.0.x)"),
    ],
)
def test_the_name_of_the_site_is_removed_from_a_title(title: str, heading: str, expected: str) -> None:
    assert read("a.html", f"<title>{title}</title><h1>{heading}</h1><p>Text.".encode()).title == expected
