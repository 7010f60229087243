"""Where lines come from: prompt_toolkit if it is installed, else `input`, which readline edits where Python has it."""

# ruff: noqa: PLC0415 - what edits lines is imported for a conversation alone

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from qa.conversation.history import LineHistory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit.history import History

# Reads a line behind a prompt; EOFError at the end, KeyboardInterrupt where the line is dropped.
ReadLine = Callable[[str], str]


def line_input(history: LineHistory, commands: Sequence[str]) -> ReadLine:
    """Return what reads lines from the terminal, with a history, and commands to complete."""
    try:
        return _edited(history, commands)
    except ModuleNotFoundError:
        return _plain(history)


def _edited(history: LineHistory, commands: Sequence[str]) -> ReadLine:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter

    completer = WordCompleter(list(commands), sentence=True)
    session: PromptSession[str] = PromptSession(
        history=_shared(history), completer=completer, complete_while_typing=False
    )
    return session.prompt


def _shared(history: LineHistory) -> History:
    from prompt_toolkit.history import History

    class _PromptHistory(History):
        def load_history_strings(self) -> Iterable[str]:
            return reversed(history.lines)

        def store_string(self, string: str) -> None:
            history.add(string)

    return _PromptHistory()


def _plain(history: LineHistory) -> ReadLine:
    try:
        import readline
    except ModuleNotFoundError:  # Windows: its console edits lines itself
        pass
    else:
        for line in history.lines:
            readline.add_history(line)

    def read(prompt: str) -> str:
        line = input(prompt)
        history.add(line)
        return line

    return read
