"""Read lines with prompt_toolkit if it is installed, else with `input`, which uses readline if Python has it."""

# ruff: noqa: PLC0415 - line editors are only imported for a conversation

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from qa.conversation.history import LineHistory

# Reads a line after a prompt; raises EOFError at the end, and KeyboardInterrupt if the line is dropped.
ReadLine = Callable[[str], str]


def line_input(history: LineHistory, commands: Sequence[str]) -> ReadLine:
    """Return a function that reads lines from the terminal, with a history and completion of commands."""
    try:
        return _prompt_toolkit_input(history, commands)
    except ModuleNotFoundError:
        return _plain_input(history)


def _prompt_toolkit_input(history: LineHistory, commands: Sequence[str]) -> ReadLine:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import History

    class PromptHistory(History):
        def load_history_strings(self) -> Iterable[str]:
            return reversed(history.lines)

        def store_string(self, string: str) -> None:
            history.add(string)

    completer = WordCompleter(list(commands), sentence=True)
    session: PromptSession[str] = PromptSession(
        history=PromptHistory(), completer=completer, complete_while_typing=False
    )
    return session.prompt


def _plain_input(history: LineHistory) -> ReadLine:
    with suppress(ModuleNotFoundError):  # Windows: its console edits lines itself
        import readline

        for line in history.lines:
            readline.add_history(line)

    def read(prompt: str) -> str:
        line = input(prompt)
        history.add(line)
        return line

    return read
