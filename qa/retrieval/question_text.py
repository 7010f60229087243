"""Check a question and prepare its text. Imports nothing heavy, as the command line checks its input with it."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.errors import UsageError
from qa.answer.results import DEFAULT_K, LONGEST_QUESTION, MAX_HITS, Mode
from qa.require import ModeName, require_member, require_type


def ask_text(text: str) -> tuple[str, int]:
    """Make a question searchable: stripped, without lone surrogates, at most 10,000 characters.

    Returns:
        The question, and how many characters were cut off.

    Raises:
        UsageError: It is empty.
    """
    stripped = without_surrogates(text).strip()
    if not stripped:
        raise UsageError('the question is empty. Ask something, such as: qa "who won?"')
    return stripped[:LONGEST_QUESTION], max(0, len(stripped) - LONGEST_QUESTION)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which come from command lines and JSON with invalid Unicode, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A valid question and how to answer it; see `Retriever.ask`."""

    question: str
    k: int
    mode: Mode
    rerank: bool
    question_id: str | int | None

    @classmethod
    def of(
        cls, question: str, k: int = DEFAULT_K, mode: Mode | ModeName = Mode.HYBRID, *, rerank: bool = True,
        question_id: str | int | None = None,
    ) -> AskRequest:  # fmt: skip
        """Check a caller's arguments, and strip the question; raises UsageError or TypeError."""
        require_type("question", question, str)
        require_type("rerank", rerank, bool)
        if question_id is not None:
            require_type("question_id", question_id, str, int)
        text = without_surrogates(question).strip()
        if not text:
            raise UsageError("the question is empty.")
        if len(text) > LONGEST_QUESTION:
            raise UsageError(f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} at most.")
        k, mode = checked_k(k), require_member("mode", mode, Mode)
        return cls(question=text, k=k, mode=mode, rerank=rerank, question_id=question_id)


def checked_k(k: int) -> int:
    """Return how many passages are wanted if that is valid; raises UsageError or TypeError."""
    require_type("k", k, int)
    if not 1 <= k <= MAX_HITS:
        raise UsageError(f"k must be from 1 to {MAX_HITS:,}, not {k}.")
    return k
