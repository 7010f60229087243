"""Answer from a changelog: when a version was released, what changed in it, which version changed something.

The versions are the headings of sections, or lines of their own such as "Version 5.12 (12.09.2024)" with the changes
below. "When was 1.4.2 released?" is answered by the date in that line, "what was fixed in 1.4.2?" by the changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from corpus import lazy_pattern, path_words
from index import Index, StoredPassage
from qa.answer.extract import Block
from qa.answer.heading_answer import OF_RELEASES, is_plainly_dated, stems
from qa.language.dates import dates_in
from qa.language.question_kinds import ASKS_WHEN
from qa.language.spans import Span, line_start, trimmed
from qa.language.terms import terms
from qa.structure.candidate_spans import LIST_MARKER

_VERSION = r"\d+(?:\.\d+)+(?:[-+.]?[a-z]+[\w.]*)?"
_NAMED_VERSION = lazy_pattern(rf"(?<![\w.])v?(?P<version>{_VERSION})(?![\w-]|\.\w)", re.IGNORECASE)
# The line above the changes of a version: "## [2.4.1] - 2024-09-17", "Version 5.12 (12.09.2024)".
_LABEL = r"(?:version|release|firmware|update|build|v\.?)"
_LABELS = terms("version release firmware update build")
_HEADING = lazy_pattern(
    rf"(?P<name>(?:[^\W\d_][\w-]*[ \t]+){{0,3}}?)(?P<label>{_LABEL}[ \t]*)?(?P<bracket>[\[(])?(?:v\.?)?"
    rf"(?P<version>{_VERSION})(?![\w.])[\])]?(?P<rest>.*)",
    re.IGNORECASE,
)
_UNRELEASED = lazy_pattern(r"\W*(?:unreleased|upcoming|next)\b\W*", re.IGNORECASE)
_MARKS = lazy_pattern(r"[\s#*=_~^-]*(?P<name>.*?)[\s#*=_]*")
_CHANGES = terms("changes changelog history news release releases versions")
_MOST_WORDS_WITH_DATE = 2
_MOST_DOTS = 2
# A line that names a group of changes.
_GROUP = lazy_pattern(
    r"[\W_]*(?:(?:bug ?)?fix(?:e[sd])?|bugs|added|additions|(?:new )?features|new|changed|changes|removed|removals"
    r"|deprecated|deprecations|security|improve(?:ments|d)|breaking(?: changes)?|other|internal|documentation)[\W_]*",
    re.IGNORECASE,
)
_ASKS_FOR_CHANGES = lazy_pattern(
    r"\W*(?:what(?:['’]s| is| are)? (?:the )?(?:new|(?:(?:was|were|is|are|got|has|have|been) )*"
    r"(?:changed?|fixed|added|removed|deprecated|improved|different))\b"
    r"|what (?:did|does|do)\b(?=.* (?:change|fix|add|remove|deprecate|improve|bring|include|introduce)\b)"
    r"|(?:what are |list |show )?(?:all |the )*(?:changes|fixes|bug ?fixes|improvements|release notes|changelog)\b)",
    re.IGNORECASE,
)
_ASKS_WHICH = lazy_pattern(
    r"\W*(?:(?:in|since|from|with|as of) )?(?:what|which) (?P<before>(?:[\w-]+ ){0,2}?)(?:version|release|firmware)\b"
    r"(?: of (?:the )?(?P<after>[\w-]+))?",
    re.IGNORECASE,
)
_ASKS_FOR_LATEST = lazy_pattern(
    r"\W*(?:what(?:['’]s| is)|which is)? ?(?:the )?(?:latest|newest|current|most recent|last) "
    r"(?P<before>(?:[\w-]+ ){0,2}?)(?:version|release)(?: (?:of|for) (?:the )?(?P<after>[\w -]+?))?\W*",
    re.IGNORECASE,
)
# Words right before a version that name what has it: "in pelican 3.1.0".
_NAME_BEFORE = lazy_pattern(
    rf"(?:^|\b(?:by|did|do|does|for|in|is|of|to|was|were|with)\s)\s*(?:the\s+)?(?P<name>(?:(?!of\b|in\b)[\w-]+\s+){{0,2}}?)"
    rf"(?:{_LABEL}\s*)?\Z",
    re.IGNORECASE,
)
# Words that make it another version than the one that is named.
_OTHER = lazy_pattern(r"\b(?:after|before|between|from|since|than|until)\b", re.IGNORECASE)
# Stems that questions have besides the change itself.
_ASKING = terms("new news changed different bring include introduce list show notes got latest current")
_VERBS = terms("add became become begin bring brought came change come contain get got has have include introduce make")
_VERBS |= terms("made need new require ship start support switch use")
_SAME = {"bugfix": "fix", "hotfix": "fix", "drop": "remov", "delet": "remov", "discontinu": "remov"}
_KINDS = terms("added deprecated fixed improved removed")
_REVERSE = frozenset({"remov", "deprec"})
# A longer document is not searched for versions.
_MAX_PASSAGES = 500


# The blocks that answer, and the words that do if that is not all of them.
_Found = tuple[list[Block], str]


class _Line(NamedTuple):
    """A change, or the name of a group of changes."""

    passage: StoredPassage
    span: Span
    group: str
    is_group: bool = False

    @property
    def text(self) -> str:
        return self.passage.text[slice(*self.span)]


@dataclass(slots=True)
class _Release:
    """A version: its heading without marks, and the lines below that; the version is "" if it is not released."""

    version: str
    passage: StoredPassage
    heading: Span
    lines: list[_Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.passage.text[slice(*self.heading)]

    @property
    def date(self) -> str:
        """The only date in its heading, or ""."""
        dates = list(dates_in(self.title))
        return dates[0].text if len(dates) == 1 and is_plainly_dated(self.title, dates[0].text, set()) else ""


@dataclass(slots=True)
class _Changelog:
    """The versions in a document, in order; stems of its title, path and text before them, and of all of it."""

    releases: list[_Release]
    about: set[str]
    words: set[str]


def release_answer(snapshot: Index, question: str, ranked: Sequence[StoredPassage]) -> _Found:
    """Return the answer from a changelog among the documents of some passages; no blocks if none surely answers."""
    has_version = len(_NAMED_VERSION.findall(question)) == 1
    answers: tuple[Callable[[str, _Changelog], _Found | None], ...] = (_answer_which, _answer_latest)
    answers = (*answers, _answer_when, _answer_changes) if has_version else answers
    if not (has_version or _ASKS_WHICH.match(question) or _ASKS_FOR_LATEST.fullmatch(question)):
        return [], ""
    for path, count in {it.document.path: it.document.passages for it in ranked}.items():
        changelog = _changelog(snapshot.passages_of(path) if count <= _MAX_PASSAGES else ())
        for answer in answers if changelog.releases else ():
            if found := answer(question, changelog):
                return found
    return [], ""


def _answer_when(question: str, changelog: _Changelog) -> _Found | None:
    asks = ASKS_WHEN.match(question)
    release = _named_release(question[asks.end() :], changelog, OF_RELEASES) if asks else None
    return ([_heading_block(release)], release.date) if release and release.date else None


def _answer_changes(question: str, changelog: _Changelog) -> _Found | None:
    """Return the changes of a version; only those of the group, or with the verb, that the question names."""
    asks = _ASKS_FOR_CHANGES.match(question)
    kinds = _stems(question) & _KINDS
    release = _named_release(question[asks.end() :], changelog, _ASKING | kinds | {"chang"}) if asks else None
    if release is None or len(kinds) > 1:
        return None
    lines = release.lines
    if kinds:
        of_group = [it for it in lines if kinds <= _stems(it.group)]
        lines = of_group or [it for it in lines if kinds <= _stems(it.text)]
    lines = lines if any(it.is_group for it in release.lines) and not kinds else [it for it in lines if not it.is_group]
    blocks: list[Block] = []
    for passage in {it.passage.id: it.passage for it in lines}.values():
        here = [it for it in lines if it.passage.id == passage.id]
        if all(it.is_group for it in here):
            continue
        marks = tuple(it.span for it in here if not it.is_group)
        blocks.append(Block(passage, marks, "\n".join(_with_marker(it) for it in here)))
    return (blocks, "") if blocks else None


def _answer_which(question: str, changelog: _Changelog) -> _Found | None:
    """Return the only version with a change that has all words of the question."""
    asks = _ASKS_WHICH.match(question)
    if asks is None:
        return None
    name, rest = _stems(f"{asks['before']} {asks['after'] or ''}"), _stems(question[asks.end() :])
    asked = {_SAME.get(stem, stem) for stem in rest} - _VERBS - changelog.about
    found: list[tuple[_Release, _Line]] = []
    for release in changelog.releases:
        for line in release.lines:
            stems_of_line = _stems(f"{line.text} {line.group}")
            is_reverse = stems_of_line & _REVERSE - asked
            elsewhere = changelog.about | {it for it in changelog.words if it not in stems_of_line}
            if release.version and asked <= stems_of_line and not is_reverse and name <= elsewhere:
                found.append((release, line))
    if not asked or len({release.version for release, _ in found}) != 1:
        return None
    release, line = found[0]
    block = Block(line.passage, (line.span,), line.text)
    blocks = [block] if line.passage.id == release.passage.id else [block, _heading_block(release)]
    return blocks, release.version


def _answer_latest(question: str, changelog: _Changelog) -> _Found | None:
    """Return the highest version of a document about what the question names."""
    asks = _ASKS_FOR_LATEST.fullmatch(question)
    released = {it.version: it for it in reversed(changelog.releases) if it.version}
    if asks is None or len(released) == 1 or not _stems(f"{asks['before']} {asks['after'] or ''}") <= changelog.about:
        return None
    latest = max(released, key=lambda it: [int(part) for part in re.findall(r"\d+", it)])
    return [_heading_block(released[latest])], latest


def _named_release(rest: str, changelog: _Changelog, asking: frozenset[str] | set[str]) -> _Release | None:
    """Return the version in the rest of a question, if its other words ask or say what the document is about."""
    match = _NAMED_VERSION.search(rest)
    if match is None or _OTHER.search(rest):
        return None
    version, before = match["version"], rest[: match.start()]
    name = _NAME_BEFORE.search(before)
    of_name = _stems(name["name"]) if name else set()
    others = _stems(f"{before} {rest[match.end() :]}") - asking - OF_RELEASES - _LABELS - changelog.about
    if not others <= of_name & changelog.words:
        return None
    by_version = {release.version.lower(): release for release in reversed(changelog.releases) if release.version}
    return by_version.get(version.lower()) or by_version.get(f"{version}.0")


def _heading_block(release: _Release) -> Block:
    return Block(release.passage, (release.heading,), release.title)


def _changelog(passages: Sequence[StoredPassage]) -> _Changelog:
    """Return the versions in a document, given all its passages."""
    about = {stem for it in passages[:1] for stem in _stems(f"{it.title} {path_words(it.document.path)}")}
    is_named = bool(about & _CHANGES)
    releases: list[_Release] = []
    group = ""
    for passage in passages:
        text = passage.text
        for span in _lines(text):
            is_heading, bare = span[0] < passage.body, _bare(text, span)
            title = text[slice(*bare)]
            if (is_heading or not LIST_MARKER.match(text, *span)) and bare[0] < bare[1]:
                version = _version(title, about, is_named=is_named)
                if version is not None:
                    releases.append(_Release(version, passage, bare))
                    group = ""
                    continue
                if is_heading and releases and releases[-1].title not in passage.heading:
                    releases.append(_Release("", passage, bare))
                    continue
                if is_heading or _GROUP.fullmatch(title):
                    group = title
            elif not title:
                continue
            if releases:
                _add(releases[-1].lines, passage, span, group, is_group=group == title)
            else:
                about |= _stems(title)
    return _Changelog(releases, about, {stem for passage in passages for stem in _stems(passage.text)})


def _add(lines: list[_Line], passage: StoredPassage, span: Span, group: str, *, is_group: bool) -> None:
    """Add a line of a version; one that continues an item is joined to it."""
    text, last = passage.text, lines[-1] if lines else None
    marker = LIST_MARKER.match(text, *span)
    if last and last.passage is passage and not (marker or is_group or last.is_group):
        between = text[last.span[1] : span[0]]
        if "\n" not in between.strip(" \t").removeprefix("\n"):
            lines[-1] = last._replace(span=(last.span[0], span[1]))
            return
    lines.append(_Line(passage, (marker.end() if marker else span[0], span[1]), group, is_group))


def _version(title: str, about: set[str], *, is_named: bool) -> str | None:
    """Return the version of a heading; "" if it is not released, None for other headings.

    It has a date, or is surely a version: in a document of changes, after "version", in brackets, or with two dots.
    """
    if _UNRELEASED.fullmatch(title):
        return ""
    match = _HEADING.fullmatch(title)
    if match is None or not terms(match["name"]) <= about | _LABELS:
        return None
    dates = list(dates_in(title))
    if any(date.span[0] <= match.start("version") < date.span[1] for date in dates):
        return None
    rest = match["rest"]
    for date in dates:
        rest = rest.replace(date.text, " ")
    is_sure = is_named or dates or match["label"] or match["bracket"] or match["version"].count(".") >= _MOST_DOTS
    words = [word for word in stems(rest) if word not in OF_RELEASES]
    return match["version"] if is_sure and len(words) <= (_MOST_WORDS_WITH_DATE if dates else 0) else None


def _lines(text: str) -> Iterator[Span]:
    return (trimmed(text, line.span()) for line in re.finditer(r"\S.*", text))


def _bare(text: str, span: Span) -> Span:
    """Return a line without the marks of a heading."""
    match = _MARKS.fullmatch(text, *span)
    return match.span("name") if match else span


def _with_marker(line: _Line) -> str:
    """Return a line as it is written, with its list marker."""
    text = line.passage.text
    start = line_start(text, line.span[0])
    return line.text.strip(" #*=_:") if line.is_group else text[start : line.span[1]].strip()


def _stems(text: str) -> set[str]:
    return {_SAME.get(stem, stem) for stem in terms(text.replace("_", " "))}
