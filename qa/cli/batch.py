"""A batch of questions: a question a line, or JSON lines with `id` and `question`, told apart line by line."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from corpus.errors import UsageError
from qa.retrieval.query import ask_text

# Of a whole batch: a device without an end is not read until memory is full.
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        line: Where it stands in its file, 1-based.
        id: The caller's own id, or None.
        text: As it will be searched.
        cut: Characters left out at the end, because it is longer than a question can be.
    """

    line: int
    id: str | int | None
    text: str
    cut: int = 0


def read_batch(name: str) -> bytes:
    """Read a batch whole: a file, or stdin for "-".

    Raises:
        UsageError: It cannot be read, or has more bytes than `MOST_BYTES`.
    """
    try:
        if name != "-":
            with Path(name).open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        else:
            stdin = _stdin()
            if stdin is None:
                raise UsageError("--batch - reads stdin, which is closed")
            data = stdin.buffer.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the batch {name}: {reason}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"the batch {name} is larger than {MOST_BYTES // (1024 * 1024)} MiB; ask in several")
    return data


def _stdin() -> TextIO | None:
    return sys.stdin  # None where it came closed, whatever its type says


def parse_batch(data: bytes) -> tuple[Question, ...]:
    """Read a batch; each line that begins with "{" is JSON, any other is the question itself.

    Raises:
        UsageError: A line is not UTF-8, no valid JSON, or asks nothing; the message has its number.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not lines[-1]:
        lines.pop()
    return tuple(_question(number, line) for number, line in enumerate(lines, 1))


def _question(number: int, line: bytes) -> Question:
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"batch line {number} is not UTF-8 (byte {error.start + 1} of the line)") from error
    own_id, question = _from_json(number, text) if text.startswith("{") else (None, text)
    try:
        asked, cut = ask_text(question)
    except UsageError as error:
        raise UsageError(f"batch line {number}: the question is empty") from error
    return Question(number, own_id, asked, cut)


def _from_json(number: int, text: str) -> tuple[str | int | None, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"batch line {number} begins with {{ but is not JSON: {error}") from error
    question, own_id = value.get("question"), value.get("id")
    if not isinstance(question, str):
        raise UsageError(f'batch line {number} has no "question" that is a text')
    if isinstance(own_id, bool) or not isinstance(own_id, str | int | None):
        raise UsageError(f'batch line {number}: "id" must be a text or a whole number')
    return own_id, question
