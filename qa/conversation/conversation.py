"""A conversation with a collection: lines of input are questions or commands, answered on the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from corpus.errors import UsageError
from qa.answer.results import LONGEST_QUESTION, MAX_HITS, Mode, Result
from qa.conversation.follow_up import Turn, next_turn
from qa.filters import Filter
from qa.require import either
from qa.retrieval.question_text import ask_text

if TYPE_CHECKING:
    from qa.retrieval.retriever import Retriever

END_COMMANDS = ("exit", "quit", "/exit", "/quit")
HELP = """\
2              show passage 2 in its context
/open 2        open its file in your editor or viewer; /open and /show also take a place: /show awards.md:12
/path talks/   search matching files only; /path: search all files
/topic 3       search topic 3 of qa topics only; /topic: search all topics
/mode keyword  search by words; or dense (by meaning), hybrid (both)
/k 8           how many passages
/json          switch to JSON, and back
/new           start over: follow-ups such as "and who chaired it?" no longer refer to the last question
exit           or Ctrl-D; Ctrl-C drops a line or stops a question"""


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How to ask questions, until a command changes it; no command changes `rerank`."""

    k: int
    mode: Mode
    only: Filter
    rerank: bool
    topic: str | None = None
    form: str = "text"

    @property
    def prompt(self) -> str:
        """The prompt; it names the part of the collection that is searched."""
        part = [*self.only.paths, *([f"topic {self.topic}"] if self.topic else [])]
        return f"{', '.join(part)}> "

    def ask(self, retriever: Retriever, question: str, **overrides: Any) -> Result:
        """Ask a question with these options."""
        chosen = {name: getattr(self, name) for name in ("k", "mode", "only", "topic", "rerank")}
        return retriever.ask(question, **chosen | overrides)


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a conversation shows its output.

    Attributes:
        answer: Shows an answer in a format.
        show: Shows a place of the collection in its context.
        open: Opens the file at a place.
        say: Shows a status line.
    """

    answer: Callable[[Result, str], object]
    show: Callable[[str], None]
    open: Callable[[str], None]
    say: Callable[[str], None]


class Conversation:
    """The state of a conversation: the last question and answer, and the options for the next.

    Args:
        retriever: Answers the questions.
        options: The initial options.
        screen: Shows all output.
        refresh: Brings the index up to date before a question.
    """

    def __init__(self, retriever: Retriever, options: AskOptions, screen: Screen, refresh: Callable[[], Any]) -> None:
        self.options = options
        self._retriever, self._screen, self._refresh = retriever, screen, refresh
        self._previous_turn: Turn | None = None
        self._last_result: Result | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: screen.say(HELP),
            "/json": lambda _: self._set(form="json" if self.options.form != "json" else "text"),
            "/k": self._set_k,
            "/mode": self._set_mode,
            "/new": lambda _: self._start_over(),
            "/open": lambda argument: screen.open(self._place(argument)),
            "/path": self._set_path,
            "/show": lambda argument: screen.show(self._place(argument)),
            "/topic": lambda topic: self._set(topic=topic or None),
        }

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands, each beginning with a slash."""
        return tuple(self._commands)

    @staticmethod
    def is_end(line: str) -> bool:
        """Return whether a line ends the conversation."""
        return line.strip().lower() in END_COMMANDS

    def execute(self, line: str) -> None:
        """Execute a line of input.

        Raises:
            QAError: The line cannot be executed; the state is unchanged.
        """
        text = line.strip()
        word, _, argument = text.partition(" ")
        if text.isdecimal():
            self._screen.show(self._place(text))
        elif command := self._commands.get("/help" if text.lower() == "help" else word):
            command(argument.strip())
        elif word.startswith("/"):
            raise UsageError(f"no command {word}. Commands: {', '.join(self._commands)}.")
        elif text:
            self._ask(text)

    def _ask(self, typed: str) -> None:
        turn = next_turn(typed, self._previous_turn)
        question, excess = ask_text(turn.question)
        if excess:
            self._screen.say(f"Question cut to {LONGEST_QUESTION:,} characters; the last {excess:,} are ignored")
        elif question != typed:
            self._screen.say(f"Asked: {question}")
        self._refresh()
        result = self.options.ask(self._retriever, question)
        answer = result.answer if result.found else None
        # An answer that is a sentence names the topic of a follow-up no better than the question.
        is_exact = answer is not None and answer.text.strip() != answer.sentence.strip()
        exact = " ".join(answer.text.split()) if is_exact and answer else ""
        self._previous_turn = Turn(question, exact, turn.topic_question)
        self._last_result = result
        self._screen.answer(result, self.options.form)

    def _place(self, argument: str) -> str:
        """Return the id of the passage with a number, or the argument itself if it is a place."""
        if not argument.isdecimal():
            if not argument:
                raise UsageError("expected the number of a passage, or a place such as awards.md:12.")
            return argument
        passages = () if self._last_result is None else self._last_result.passages
        passage_id = next((hit.id for hit in passages if str(hit.rank) == argument.lstrip("0")), None)
        if passage_id is None:
            raise UsageError(f"there is no passage {argument[:20]}; the last answer has {len(passages)}.")
        return passage_id

    def _start_over(self) -> None:
        self._previous_turn = None

    def _set(self, **changes: Any) -> None:
        options = replace(self.options, **changes)
        if (options.only, options.topic) != (self.options.only, self.options.topic):
            # Fail now if the files or topic do not exist, not at every later question.
            self._refresh()
            options.ask(self._retriever, "?", k=1, mode=Mode.KEYWORD, rerank=False)
        self.options = options

    def _set_path(self, pattern: str) -> None:
        self._set(only=replace(self.options.only, paths=(pattern,) if pattern else ()))

    def _set_k(self, number: str) -> None:
        k = int(number) if number.isdecimal() and len(number) < 10 else 0
        if not 1 <= k <= MAX_HITS:
            raise UsageError(f"/k needs a number from 1 to {MAX_HITS:,}, such as /k 8.")
        self._set(k=k)

    def _set_mode(self, name: str) -> None:
        try:
            self._set(mode=Mode(name))
        except ValueError as error:
            raise UsageError(f"/mode takes {either(Mode)}.") from error
