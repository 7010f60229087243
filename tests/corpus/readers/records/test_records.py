"""Files with many records: each record counts as a document with its own title, and no passage has text of two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.chunking.splitter import encoder_text, split
from corpus.errors import Unreadable
from corpus.loading.load import parse
from corpus.readers.records.tables import to_records
from corpus.types import Document
from qa import Retriever, build_index
from tests.corpus.readers.samples import archives
from tests.documents import check_passages, count_words
from tests.encoders import BagEncoder
from tests.growth import check_growth

pytestmark = pytest.mark.usefixtures("shared_reader_process")


def test_each_record_is_found_by_its_title(tmp_path: Path) -> None:
    """It counts as a document and is cited by its place in the file."""
    rows = "Heron,Stands in shallow water.\nOtter,Sleeps in a burrow.\nSwan,Hisses at kayaks.\n"
    (tmp_path / "birds.csv").write_text(f"title,text\n{rows}", encoding="utf-8")
    encoder = BagEncoder()
    report = build_index(tmp_path, encoder=encoder)
    assert (report.added, report.documents, report.passages) == (1, 3, 3)
    with Retriever.open(tmp_path, encoder=encoder) as retriever:
        (hit,) = retriever.search("Where does the Otter sleep: in a burrow?", k=1)
    assert (hit.title, hit.heading[0], hit.citation) == ("Otter", "Otter", "birds.csv, row 3")
    assert "Sleeps in a burrow." in hit.text
    assert "Stands" not in hit.text


def titles(document: Document) -> list[str]:
    """Return the title of each passage."""
    return [passage.title for passage in check_passages(document, count_tokens=count_words, max_tokens=254)]


def lines(*values: object) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


LETTER = "From a Fri Nov 21 10:00:00 2025\nFrom: a@b.org\n{}\n{}\n\n"
WITHOUT_TITLES = {
    "a.mbox": (
        LETTER.format("", "Ahoy.") + LETTER.format("Subject: Oars\n", "Lost.") + LETTER.format("", "Bye.")
    ).encode(),
    "a.jsonl": lines({"text": "Ahoy."}, {"title": "Oars", "text": "Lost."}, {"text": "Bye."}),
    "a.json": lines([{"text": "Ahoy."}, {"name": "Oars", "text": "Lost."}, {"text": "Bye."}]),
    "a.csv": b"title,text\n,Ahoy.\nOars,Lost.\n,Bye.\n",
    "a.bib": b"@misc{,\nnote={Ahoy}}\n@misc{Oars,\nnote={Lost}}\n@misc{,\nnote={Bye}}\n",
}


@pytest.mark.parametrize("name", WITHOUT_TITLES)
def test_untitled_record_still_counts_as_a_record(name: str) -> None:
    """Its passages have no title, even after a record that has one."""
    document = parse(name, WITHOUT_TITLES[name])
    assert [record.title for record in document.records] == ["", "Oars", ""]
    assert titles(document) == ["", "Oars", ""]


ONE_DOCUMENT = {
    "an object": ("a.json", b'{"title": "Oars", "text": "Of ash."}'),
    "a list of numbers": ("a.json", b"[1, 2, 3]"),
    "values that are no objects": ("a.jsonl", lines("Oars", {"title": "Oars"})),
    "a table without titles": ("a.csv", b"river,km\nElbe,1094\nMulde,314\n"),
    "a table without names": ("a.tsv", b"1\t2\n3\t4\n"),
    "a workbook without titles": ("a.xlsx", archives.xlsx({"Rents": [["Street", "Rent"], ["Quay 7", 310]]})),
    "many short records": ("a.csv", b"name,km\n" + b"Elbe,1094\n" * 5001),
    "BibTeX without entries": ("a.bib", b"% nothing yet\n"),
}


@pytest.mark.parametrize("name", ONE_DOCUMENT)
def test_files_without_records_stay_one_document(name: str) -> None:
    assert parse(*ONE_DOCUMENT[name]).records == ()


def test_fields_about_all_records_belong_to_none_of_them() -> None:
    """They are before the first record, with the title of the file."""
    document = parse("a.json", lines({"title": "Boats", "year": 1998, "boats": [{"name": "Heron"}, {"name": "Otter"}]}))
    assert (document.title, titles(document)) == ("Boats", ["Boats", "Heron", "Otter"])
    assert [record.title for record in document.records] == ["Heron", "Otter"]


def test_only_text_is_the_title_of_a_file() -> None:
    """The title in several languages is not."""
    assert parse("a.json", lines({"title": {"de": "Boote"}, "name": "Boats", "oars": "4"})).title == "Boats"
    assert parse("a.json", lines({"name": {"de": "Boote"}, "oars": "4"})).title == ""


def test_lone_file_title_is_part_of_the_first_record() -> None:
    document = parse("a.json", lines({"title": "Boats", "boats": [{"name": "Heron", "oars": 2}, {"name": "Otter"}]}))
    assert (document.title, document.records[0].start, titles(document)) == ("Boats", 0, ["Heron", "Otter"])


def test_rows_of_a_workbook_with_titles_are_records() -> None:
    """The first row includes the name of its sheet; an empty sheet has no records; the sheet is cited."""
    sheets: dict[str, list[list[str | float]]] = {
        "Sloops": [["Name", "Oars"], ["Heron", 2], ["Otter", 4]],
        "None": [],
        "Punts": [["Title", "Oars"], ["Swan", 1]],
    }
    document = parse("boats.xlsx", archives.xlsx(sheets))
    passages = check_passages(document, count_tokens=count_words, max_tokens=254)
    assert [(passage.title, passage.heading, passage.page) for passage in passages] == [
        ("Heron", ("Sloops", "Heron (row 2)"), 1),
        ("Otter", ("Sloops", "Otter (row 3)"), 1),
        ("Swan", ("Punts", "Swan (row 2)"), 3),
    ]
    assert passages[2].text.startswith("Punts\n")


@pytest.mark.parametrize(("column", "contexts"), [("Title", ["Pay › 1", "Pay › 2"]), ("Year", ["Pay", "Pay"])])
def test_the_number_of_a_row_is_cited_but_not_read(column: str, contexts: list[str]) -> None:
    """Otherwise row 2 would answer a question about year 2."""
    document = parse("pay.xlsx", archives.xlsx({"Pay": [[column, "EUR"], ["1", 1140], ["2", 1210]]}))
    passages = split(document, count_tokens=count_words, max_tokens=254)
    assert [passage.context for passage in passages] == contexts
    assert [passage.heading[-1][-6:].strip(" ()").lower() for passage in passages] == ["row 2", "row 3"]


@pytest.mark.parametrize("name", ["plan.md", "plan.html"])
def test_a_heading_about_a_row_is_read_outside_of_workbooks(name: str) -> None:
    text = "# Plan\n\n## Row 7\n\nKale.\n" if name.endswith(".md") else "<h1>Plan</h1><h2>Row 7</h2><p>Kale.</p>"
    (passage,) = split(parse(name, text.encode()), count_tokens=count_words, max_tokens=254)
    assert passage.context == "Plan › Row 7"


def test_title_without_text_is_its_own_record() -> None:
    """It is not a heading of the next record."""
    text = LETTER.format("Subject: Oars\n", "").replace("From: a@b.org\n", "") + LETTER.format("Subject: Tar\n", "Hot.")
    document = parse("a.mbox", text.encode())
    passages = check_passages(document, count_tokens=count_words, max_tokens=254)
    assert [(it.title, it.text.partition("\n")[0]) for it in passages] == [("Oars", "Oars"), ("Tar", "Tar")]


def test_records_with_the_same_title_share_no_passage() -> None:
    data = b"".join(b"@misc{k,\ntitle = {Oars},\nnote = {%d}}\n" % number for number in range(3))
    assert titles(parse("a.bib", data)) == ["Oars"] * 3


def test_the_encoder_reads_a_title_once() -> None:
    texts = ("Of ash. " * 60).strip(), ("Of pine. " * 60).strip()
    document = parse("a.jsonl", lines({"title": "Oars", "text": texts[0]}, {"title": "Tar", "text": texts[1]}))
    passages = split(document, count_tokens=count_words, max_tokens=254)
    assert [encoder_text(passage) for passage in passages] == [f"Oars\ntext: {texts[0]}", f"Tar\ntext: {texts[1]}"]


def test_the_title_of_a_short_row_is_one_of_its_fields() -> None:
    """So "who works in logistics?" has an answer; a title without other fields is a heading."""
    document = parse("staff.csv", b"name,department,phone\nAda Reyes,Logistics,4212\nBo Lind,Sales,4213\nCy Dahl,,\n")
    passages = split(document, count_tokens=count_words, max_tokens=254)
    assert [(passage.title, passage.text) for passage in passages] == [
        ("Ada Reyes", "name: Ada Reyes\ndepartment: Logistics\nphone: 4212"),
        ("Bo Lind", "name: Bo Lind\ndepartment: Sales\nphone: 4213"),
        ("Cy Dahl", "Cy Dahl"),
    ]


def test_a_title_that_becomes_a_heading_leaves_a_column_of_the_same_name() -> None:
    document = parse("a.csv", f"Title,Title,Text\nOars,Ash oars,{'Row. ' * 100}\n".encode())
    assert document.text.startswith("Oars\n\nTitle: Ash oars\nText: Row.")


def test_a_table_of_very_many_rows_is_one_block() -> None:
    """Each row still has its number."""
    rows = "".join(f"{n},{n * n}\n" for n in range(2, 20_002))
    document = parse("squares.csv", f"root,square\n{rows}".encode())
    assert document.text.startswith("Row 2: root: 2; square: 4\nRow 3: root: 3; square: 9\n")
    assert (len(document.blocks), document.pages) == (1, ())


QUESTION = "How likely is it that you would recommend the boat club to a friend or to somebody at work?"
NAMED = {
    "years": ("Item,2022,2023\nRent,300,310\n", 2, "Item: Rent\n2022: 300\n2023: 310"),
    "a survey": (f"Time,Boat,{QUESTION}\nnoon,Heron,very\n", 2, f"Time: noon\nBoat: Heron\n{QUESTION}: very"),
    "a title": ("Boats 2024,,\nboat,oars,wood\nHeron,2,ash\n", 3, "boat: Heron\noars: 2\nwood: ash"),
    "a title above two columns": ("Boats 2024,\nboat,wood\nHeron,ash\n", 3, "boat: Heron\nwood: ash"),
    "an unnamed column": (",wood\n0,ash\n", 2, "0\nwood: ash"),
    "a blank first line": ("\nboat,wood\nHeron,ash\n", 3, "boat: Heron\nwood: ash"),
    "a line for Excel": ("sep=;\r\nboat;km\r\nHeron;7,5\r\n", 3, "boat: Heron\nkm: 7,5"),
    "commas in a cell": ('boat;note\nHeron;"red, old,\nlong, thin"\n', 2, "boat: Heron\nnote: red, old,\nlong, thin"),
    "no names above years": ("Heron,1984,1998\nOtter,1974,2019\n", 2, "Otter\n1974\n2019"),
    "no names above a price": ("Table,1950\nChair,320\n", 2, "Chair\n320"),
    "no names above dates": ("2024-05-01,Coop,-45.20\n2024-05-02,SBB,12\n", 2, "2024-05-02\nSBB\n12"),
    "no names above amounts": ("Coop,CHF 45.20\nSBB,CHF 12.00\n", 2, "SBB\nCHF 12.00"),
    "no names above signed numbers": ("Coop,-45.20\nSBB,-12.00\n", 2, "SBB\n-12.00"),
    "no names above addresses": ("Ann,ann@example.org\nBo,bo@example.org\n", 2, "Bo\nbo@example.org"),
    "no names in a form": ("Project:,Heron\nOwner:,Ann Lee\n", 2, "Owner:\nAnn Lee"),
    "dates above words": (
        "Name,2024-05-01,2024-05-08\nAnn,there,ill\n",
        2,
        "Name: Ann\n2024-05-01: there\n2024-05-08: ill",
    ),
    "amounts above numbers": ("Band,CHF 10,CHF 20\nA,3,4\n", 2, "Band: A\nCHF 10: 3\nCHF 20: 4"),
    "repeated names": ("Key,Note,Note\nQA-12,open,red\n", 2, "Key: QA-12\nNote: open\nNote: red"),
    "no names in repeated values": ("Ann,yes,yes\nBo,no,yes\n", 2, "Bo\nno\nyes"),
    "no names above long text": (f"Ida,{QUESTION}\nBo,Who asks?\n", 2, "Bo\nWho asks?"),
}


@pytest.mark.parametrize("name", NAMED)
def test_the_names_of_columns_are_found(name: str) -> None:
    """They may follow a title, and are not mistaken for values; the last row keeps its number."""
    text, number, shown = NAMED[name]
    document = parse("a.csv", text.encode())
    assert (document.text[document.pages[-1] :], len(document.pages)) == (shown, number)


def test_a_title_above_the_names_of_columns_is_a_row() -> None:
    document = parse("a.xlsx", archives.xlsx({"Plan": [["Budget", "", ""], ["Item", 2022, 2023], ["Rent", 300, 310]]}))
    assert document.text == "Plan\n\nBudget\n\nItem: Rent\n2022: 300\n2023: 310"


TABLES = {
    "a line about the table": (
        "Created;2025-02-01;by H. Voss\n\nMeter;Room;kWh\nM-1;Cellar;4821\n",
        "Created\n2025-02-01\nby H. Voss\n\nMeter: M-1\nRoom: Cellar\nkWh: 4821",
    ),
    "a line with a date about a table of words": (
        "Created;2025-02-01;by H. Voss\n\nMeter;Room;Owner\nM-1;Cellar;Ann\n",
        "Created\n2025-02-01\nby H. Voss\n\nMeter: M-1\nRoom: Cellar\nOwner: Ann",
    ),
    "lines of words about the table": (
        "Made by;H. Voss\nfor;the club\n;;\nMeter;Room;kWh\nM-1;Cellar;4821\nM-2;Attic;390\n",
        "Made by: for\nH. Voss: the club\n\nMeter: M-1\nRoom: Cellar\nkWh: 4821\n\nMeter: M-2\nRoom: Attic\nkWh: 390",
    ),
    "repeated names": (
        "North;\nBoat;Crew\nIda;Bo\n;\nSouth;\nBoat;Skipper\nEva;Ann\n",
        "North\n\nBoat: Ida\nCrew: Bo\n\nSouth\n\nBoat: Eva\nSkipper: Ann",
    ),
    "a title with blank lines around it": (
        "Boat;Crew\nIda;Bo\n\nSouth;\n\nBoat;Crew\nEva;Ann\n",
        "Boat: Ida\nCrew: Bo\n\nSouth\n\nBoat: Eva\nCrew: Ann",
    ),
    "other names above numbers": (
        "Boat;Crew;Wood\nIda;Bo;ash\n\n\nDock;2024;2025\nA;4.5;4.2\nB;3.2;3\n",
        "Boat: Ida\nCrew: Bo\nWood: ash\n\nDock: A\n2024: 4.5\n2025: 4.2\n\nDock: B\n2024: 3.2\n2025: 3",
    ),
    "blank lines in a table of words": (
        "Boat;Crew\n\nIda;Bo\nEva;Ann\n\nUna;Cy\nAda;Di\n",
        "Boat: Ida\nCrew: Bo\n\nBoat: Eva\nCrew: Ann\n\nBoat: Una\nCrew: Cy\n\nBoat: Ada\nCrew: Di",
    ),
    "blank lines in a table of numbers": (
        "Boat;Oars\nIda;2\n\nEva;4\nUna;6\n\nTotal;12\n",
        "Boat: Ida\nOars: 2\n\nBoat: Eva\nOars: 4\n\nBoat: Una\nOars: 6\n\nBoat: Total\nOars: 12",
    ),
    "a missing number below a blank line": (
        "Boat;Oars\nIda;2\n\nEva;n/a\nUna;6\n",
        "Boat: Ida\nOars: 2\n\nBoat: Eva\nOars: n/a\n\nBoat: Una\nOars: 6",
    ),
    "dates below blank lines": (
        "Name;2024-05-01;2024-05-08\n\nAnn;there;ill\nBo;ill;there\n",
        "Name: Ann\n2024-05-01: there\n2024-05-08: ill\n\nName: Bo\n2024-05-01: ill\n2024-05-08: there",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_names_of_columns_below_blank_rows_begin_a_table(name: str) -> None:
    """They repeat a name or are above values; other rows continue the table."""
    text, shown = TABLES[name]
    assert parse("a.csv", text.encode()).text == shown
    rows: list[list[str | float]] = [list(line.split(";")) for line in text.splitlines()]
    assert parse("a.xlsx", archives.xlsx({"Sheet": rows})).text == f"Sheet\n\n{shown}"


def test_very_many_tables_take_linear_time() -> None:
    def read_tables(count: int) -> None:
        table = (["Boat", "Oars"], ["Ida", "2"])
        rows = [(3 * number + at, row) for number in range(count) for at, row in enumerate(table)]
        assert to_records(rows)[1][-1] == (3 * count - 2, [("Boat", "Ida"), ("Oars", "2")])

    check_growth(read_tables, 5_000, 20_000)


def test_an_object_with_very_many_fields_is_not_cut() -> None:
    """Numbers may have very many digits, too."""
    text = parse("en.json", lines({f"key {n}": "Ahoy." for n in range(3000)})).text
    assert text.endswith("\nkey 2999: Ahoy.")
    assert parse("a.json", b'{"pi": %s}' % (b"31" * 2500)).text == "pi: " + "31" * 2500


def test_damaged_line_loses_only_its_record() -> None:
    """The other records keep their line numbers; a file with mostly damaged lines is refused."""
    document = parse("a.jsonl", b'{"text": "Oars."}\n{"text": "Ta\n{"text": "Pine."}\n')
    assert document.note == "line 2 is not valid JSON and was left out"
    passages = check_passages(document, count_tokens=count_words, max_tokens=254)
    assert [(passage.page, passage.text) for passage in passages] == [(1, "text: Oars."), (3, "text: Pine.")]
    with pytest.raises(Unreadable, match="damaged: line 2 is not valid JSON"):
        parse("a.jsonl", b'{"text": "Oars."}\n{"text": "Ta\n')
