"""Split text into sentences, by punctuation and its context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from corpus.text.lines import is_line_list

# A full stop after one of these does not end a sentence.
_ABBREVIATION_WORDS = """
    a.k.a abb abs abt adm al alg anm approx apr art attn aug avg bd beil bspw bzgl bzw ca capt cf ch chap cllr cmdr co
    col corp cp cpl d.h dec dept dez dipl dipl.-ing dr dra ed eds e.g eg eq eqs esp est etc evtl ex exkl ext feb fig
    figs fr ft geb gegr gen gest ggf gov hbf hon hr hrn hrsg i.d.r i.e ie inc incl ing inkl insp jan jr jul jun kap lfd
    lt ltd maj max med mio mlle mme mrd min mr mrs ms mt mar messrs nachm no nos nov nr nrn oct okt op p.a para paras
    ph.d phd pp prof pt ref refs rep rev sec sect sen sep sept sgt sog sr sra srta st stv str supt tab tel telef tgl thm
    tsd u.a usw v v.a vgl viz vol vols vorm vs z.b z.t zzgl
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
# These often end a sentence too: the next word decides.
_MAY_END = frozenset({"etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "usw", "ph.d", "phd"})
# Abbreviations only before a number or code: "no. 5", "no. TH-20817", but "He said no. They left."
_BEFORE_NUMBERS = frozenset({"no", "art", "tab", "alg", "chap", "thm", "ext", "para", "kap"})
# Only of languages that capitalise months; elsewhere the lower case shows that the sentence continues.
_MONTHS = """
    jan january januar jänner feb february februar feber mar march märz apr april may mai jun june juni jul july juli
    aug august sep sept september oct okt october oktober nov november dec dez december dezember
"""
_DAYS = """
    monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
"""
# Before the dot of a German ordinal: "im 3. Stock".
_ARTICLES = """
    ab am beim bis das dem den der des die ein eine einem einen einer eines ihr ihre ihrem ihren ihrer im ins jede jedem
    jeden jeder jedes kein keine mein meine meinem meinen oder sein seine seinem seinen seiner seit und vom zum zur
"""
_MONTH_NAMES = frozenset(_MONTHS.split())
_AFTER_HOUR = frozenset((_MONTHS + _DAYS).split())
_BEFORE_ORDINAL = frozenset(_ARTICLES.split())
# After the dot, these begin a sentence: "bis zum 3. Das Büro".
_NOT_NOUNS = _BEFORE_ORDINAL | {"an", "er", "es", "ich", "in", "sie", "wir"}

_BOUNDARY = re.compile(
    r"""
    # A run of marks is matched only from its first: a line of dots would otherwise take quadratic time.
    (?P<mark> (?<![.!?…])[.!?…]++ | [。！？｡]+ | (?<![؟۔])[؟۔]++ | (?<![।॥])[।॥]++ )
    # Quotes, brackets, emphasis marks, the superscript numbers of notes, and references: "[1, 2]", "[^a]".
    (?P<close> ["'”’»)\]」』*_]* (?:[⁰¹²³⁴-⁹]+(?:(?:,\s?|⁻)[⁰¹²³⁴-⁹]+)*)? (?:\[\^?\w{1,3}(?:[,–-]\ ?\d{1,3})*\]){0,9}+
      # The numbers of notes glued to a word or year: "for years.8 In", "(see above).12,13 The".
      (?P<note>
        (?: (?<=[^\W\d_][.!?]|[.!?)”’"][.!?”’")]) | (?<=[\s(](?:1[5-9]|20)\d\d[.]) )
        \d{1,3}(?:[,–-]\d{1,3}){0,9} (?=\s+["'“‘«(]*[A-ZÀ-ÖØ-Þ])
      )? )
    (?P<gap> \s+ | $ | (?<=[。！？｡」』]) | (?<=[。！？｡][”’»)\]]) )
    """,
    re.VERBOSE,
)
# A blank line, or the break before a list item or before a line with date and time, as in a chat or a log.
_BREAK = re.compile(
    r"""
    \n[^\S\n]*\n\s*
    | \n(?=[^\S\n]*(?:
        (?:[-*•◦▪‣–●○■□☐-☒✅✓-✘❌] | \d{1,3}[.)] | \(?(?:[A-Za-z]|[ivx]{2,5})\) | (?:[a-h]|[ivx]{2,5})\.
        | \[[ xX]?\])\s
        | [*_]*(?:\[?\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:,?\ |T)\d\d?[:.]\d\d | \[\d\d?:\d\d)
    ))
    """,
    re.VERBOSE,
)
# A line in columns, as in a list of telephone numbers, or with dots between them, as in a price list.
# And a line with a name and its value: "no signal -> restart", "**Status:** closed", "port = 8443".
_COLUMNS = re.compile(r"\S[ \t]{3,}\S|\S ?(?:\.{4,} ?\S|(?:\. ){3})|\S (?:\.{3}|…)[ \t]+[£$€]?\d")
# Dots that lead to a value: "soup ..... Page 4", "soup … 4.80", "soup . . . 4.80"; three, or four glued, may be an end.
_LEADERS = re.compile(
    r"(?:\.{5,}|…{2,}|(?<=\s)\.{4})[ \t]+(?=\S)|(?:\.{3,}|…)(?:[ \t]+(?=[£$€(+]{0,2}\d)|(?: {3,}| *\t[ \t]*)(?=\S))"
    r"|\. +\.(?![^\s.])|(?<=\. )\.[ \t]+(?=\S)"
)
_FIELD = re.compile(
    r"\s*[*_]*(?P<first>[^\W\d_])(?:[^\s:.!?=]|\.(?=\w))*(?: [^\s:.!?=]+){0,3}"
    r"(?:(?::[*_]*| ?(?:[-=]>|→)| ?=) +\S|=[^\s=>])"
)
# A line that begins with a number or a version.
_NUMBERED = re.compile(r"\s*(?:v\.? ?|version )?\d", re.IGNORECASE)
# The end of a line that the next line continues.
_UNFINISHED = re.compile(
    r"(?:[,(&/–-]|\b(?:a|an|and|as|at|by|for|from|in|is|of|on|or|that|than|the|to|was|with"
    r"|am|an|bei|das|dem|den|der|des|die|ein|eine|für|im|in|ist|mit|nach|oder|und|vom|von|zu|zum|zur))$",
    re.IGNORECASE,
)
_LONGEST_LAST_WORD = 6
# Shorter words before a number are abbreviations or names of files rather than the end of a sentence with a note.
_SHORTEST_NOTED = 3
# A line that is longer than this share of the longest line has no room for another word.
_FULL = 0.85
_WORD = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"(\S+)$")
# A row of a list of prices or numbers: "bacon roll 3.50", or "tea 1.20 / coffee 1.60". After a capital, a number may be
# a house number.
_PRICED = re.compile(r"\s*[^\W\d_][^\d\n.:;!?|=/]{0,60} (?:[£$€] ?\d+(?:[.,]\d\d)?|\d+[.,]\d\d)(?: ?[£$€])?\s*")
_COUNTED = re.compile(r"\s*(?P<first>[^\W\d_])[^\d\n.:;!?|=/]{0,30} \d+(?:[.,]\d+)*(?: ?[%p])?\s*")
_MIN_PRICED, _MIN_COUNTED = 2, 3
# Maximum distance between two brackets for the text between them to be one sentence.
_BRACKETED = 200
# Maximum length of a date before an entry, and its parts other than names of months and days.
_LONGEST_STAMP = 32
_STAMP_PART = re.compile(r"\d+(?:st|nd|rd|th|t\d+|z)?")
_OPENERS = "\"'“‘«([{「『*_"
_CODE = re.compile(rf"[{re.escape(_OPENERS)}]*[A-Z]{{0,4}}[-/]?\d")
# Of a country, an office or a person: "the U.S. Army", "J.R. Smith". They end a sentence before a usual first word.
_INITIALS = re.compile(r"(?![AP]\.M\Z)[A-Z](?:\.[A-Z])+")
_FIRST_WORD = re.compile(
    rf"[{re.escape(_OPENERS)}]*(?:After|All|And?|As|At|Before|But|By|For|From|He|Her|His|How(?:ever)?|I[fnt]?|Its|My|No|Not"
    r"|On|Our|She|Since|So|Some|That|The|Their|Then|There|These|They|This|Those|To|We|What|When|Where|While|Who|Why"
    r"|With|You|A)\b"
)
# "GmbH & Co. KG".
_FIRM = re.compile(r"(?:KG|KGaA|OHG)\b|GmbH\b|Ltd\b|Inc\b")
# After an hour: "5 p.m. EST", "5 p.m. (CET)".
_ZONE = re.compile(r"\(?(?:[ECMP][SD]?T|CES?T|WES?T|EES?T|BST|JST|UTC|GMT|Eastern|Pacific)\b")
# The letter before a clause: "(b) The tenant".
_LETTER = re.compile(r"\((?:[a-z]|[ivx]{2,5})\)\s+(?=\S)")


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Find the sentences in `text[start:end]`; a blank line or a new list item also ends a sentence.

    Each row of a list of prices or numbers is a sentence, unlike in `iter_sentences`.

    Returns:
        Spans in characters of `text`, in order and stripped of white space; every non-blank character of the
        range is in exactly one of them.
    """
    return [row for span in iter_sentences(text, start, end) for row in _list_rows(text, *span)]


def iter_sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the sentences one by one, as there may be millions; lists of prices stay whole. See `sentence_spans`."""
    stop = len(text) if end is None else end
    block_start = start
    for block_end in (*(match.start() for match in _BREAK.finditer(text, start, stop)), stop):
        for first, last in _split_lines(text, block_start, block_end):
            yield from _split_sentences(text, first, last)
        block_start = block_end


def _list_rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of a list if most lines of a sentence are prices or numbers; otherwise the whole sentence."""
    lines = text[start:end].split("\n")
    price_counts = [len(items) for items in map(_priced_items, lines)]
    is_row = [bool(count) or _is_counted(line) for count, line in zip(price_counts, lines, strict=True)]
    is_list = sum(price_counts) >= _MIN_PRICED or sum(is_row) >= _MIN_COUNTED
    edges, line_start = [start], start
    for i, line in enumerate(lines if is_list and 2 * sum(is_row) > len(lines) else ()):
        if is_row[i] or (i and is_row[i - 1]):
            edges.append(line_start)
            edges += [line_start + slash.end() for slash in re.finditer(" / ", line)] if is_row[i] else []
        line_start += len(line) + 1
    for left, right in pairwise((*edges, end)):
        yield from _strip(text, left, right)


def _priced_items(line: str) -> list[str]:
    """Return the items of a line of names with prices, separated by slashes; [] for any other line."""
    items = line.split(" / ")
    return items if all(map(_PRICED.fullmatch, items)) else []


def _is_counted(line: str) -> bool:
    match = _COUNTED.fullmatch(line)
    return match is not None and match["first"].islower()


def _split_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield wrapped prose as a whole, and other text in pieces: each line with the lines that continue it.

    A new piece begins at each of several fields or rows in columns, and after such a row; at numbered lines, if most
    lines are numbered; at the lines of a list without bullets; and at a line whose first word would have fitted on the
    line above.
    """
    lines = text[start:end].split("\n")
    if len([line for line in lines if line]) <= 1:
        yield start, end
        return
    field_matches = [_FIELD.match(line) for line in lines]
    # All fields begin in the same case, unlike lines of prose with colons.
    is_lower = next((match["first"].islower() for match in field_matches if match), False)
    is_field = _unless_single([match is not None and match["first"].islower() == is_lower for match in field_matches])
    is_row = _unless_single([_COLUMNS.search(line) is not None for line in lines])
    is_numbered = _unless_single([_NUMBERED.match(line) is not None for line in lines])
    is_list = 2 * sum(is_numbered) > sum(map(bool, map(str.strip, lines)))
    are_items = is_line_list(lines)
    width = max(map(len, lines))
    piece_start = line_start = start
    for i, line in enumerate(lines):
        begins = is_field[i] or is_row[i] or (i > 0 and is_row[i - 1])
        if i and not begins and not _UNFINISHED.search(lines[i - 1].rstrip()[-_LONGEST_LAST_WORD:]):
            begins = are_items or (is_list and is_numbered[i]) or _had_room(lines[i - 1], line, width)
        if begins:
            yield piece_start, line_start
            piece_start = line_start
        line_start += len(line) + 1
    yield piece_start, end


def _had_room(line: str, following: str, width: int) -> bool:
    """Whether the next line begins with a capital letter, and its first word would have fitted on this line."""
    word = following.split(maxsplit=1)[0] if following.strip() else ""
    return word.lstrip(_OPENERS)[:1].isupper() and len(line.rstrip()) + 1 + len(word) <= _FULL * width


def _unless_single(flags: list[bool]) -> list[bool]:
    return flags if sum(flags) > 1 else [False] * len(flags)


def _split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _BOUNDARY.finditer(text, start, end):
        is_inside = match.end() >= end or _LEADERS.match(text, match.start()) or _is_stamp(text, begin, match)
        if not is_inside and _ends_sentence(text, begin, match) and not _is_bracketed(text, begin, match, end):
            yield from _strip(text, begin, match.end("close"))
            begin = match.end("close")
    yield from _strip(text, begin, end)


def _strip(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    body = piece.strip()
    if body:
        begin = start + len(piece) - len(piece.lstrip())
        yield begin, begin + len(body)


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    letter = _LETTER.match(text, match.end())
    after = letter.end() if letter else match.end()
    following = text[after : after + 2].lstrip(_OPENERS)[:1]
    # "Is it?" she asked.
    if following.islower() and (match["close"] or match["mark"][-1] in ".…"):
        return False
    if match["mark"] != "." or match["close"].removesuffix(match["note"] or "").strip("*_"):
        return True
    last = _LAST_WORD.search(text, max(begin, match.start() - 40), match.start())
    word = last[1].lstrip(_OPENERS).lower() if last else ""
    if word in _BEFORE_NUMBERS or word.endswith("str"):  # Hafenstr. 12
        return not match["note"] and _CODE.match(text, after) is None
    if word in _ABBREVIATIONS or (match["note"] and len(word) < _SHORTEST_NOTED):
        if word == "co" and _FIRM.match(text, after):
            return False
        return word in _MAY_END and following.isupper() and not match["note"]
    # An initial, as in "Diederik P. Kingma", is more common than "plan B. Then".
    is_initial = len(word) == 1 and word.isalpha()
    if last and _INITIALS.fullmatch(last[1].lstrip(_OPENERS)):
        is_initial = _FIRST_WORD.match(text, match.end()) is None
    return not (is_initial or (last is not None and _belongs_to_next(word, text, begin, last.start(), match.end())))


def _belongs_to_next(word: str, text: str, begin: int, start: int, after: int) -> bool:
    """Whether a number or hour with a dot, at `start`, belongs to the next word, at `after`: "9 a.m. Monday"."""
    is_hour = word in ("a.m", "p.m")
    if not (is_hour or word.isdigit()):
        return False
    next_word = _WORD.match(text, after)
    following = next_word[0].lower() if next_word else ""
    if is_hour:
        return following in _AFTER_HOUR or _ZONE.match(text, after) is not None
    before = text[max(begin, start - 12) : start].split()
    if not before:
        # "3. Third item" at the start of a line.
        return True
    if len(word) > 2 or not following:
        return False
    is_ordinal = before[-1].lower() in _BEFORE_ORDINAL and before[-2:] != ["I", "am"]
    return following in _MONTH_NAMES or (is_ordinal and following not in _NOT_NOUNS)


def _is_stamp(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether the sentence would be only the date of an entry on the same line: "12 Jan 2023. Laser replaced"."""
    if match.start() - begin > _LONGEST_STAMP or "\n" in match["gap"]:
        return False
    stamp = text[begin : match.start()]
    stamp_start = begin + len(stamp) - len(stamp.lstrip())
    if stamp_start and "\n" not in text[max(0, begin - 1) : stamp_start]:
        return False  # within a line
    words = re.findall(r"\w+", stamp.lower())
    return bool(words) and all(word in _AFTER_HOUR or _STAMP_PART.fullmatch(word) for word in words)


def _is_bracketed(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    """Whether a sentence would end inside round brackets that close soon."""
    at = match.end("close")
    opened = text.rfind("(", max(begin, at - _BRACKETED), at)
    if opened < 0 or text.find(")", opened, at) >= 0:
        return False
    return text.find(")", at, min(end, opened + _BRACKETED)) >= 0
