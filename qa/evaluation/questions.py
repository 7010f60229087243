"""Reads and validates questions with known answers from JSON lines."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

from corpus.errors import UsageError
from qa.retrieval.question_text import ask_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """Where an answer is: in these characters of a file, in a text to find in it, or anywhere in it."""

    file: str
    chars: tuple[int, int] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question and its answer; its id defaults to its line number.

    Attributes:
        evidence: For each piece of the answer, a tuple of alternative spans; any of them is enough.
        relevant: Paths or passage ids with their grades, from 1.
        cut: How many characters were cut from the end of a question that was too long.
        file: The file that the question is about, even if it is unanswerable, or "".
    """

    id: str
    question: str
    answerable: bool = True
    evidence: tuple[tuple[EvidenceSpan, ...], ...] = ()
    relevant: tuple[tuple[str, int], ...] = ()
    cut: int = 0
    file: str = ""


def read_questions(file: Path) -> tuple[EvalQuestion, ...]:
    """Read questions, one JSON object per line.

    Each has `question` and one of these:

    - `evidence`: [{"file", "text"}] or [{"file", "start", "end"}], each a piece of the answer;
    - `file` with `start` and `end`, or `spans`: [{"file", "start", "end"}], each a piece of the answer, with
      `alt_spans` as alternatives to the first piece;
    - `file` alone: any passage of it answers;
    - `relevant`: {path or passage id: grade};
    - `"answerable": false`.

    `id` is optional. Characters are code points, the end is exclusive.

    Raises:
        UsageError: The file cannot be read, or a line is invalid; the message has its number.
    """
    questions = []
    lines_by_id: dict[str, int] = {}
    try:
        lines = file.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{file} line {number}"
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where} is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise UsageError(f"{where} is not a JSON object")
        try:
            question = _parse_question(number, value)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        first = lines_by_id.setdefault(question.id, number)
        if first != number:
            raise UsageError(f"{where}: the id {question.id} is already used in line {first}")
        questions.append(question)
    if not questions:
        raise UsageError(f"{file} has no questions")
    return tuple(questions)


def sample(questions: Sequence[T], count: int | None) -> tuple[T, ...]:
    """Return a random sample, the same in every run and in file order; all questions if `count` is None."""
    if count is None or count >= len(questions):
        return tuple(questions)
    chosen = set(random.Random(0).sample(range(len(questions)), count))  # noqa: S311 - not for secrets
    return tuple(question for number, question in enumerate(questions) if number in chosen)


def _parse_question(number: int, value: dict[str, Any]) -> EvalQuestion:
    key = value.get("id", number)
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise UsageError('"id" must be a string or an integer')
    question = value.get("question")
    if not isinstance(question, str):
        raise UsageError('"question" must be a string')
    try:
        text, cut = ask_text(question)
    except UsageError as error:
        raise UsageError("the question is empty") from error
    answerable = value.get("answerable", True)
    if not isinstance(answerable, bool):
        raise UsageError('"answerable" must be true or false')
    file = value.get("file") or ""
    if not answerable:
        return EvalQuestion(str(key), text, answerable=False, cut=cut, file=file if isinstance(file, str) else "")
    evidence, relevant = _parse_evidence(value), _parse_relevant(value.get("relevant"))
    if not evidence and not relevant:
        raise UsageError('no answer given: add "evidence", "file" or "relevant", or "answerable": false')
    file = file or (evidence[0][0].file if evidence else "")
    return EvalQuestion(str(key), text, evidence=evidence, relevant=relevant, cut=cut, file=file)


def _parse_evidence(value: dict[str, Any]) -> tuple[tuple[EvidenceSpan, ...], ...]:
    file = value.get("file")
    if value.get("evidence") is not None:
        return tuple((_parse_span(item, file),) for item in _list_in(value, "evidence"))
    spans = [(_parse_span(item, file),) for item in _list_in(value, "spans")]
    alternatives = tuple(_parse_span(item, file) for item in _list_in(value, "alt_spans"))
    if alternatives:
        return ((*(spans[0] if spans else ()), *alternatives), *spans[1:])
    if spans or file is None:
        return tuple(spans)
    return ((_parse_span({"file": file, "start": value.get("start"), "end": value.get("end")}, file),),)


def _list_in(value: dict[str, Any], name: str) -> list[Any]:
    items = value.get(name)
    if items is None:
        return []
    if not isinstance(items, list):
        raise UsageError(f'"{name}" must be a list')
    return items


def _parse_span(value: Any, default_file: Any) -> EvidenceSpan:
    """Parse a span, which is an object, or [start, end] in the question's file."""
    if isinstance(value, list) and len(value) == 2:
        value = {"file": default_file, "start": value[0], "end": value[1]}
    if not isinstance(value, dict):
        raise UsageError('a span must be an object such as {"file": "a.md", "start": 0, "end": 10}')
    file = value.get("file", default_file)
    if not isinstance(file, str) or not file:
        raise UsageError('a span needs a "file", a string')
    start, end, text = value.get("start"), value.get("end"), value.get("text")
    if start is not None or end is not None:
        return EvidenceSpan(file, _parse_chars(start, end))
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise UsageError('the "text" of a span must be a non-empty string')
    return EvidenceSpan(file, text=text)


def _parse_chars(start: Any, end: Any) -> tuple[int, int]:
    if _is_int(start) and _is_int(end) and 0 <= start < end:
        return start, end
    raise UsageError(f'"start" and "end" must be integers from 0, the end above the start, not {start!r} and {end!r}')


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _parse_relevant(value: Any) -> tuple[tuple[str, int], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict) or not all(_is_int(grade) and grade >= 0 for grade in value.values()):
        raise UsageError('"relevant" must map paths or passage ids to grades, integers from 0')
    if not any(value.values()):
        raise UsageError('"relevant" has no grade above 0')
    return tuple((name, grade) for name, grade in value.items() if grade)
