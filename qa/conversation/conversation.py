"""A conversation with a collection: lines come in, questions and commands, and each is answered on the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from corpus.errors import UsageError
from qa.answer.results import MAX_HITS, Mode, Result
from qa.conversation.follow_up import Turn, next_turn
from qa.filters import Filter
from qa.retrieval.question_text import LONGEST_QUESTION, ask_text

if TYPE_CHECKING:
    from qa.retrieval.retriever import Retriever

ENDS = ("exit", "quit", "/exit", "/quit")
HELP = """\
2              show passage 2 in its context
/open 2        open its file in your editor or viewer; /open and /show also take a place: /show awards.md:12
/path talks/   only matching files; /path by itself: all files again
/topic 3       only topic 3 of qa topics; /topic by itself: all again
/mode keyword  search by words; or dense (by meaning), hybrid (both)
/k 8           how many passages
/json          switch to JSON, and back
/new           start over: follow-ups such as "and who chaired it?" no longer refer to the last question
exit           or Ctrl-D; Ctrl-C drops a line or stops a question"""


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked, until a command changes it; `rerank` stays."""

    k: int
    mode: Mode
    only: Filter
    rerank: bool
    topic: str | None = None
    form: str = "text"

    @property
    def prompt(self) -> str:
        """What stands before the cursor: what part of the collection is asked."""
        part = [*self.only.paths, *([f"topic {self.topic}"] if self.topic else [])]
        return f"{', '.join(part)}> "

    def ask(self, retriever: Retriever, question: str, **other: Any) -> Result:
        """Ask a question in this way."""
        topic = {} if self.topic is None else {"topic": self.topic}
        asked = {"k": self.k, "mode": self.mode, "only": self.only, "rerank": self.rerank, **topic, **other}
        return retriever.ask(question, **asked)


@dataclass(frozen=True, slots=True)
class Screen:
    """What a conversation shows.

    Attributes:
        answer: Shows an answer in a format.
        show: Shows a place of the collection in its context.
        open: Opens the file at a place.
        say: Shows a line about what is done.
    """

    answer: Callable[[Result, str], object]
    show: Callable[[str], None]
    open: Callable[[str], None]
    say: Callable[[str], None]


class Conversation:
    """What was asked, and how the next question is.

    Args:
        retriever: Who answers.
        asking: How questions are asked to begin with.
        screen: Where all is shown.
        refresh: Brings the index up to date before a question.
    """

    def __init__(self, retriever: Retriever, asking: Asking, screen: Screen, refresh: Callable[[], object]) -> None:
        self.asking = asking
        self._retriever, self._screen, self._refresh = retriever, screen, refresh
        self._before: Turn | None = None
        self._last: Result | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: screen.say(HELP),
            "/json": lambda _: self._set(form="json" if self.asking.form != "json" else "text"),
            "/k": self._set_k,
            "/mode": self._set_mode,
            "/new": lambda _: self._forget(),
            "/open": lambda words: screen.open(self._place(words)),
            "/path": self._set_path,
            "/show": lambda words: screen.show(self._place(words)),
            "/topic": self._set_topic,
        }

    @property
    def commands(self) -> tuple[str, ...]:
        """What begins with a slash."""
        return tuple(self._commands)

    @staticmethod
    def is_end(line: str) -> bool:
        """Return whether a line ends the conversation."""
        return line.strip().lower() in ENDS

    def take(self, line: str) -> None:
        """Do what a line says.

        Raises:
            QAError: That cannot be done; all is as it was.
        """
        text = line.strip()
        word, _, rest = text.partition(" ")
        if text.isdecimal():
            self._screen.show(self._place(text))
        elif command := self._commands.get(word):
            command(rest.strip())
        elif word.startswith("/"):
            raise UsageError(f"no command {word}. Commands: {', '.join(self._commands)}.")
        elif text:
            self._ask(text)

    def _ask(self, typed: str) -> None:
        turn = next_turn(typed, self._before)
        question, cut = ask_text(turn.question)
        if cut:
            self._screen.say(f"Question cut to {LONGEST_QUESTION:,} characters; the last {cut:,} are ignored")
        elif question != typed:
            self._screen.say(f"Asked: {question}")
        self._refresh()
        found = self.asking.ask(self._retriever, question)
        # A whole sentence says what an answer is about no better than the question does.
        is_exact = (
            found.found and found.answer is not None and found.answer.text.strip() != found.answer.sentence.strip()
        )
        exact = " ".join(found.answer.text.split()) if is_exact and found.answer else ""
        self._before = Turn(question, exact, turn.first)
        self._last = found
        self._screen.answer(found, self.asking.form)

    def _place(self, words: str) -> str:
        """The place that a number of a passage, or a place itself, means."""
        if not words.isdecimal():
            if not words:
                raise UsageError("which one? Give the number of a passage, or a place such as awards.md:12.")
            return words
        passages = () if self._last is None else self._last.passages
        found = next((hit.id for hit in passages if str(hit.rank) == words.lstrip("0")), None)
        if found is None:
            raise UsageError(f"there is no passage {words[:20]}; the last answer has {len(passages)}.")
        return found

    def _forget(self) -> None:
        self._before = None

    def _set(self, **changed: Any) -> None:
        asking = replace(self.asking, **changed)
        if (asking.only, asking.topic) != (self.asking.only, self.asking.topic):
            # What there is not is an error now, and not at every question from here on.
            asking.ask(self._retriever, "?", k=1, mode=Mode.KEYWORD, rerank=False)
        self.asking = asking

    def _set_path(self, words: str) -> None:
        self._set(only=replace(self.asking.only, paths=(words,) if words else ()))

    def _set_topic(self, words: str) -> None:
        self._set(topic=words or None)

    def _set_k(self, words: str) -> None:
        if not words.isdecimal() or not 1 <= int(words[:9]) <= MAX_HITS:
            raise UsageError(f"/k needs a number from 1 to {MAX_HITS:,}, such as /k 8.")
        self._set(k=int(words))

    def _set_mode(self, words: str) -> None:
        try:
            self._set(mode=Mode(words))
        except ValueError as error:
            raise UsageError(f"/mode takes {', '.join(Mode)}.") from error
