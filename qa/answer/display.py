"""Show a result as text in Python and as HTML in a notebook; and the wording that all interfaces share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qa.answer.results import Answer, Hit, Result

# The line below a heading in Markdown and reStructuredText.
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1+")
# The remark on a file that is not verified, by its state.
FLAGS = {
    "changed": "changed since it was indexed",
    "missing": "file is missing",
    "unchecked": "not checked: its file is not on this machine, or cannot be read",
}
# The words before another value than the answer's, by its time.
OTHER_VALUE = {"": "But another passage says", "earlier": "Earlier:", "later": "Later:"}
# The lowest probability for each word.
_CONFIDENCE = ((0.8, "high"), (0.5, "fair"), (0.0, "low"))


def confidence_word(probability: float) -> str:
    """Return a probability, rounded as it is shown, as a word: high, fair or low."""
    return next(word for least, word in _CONFIDENCE if round(probability, 2) >= least)


def confidence_line(result: Result) -> str:
    """Return the confidence in an answer, and whether it is from an outdated document: "Confidence: high (98%)"."""
    line = f"Confidence: {confidence_word(result.confidence)} ({percent(result.confidence)})"
    return f"{line}, from an outdated document" if is_from_outdated(result) else line


def is_from_outdated(result: Result) -> bool:
    """Whether the passage that an answer quotes is from a document that says that it is outdated."""
    cited = result.answer.citations[:1] if result.found and result.answer else ()
    return any(hit.source.outdated for hit in result.passages if hit.rank in cited)


def percent(probability: float) -> str:
    """Return a probability as a percentage that never claims certainty."""
    if probability >= 0.995:
        return "over 99%"
    if probability < 0.005:
        return "under 1%"
    return f"{probability * 100:.0f}%"


def count(number: int, noun: str) -> str:
    """Return a number of things: "1 file", "2,000 files"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_size(size: int) -> str:
    """Return a size in words: "0.5 kB", "12.3 MB"."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"


def with_marks(answer: Answer, text: str) -> list[tuple[str, str]]:
    """Return an answer's text with the marks of its citations (" [1] [2]"): line by line if each has its own."""
    lines = text.split("\n")
    has_own = len(lines) == len(answer.cited_by_line)
    cited = zip(lines, answer.cited_by_line, strict=True) if has_own else [(text, answer.citations)]
    return [(part, _marks(ranks)) for part, ranks in cited]


def remarks_below(answer: Answer, option: str = "") -> list[str]:
    """Return what is said below an answer: how many more items it has, which an option would show, and other values."""
    hint = f"; {option} {len(answer.citations) + answer.more} shows them" if option else ""
    more = [f"and {answer.more:,} more{hint}"] if answer.more else []
    others = (f"{OTHER_VALUE[value.time]} {value.text}{_marks(value.citations)}" for value in answer.alternatives)
    return [*more, *others]


def _marks(ranks: Sequence[int]) -> str:
    return "".join(f" [{rank}]" for rank in ranks)


def trail(hit: Hit) -> tuple[str, ...]:
    """Return the headings above a passage, preceded by the title unless they contain it, even as that of a row."""
    is_first = any(hit.title.casefold() == name.casefold() for name in hit.heading[:1])
    has_title = is_first or any(name.startswith(f"{hit.title} (row ") for name in hit.heading)
    return hit.heading if has_title or not hit.title else (hit.title, *hit.heading)


def flags(hit: Hit) -> list[str]:
    """Return remarks on a passage: that its file is not verified, or that its document says that it is outdated."""
    state, outdated = FLAGS.get(hit.source.state), hit.source.outdated
    return [*([state] if state else []), *([f'outdated: "{outdated}"'] if outdated else [])]


def body_span(hit: Hit) -> tuple[int, int]:
    """Return the span of a passage's text without leading headings, which are shown above it anyway."""
    first = hit.source.chars[0]
    start = _after_headings(hit.text, {*hit.heading, hit.title})
    if any(light.chars[0] - first < start for light in hit.highlights):
        start = 0
    lead = re.match(r"(?:[^\S\n]*\n)*", hit.text[start:])
    return start + (lead.end() if lead else 0), len(hit.text.rstrip())


def _after_headings(text: str, headings: set[str]) -> int:
    """Return the end of leading lines that only repeat the passage's headings; 0 if no text would be left."""
    names = {_bare(heading) for heading in headings if heading}
    at = 0
    for match in re.finditer(r"[^\n]*\n", text):
        line = match[0].strip()
        if line and _bare(line) not in names and not (at and _UNDERLINE.fullmatch(line)):
            break
        at = match.end()
    return at if text[at:].strip() else 0


def _bare(heading: str) -> str:
    return re.sub(r"[*_`]", "", heading.strip().strip("#")).strip()


def as_text(result: Result) -> str:
    """Return the answer, its confidence, and the place of each passage, without control characters."""
    return _printable("\n".join((_answer(result), confidence_line(result), *map(_place, result.passages))))


def hit_as_text(hit: Hit) -> str:
    """Return the place of a passage and its text, without control characters."""
    return _printable(f"{_place(hit)}\n{hit.text}")


def as_html(result: Result) -> str:
    """Return the answer and each passage with its highlights marked; all text is escaped."""
    passages = "".join(f"<li value={hit.rank}>{hit_as_html(hit)}</li>" for hit in result.passages)
    return f"<p>{escape(_answer(result))}</p><p><small>{confidence_line(result)}</small></p><ol>{passages}</ol>"


def hit_as_html(hit: Hit) -> str:
    """Return the place of a passage, and its text with highlights marked; all text is escaped."""
    remarks = "".join(f" <i>({escape(flag)})</i>" for flag in flags(hit))
    return (
        f"<b>{escape(hit.citation)}</b> {escape(' › '.join(trail(hit)))}{remarks}"
        f"<blockquote style='white-space: pre-wrap'>{_marked(hit)}</blockquote>"
    )


def _place(hit: Hit) -> str:
    remarks = "".join(f"  ({flag})" for flag in flags(hit))
    return f"[{hit.rank}] {hit.citation}  {' › '.join(trail(hit))}".rstrip() + remarks


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else " " if c.isspace() else "" for c in text)


def _answer(result: Result) -> str:
    if not result.passages:
        return "No passage matches the question."
    if not result.found or result.answer is None:
        return "No passage answers this with confidence." if not result.found else "See the passages below."
    answer = result.answer
    return "\n".join([*(line + marks for line, marks in with_marks(answer, answer.text)), *remarks_below(answer)])


def _marked(hit: Hit) -> str:
    first, at, parts = hit.source.chars[0], 0, []
    for start, end in sorted((a - first, b - first) for a, b in (light.chars for light in hit.highlights)):
        if start >= at:
            parts += [escape(hit.text[at:start]), "<mark>", escape(hit.text[start:end]), "</mark>"]
            at = end
    return "".join((*parts, escape(hit.text[at:])))
