"""A batch of questions: one per line, as plain text or as JSON with `id` and `question`."""

from __future__ import annotations

import json
from dataclasses import dataclass

import click

from corpus.errors import UsageError
from qa.retrieval.question_text import ask_text

# The largest batch, so that an endless device does not fill the memory.
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BatchItem:
    """A question of a batch, or of the command line (line 0); `cut` characters were removed from its end."""

    line: int
    id: str | int | None
    text: str
    cut: int = 0

    @property
    def prefix(self) -> str:
        """The prefix of notes about this question."""
        return f"Batch line {self.line}: " if self.line else ""


def questions_of(words: tuple[str, ...], batch: str | None) -> tuple[BatchItem, ...]:
    """Return the question on the command line, or those of a batch; giving both is a UsageError."""
    if batch is None:
        return (BatchItem(0, None, *ask_text(" ".join(words))),)
    if words:
        raise UsageError("give a question or --batch, not both.")
    return parse_batch(read_batch(batch))


def read_batch(name: str) -> bytes:
    """Read a batch from a file, or from stdin for "-"; more than `MAX_BYTES` is a UsageError."""
    try:
        with click.open_file(name, "rb") as file:
            data: bytes = file.read(MAX_BYTES + 1)
    except RuntimeError as error:
        raise UsageError("--batch - reads stdin, which is closed.") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the batch {name}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"the batch {name} is larger than {MAX_BYTES // (1024 * 1024)} MiB. Split it.")
    return data


def parse_batch(data: bytes) -> tuple[BatchItem, ...]:
    """Return the questions of a batch; a line that starts with "{" is JSON, any other is the question itself.

    Blank lines are skipped; a line that is not UTF-8, not valid JSON or has no question is a UsageError.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return tuple(_parse_line(number, line) for number, line in enumerate(lines, 1) if line.strip())


def _parse_line(number: int, line: bytes) -> BatchItem:
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"batch line {number} is not UTF-8 (byte {error.start + 1} of the line)") from error
    question_id, question = _parse_json(number, text) if text.startswith("{") else (None, text)
    try:
        return BatchItem(number, question_id, *ask_text(question))
    except UsageError as error:
        raise UsageError(f"batch line {number}: the question is empty") from error


def _parse_json(number: int, text: str) -> tuple[str | int | None, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"batch line {number} starts with {{ but is not valid JSON: {error}") from error
    if "question" not in value:
        raise UsageError(f'batch line {number} has no "question"')
    question, question_id = value["question"], value.get("id")
    if not isinstance(question, str):
        raise UsageError(f'batch line {number}: "question" must be a string')
    if isinstance(question_id, bool) or not isinstance(question_id, str | int | None):
        raise UsageError(f'batch line {number}: "id" must be a string or an integer')
    return question_id, question
