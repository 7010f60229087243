"""Renders Markdown as HTML that runs and fetches nothing, with marks at exactly the cited characters.

Rendered HTML does not tell where its words are in the source. So sentinel characters, which no text contains, are
inserted where marks begin and end. If a sentinel changes the rendering otherwise, the next word is tried.
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

# Noncharacters of Unicode (https://www.unicode.org/faq/private_use.html): begin and end of the passage, then sentence.
_SENTINELS = "\ufdd0\ufdd1\ufdd2\ufdd3"
_SENTINEL = re.compile(f"[{_SENTINELS}]")
_TAG = re.compile(r"(<[^>]*>)")
_WORD = re.compile(r"[^\W_]+")
# Characters around words that are invisible when rendered.
_INVISIBLE = " \t\r\n|*_`~"
# The order of sentinels at the same position: the sentence ends first and begins last, as it is inside the passage.
_ORDER = "\ufdd3\ufdd1\ufdd0\ufdd2"
# Block syntax at the start of a line: quotes, headings, items, cells. A sentinel before it would make it plain text.
_BLOCK_SYNTAX = re.compile(r"[ \t]*(?:(?:[>#|+*-]|\d{1,9}[.)])+[ \t]+)*")
# Positions to try for a sentinel.
_MAX_TRIES = 24
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
# Levels of headings that the page itself uses; those of a document come below.
_PAGE_LEVELS, _MAX_LEVEL = 2, 6


@dataclass(frozen=True, slots=True)
class MarkdownView:
    """Rendered Markdown: the file's front matter verbatim, then the text."""

    kind: ClassVar[str] = "markdown"
    preface: tuple[MarkedText, ...]
    html: Markup


def markdown_view(preface: str, text: str, first: int, marks: Marks) -> MarkdownView:
    """Render part of a Markdown document, which begins at character `first`."""
    text = _SENTINEL.sub("\ufffd", text)
    candidates = []
    for number, spans in enumerate((marks.passages[:1], marks.sentences[:1])):
        if spans and first < spans[0][1] and spans[0][0] < first + len(text):
            start, end = max(0, spans[0][0] - first), min(len(text), spans[0][1] - first)
            candidates.append((_SENTINELS[2 * number], list(_possible_starts(text, start, end))))
            candidates.append((_SENTINELS[2 * number + 1], list(_possible_ends(text, start, end))))
    return MarkdownView(marks.cut(preface, first - len(preface)), _mark(_render_with_sentinels(text, candidates)))


def _render_with_sentinels(text: str, candidates: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Render text with each sentinel at the first of its positions where it changes nothing else."""
    plain = _render(text)
    preferred = {sentinel: at for sentinel, positions in candidates for at in positions[:1]}
    html = _render(_insert(text, preferred))
    if all(_is_harmless(html, plain, sentinel) for sentinel in preferred):
        return html
    chosen = {}
    for sentinel, positions in candidates:
        for at in positions[:_MAX_TRIES]:
            if _is_harmless(_render(_insert(text, {sentinel: at})), plain, sentinel):
                chosen[sentinel] = at
                break
    html = _render(_insert(text, chosen))
    # A mark needs both ends.
    is_paired = all((_SENTINELS[n] in chosen) == (_SENTINELS[n + 1] in chosen) for n in (0, 2))
    return html if is_paired and all(_is_harmless(html, plain, sentinel) for sentinel in chosen) else plain


def _is_harmless(html: str, plain: str, sentinel: str) -> bool:
    """Return whether a sentinel is in the HTML's text exactly once, and the HTML without sentinels equals `plain`."""
    in_text = sum(part.count(sentinel) for part in _TAG.split(html)[::2])
    return in_text == 1 and _SENTINEL.sub("", html) == plain


def _insert(text: str, sentinels: Mapping[str, int]) -> str:
    for sentinel, at in sorted(sentinels.items(), key=lambda item: (item[1], _ORDER.index(item[0])), reverse=True):
        text = text[:at] + sentinel + text[at:]
    return text


def _possible_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where a mark may begin: after a line's block syntax, else at a later word."""
    while start < end:
        lead = _BLOCK_SYNTAX.match(text, text.rfind("\n", 0, start) + 1)
        start = max(start, lead.end() if lead else 0)
        if start >= end or text[start] not in _INVISIBLE:
            break
        start += 1
    yield start
    yield from (word.start() for word in _WORD.finditer(text, start + 1, end))


def _possible_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where a mark may end: after the last visible character, else after an earlier word."""
    end = start + len(text[start:end].rstrip(_INVISIBLE))
    yield end
    yield from (word.end() for word in reversed(list(_WORD.finditer(text, start, end))))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _render(text: str) -> str:
    parser = _parser()
    tokens = parser.parse(text)
    _sanitise(tokens)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _sanitise(tokens: Sequence[Token]) -> None:
    """Replace pictures by their description, drop unsafe and local links, and move headings below the page's."""
    level = _PAGE_LEVELS
    for token in tokens:
        if token.type == "heading_open":
            level = min(level + 1, int(token.tag[1]) + _PAGE_LEVELS, _MAX_LEVEL)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"
        if token.type in ("th_open", "td_open"):
            token.attrs = {}  # drop alignment, which is an inline style
        if token.type == "inline":
            token.children = list(_sanitised_inline(token.children or ()))


def _sanitised_inline(children: Sequence[Token]) -> Iterator[Token]:
    is_safe = True
    for child in children:
        if child.type == "link_open":  # links are never inside links
            href = str(child.attrs.get("href", ""))
            is_safe = _SAFE_LINK.match(href) is not None
            child.attrs = {"href": href, "rel": "noopener noreferrer nofollow", "target": "_blank"}
        if is_safe or child.type not in ("link_open", "link_close"):
            yield Token("text", "", 0, content=f"[{child.content}]") if child.type == "image" else child


def _mark(html: str) -> Markup:
    """Turn sentinels into marks: an element for each run of text between them, as marks may cross blocks."""
    open_marks: set[str] = set()
    parts: list[str] = []
    has_place = False
    place_mark = "sentence" if _SENTINELS[2] in html else "passage"
    for number, part in enumerate(_TAG.split(html)):
        if number % 2:
            parts.append(part)
            continue
        for run in re.split(f"([{_SENTINELS}])", part):
            if _SENTINEL.fullmatch(run):
                name = "passage" if run in _SENTINELS[:2] else "sentence"
                (open_marks.add if run in _SENTINELS[::2] else open_marks.discard)(name)
            elif not run.strip() or not open_marks:
                parts.append(run)
            else:
                mark = "sentence" if "sentence" in open_marks else "passage"
                place = ' id="place"' if mark == place_mark and not has_place else ""
                has_place = has_place or bool(place)
                tag = "mark" if mark == "sentence" else "span"
                parts.append(f'<{tag} class="{escape(mark)}"{place}>{run}</{tag}>')
    return Markup("".join(parts))  # noqa: S704 - the renderer has escaped all text
