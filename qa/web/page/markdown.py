"""Markdown as HTML in which nothing of a document runs or is fetched, with marks at exactly the cited characters.

What is rendered says nothing about where in the source its words are. So characters that no text has are put where
marks begin and end; that they changed nothing else is checked, otherwise they move to the next word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from qa.web.page.marks import MarkedText, Marks

# Noncharacters of Unicode (https://www.unicode.org/faq/private_use.html): one where each mark begins or ends.
_SIGNS = "\ufdd0\ufdd1\ufdd2\ufdd3"
_SIGN = re.compile(f"[{_SIGNS}]")
_TAG = re.compile(r"(<[^>]*>)")
_WORD = re.compile(r"[^\W_]+")
# Characters around words that are not seen.
_AROUND = " \t\r\n|*_`~"
# At one place, first what ends inside, last what begins inside.
_ORDER = "\ufdd3\ufdd1\ufdd0\ufdd2"
# What begins a line of Markdown: quotes, headings, items, cells. A sign before it would make it a plain word.
_LEAD = re.compile(r"[ \t]*(?:(?:[>#|+*-]|\d{1,9}[.)])+[ \t]+)*")
# Words that are tried until a sign changes nothing else.
_TRIES = 24
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
# The page has two levels of headings above those of a document.
_ABOVE, _LOWEST = 2, 6


@dataclass(frozen=True, slots=True)
class MarkdownView:
    """Rendered Markdown: what the file states about itself as it is, then the text."""

    kind: ClassVar[str] = "markdown"
    preface: tuple[MarkedText, ...]
    html: Markup


def markdown_view(preface: str, text: str, first: int, marks: Marks) -> MarkdownView:
    """Return some of a Markdown document, which begins at character `first`, as HTML."""
    text = _SIGN.sub("\ufffd", text)
    places = []
    for number, spans in enumerate((marks.passages[:1], marks.sentences[:1])):
        if spans and first < spans[0][1] and spans[0][0] < first + len(text):
            start, end = max(0, spans[0][0] - first), min(len(text), spans[0][1] - first)
            places.append((_SIGNS[2 * number], list(_begins(text, start, end))))
            places.append((_SIGNS[2 * number + 1], list(_ends(text, start, end))))
    return MarkdownView(marks.cut(preface, first - len(preface)), _marked(_signed(text, places)))


def _signed(text: str, places: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Rendered text with signs, each at the first of its possible places where it changes nothing else."""
    plain = _render(text)
    likely = {sign: at for sign, candidates in places for at in candidates[:1]}
    html = _render(_with_signs(text, likely))
    if all(_is_sound(html, plain, sign) for sign in likely):
        return html
    signs = {}
    for sign, candidates in places:
        sound = (at for at in candidates[:_TRIES] if _is_sound(_render(_with_signs(text, {sign: at})), plain, sign))
        if (at := next(sound, None)) is not None:
            signs[sign] = at
    html = _render(_with_signs(text, signs))
    # A mark that cannot end is none.
    whole = all((_SIGNS[n] in signs) == (_SIGNS[n + 1] in signs) for n in (0, 2))
    return html if whole and all(_is_sound(html, plain, sign) for sign in signs) else plain


def _is_sound(signed: str, plain: str, sign: str) -> bool:
    """Whether a sign is in the text of a page once, and without signs the page is as before."""
    in_text = sum(part.count(sign) for part in _TAG.split(signed)[::2])
    return in_text == 1 and _SIGN.sub("", signed) == plain


def _with_signs(text: str, signs: Mapping[str, int]) -> str:
    """Of two signs at one place, the passage's is outside."""
    for sign, at in sorted(signs.items(), key=lambda one: (one[1], _ORDER.index(one[0])), reverse=True):
        text = text[:at] + sign + text[at:]
    return text


def _begins(text: str, start: int, end: int) -> Iterator[int]:
    """Where a mark may begin: after what begins a line, else at a later word."""
    while start < end:
        lead = _LEAD.match(text, text.rfind("\n", 0, start) + 1)
        start = max(start, lead.end() if lead else 0)
        if start >= end or text[start] not in _AROUND:
            break
        start += 1
    yield start
    yield from (word.start() for word in _WORD.finditer(text, start + 1, end))


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    """Where a mark may end: behind the last character that is seen, else at an earlier word."""
    end = start + len(text[start:end].rstrip(_AROUND))
    yield end
    yield from (word.end() for word in reversed(list(_WORD.finditer(text, start, end))))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _render(text: str) -> str:
    parser = _parser()
    tokens = parser.parse(text)
    _tame(tokens)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _tame(tokens: Sequence[Token]) -> None:
    """Pictures become their description, links only lead elsewhere, headings follow those of the page."""
    level = _ABOVE
    for token in tokens:
        if token.type == "heading_open":
            level = min(level + 1, int(token.tag[1]) + _ABOVE, _LOWEST)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"
        if token.type in ("th_open", "td_open"):
            token.attrs = {}  # alignment, as a style
        if token.type == "inline":
            token.children = list(_tame_inline(token.children or ()))


def _tame_inline(children: Sequence[Token]) -> Iterator[Token]:
    dropped: list[bool] = []
    for child in children:
        if child.type == "link_open":
            dropped.append(not _SAFE_LINK.match(str(child.attrs.get("href", ""))))
            child.attrs = {
                "href": child.attrs.get("href", ""),
                "rel": "noopener noreferrer nofollow",
                "target": "_blank",
            }
        if child.type in ("link_open", "link_close") and dropped and dropped[-1]:
            dropped = dropped[:-1] if child.type == "link_close" else dropped
            continue
        if child.type == "link_close" and dropped:
            dropped.pop()
        yield Token("text", "", 0, content=f"[{child.content}]") if child.type == "image" else child


def _marked(html: str) -> Markup:
    """Signs as marks: each run of text between them in an element of its own, as marks may cross blocks."""
    level: set[str] = set()
    parts: list[str] = []
    placed = False
    wanted = "sentence" if _SIGNS[2] in html else "passage"
    for number, part in enumerate(_TAG.split(html)):
        if number % 2:
            parts.append(part)
            continue
        for run in re.split(f"([{_SIGNS}])", part):
            if _SIGN.fullmatch(run):
                name = "passage" if run in _SIGNS[:2] else "sentence"
                (level.add if run in _SIGNS[::2] else level.discard)(name)
            elif not run.strip() or not level:
                parts.append(run)
            else:
                mark = "sentence" if "sentence" in level else "passage"
                place = ' id="place"' if mark == wanted and not placed else ""
                placed = placed or bool(place)
                tag = "mark" if mark == "sentence" else "span"
                parts.append(f'<{tag} class="{escape(mark)}"{place}>{run}</{tag}>')
    return Markup("".join(parts))  # noqa: S704 - the renderer has escaped all text
