"""Subtitles are read as sentences; their times are only in citations."""

from __future__ import annotations

from corpus.chunking.splitter import split
from corpus.loading.load import parse
from corpus.types import Document
from tests.corpus.readers.outcome import block_texts
from tests.documents import count_words

VTT = """WEBVTT - Herons in March

NOTE nobody reads this

STYLE
::cue { color: white }

intro
00:00:01.000 --> 00:00:03.500 align:start
<v Ann>The largest <i>flock</i> had

00:00:03.500 --> 00:00:06.000
forty-two herons &amp; a stork. We

00:00:06.000 --> 00:00:07.000
counted them twice.

01:02:10.000 --> 01:02:11.000
<v Bob Lee>Where was that?
"""


def cited_passages(document: Document) -> list[tuple[str, tuple[int, int] | None, str | None]]:
    passages = split(document, count_tokens=count_words, max_tokens=200)
    return [(passage.text, passage.lines, passage.anchor) for passage in passages]


def test_cues_are_sentences_with_their_lines_and_time() -> None:
    """Notes, styles, cue names and times are left out; a speaker is named once."""
    document = parse("talk.vtt", VTT.encode())
    assert (document.title, document.media_type) == ("Herons in March", "text/vtt")
    paragraphs = [
        "Ann: The largest flock had forty-two herons & a stork. We counted them twice.",
        "Bob Lee: Where was that?",
    ]
    assert block_texts(document) == paragraphs
    assert document.anchors == ((0, "t=1"), (len(paragraphs[0]) + 2, "t=3730"))
    assert cited_passages(document) == [("\n\n".join(paragraphs), (10, 19), "t=1")]


def test_subrip() -> None:
    """It has commas in the times, numbered cues, CRLF and tags of players."""
    text = "1\n00:00:00,500 --> 00:00:02,000\n{\\an8}The weir was\n<b>rebuilt</b> in\n"
    text += "\n2\n00:00:02,000 --> 00:00:04,000\n1998.\n"
    weir = parse("weir.srt", text.replace("\n", "\r\n").encode())
    assert (weir.text, weir.title, weir.media_type) == ("The weir was rebuilt in 1998.", "", "application/x-subrip")
    assert cited_passages(weir) == [("The weir was rebuilt in 1998.", (3, 8), "t=0")]


def test_a_pause_begins_a_paragraph() -> None:
    """It lasts two seconds after a sentence, or ten within one; without pauses, a paragraph has 1,000 characters."""
    cues = [(0, 1, "It rains."), (2, 3, "It"), (6, 7, "snows."), (9, 10, "Then"), (21, 22, "hail.")]
    text = "WEBVTT\n\n" + "\n\n".join(f"00:{a:02}.000 --> 00:{b:02}.000\n{words}" for a, b, words in cues)
    spoken = parse("a.vtt", text.encode()).text
    assert spoken == "It rains. It snows.\n\nThen\n\nhail."
    endless = "WEBVTT\n\n" + "00:01.000 --> 00:02.000\nwords and {}\n\n" * 300
    paragraphs = block_texts(parse("a.vtt", endless.format(*range(300)).encode()))
    assert max(map(len, paragraphs)) < 1100


def test_lines_that_are_shown_twice_are_read_once() -> None:
    """Speech recognition writes lines that roll upwards."""
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nthe mill\n"
    text += "\n00:02.000 --> 00:03.000\nthe mill\nis by<00:02.500><c> the</c> weir\n"
    assert parse("a.vtt", text.encode()).text == "the mill is by the weir"


def test_a_line_that_is_said_again_later_is_kept() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nYes.\n\n00:03.000 --> 00:04.000\nYes.\n"
    assert parse("a.vtt", text.encode()).text == "Yes. Yes."


def test_two_speakers_in_a_cue() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>Is it due?\n<v Bo>On Friday.\nAt noon.\n"
    document = parse("a.vtt", text.encode())
    assert block_texts(document) == ["Ann: Is it due?", "Bo: On Friday. At noon."]
    assert cited_passages(document) == [("Ann: Is it due?\n\nBo: On Friday. At noon.", (4, 6), "t=1")]


def test_a_blank_line_ends_no_cue_of_subrip() -> None:
    text = "1\n00:00:01,000 --> 00:00:04,000\nThe weir\n\nwas rebuilt in\n1998\n\n"
    weir = parse("weir.srt", f"{text}2\n00:00:04,000 --> 00:00:05,000\nby Tom.\n".encode())
    assert cited_passages(weir) == [("The weir was rebuilt in 1998 by Tom.", (3, 10), "t=1")]


def test_without_cues_it_is_plain_text() -> None:
    document = parse("notes.srt", b"Herons\n\nNothing is timed here.\n")
    assert document.text == "Herons\n\nNothing is timed here.\n"
    assert cited_passages(document)[-1][1] == (1, 3)
