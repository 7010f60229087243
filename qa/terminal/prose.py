"""Answers in prose on the terminal: each sentence with its citations, and marked if it is unsupported."""

from __future__ import annotations

from qa.answer.display import count
from qa.answer.results import Ending, ProseSentence, Writing
from qa.terminal.answers import WARN, TerminalStyle


def render_sentence(prose: ProseSentence, style: TerminalStyle) -> str:
    """Return a sentence as lines; if it is unsupported, marked and with the reason below it."""
    cited = "".join(f" [{rank}]" for rank in prose.citations)
    if prose.state == "supported":
        return style.fit(prose.text + cited) + "\n"
    shown = style.fit(f"! {prose.text}{cited}") + "\n" + style.fit(f"not supported: {prose.reason}", indent="    ")
    return "\n".join(style.paint(line, WARN) for line in shown.split("\n")) + "\n"


def render_ending(writing: Writing, style: TerminalStyle) -> str:
    """Return what to print after the last sentence, or ""."""
    lines = []
    if writing.ending is Ending.REFUSED:
        lines.append(style.fit(f"{writing.llm} finds no answer in these passages."))
    if writing.left_out:
        lines.append(style.fit(f"Left out as unsupported: {count(writing.left_out, 'sentence')}."))
    return "".join(f"{line}\n" for line in lines)
