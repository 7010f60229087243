"""An answer in prose on the terminal: each sentence with its citations, and its mark if it is unsupported."""

from __future__ import annotations

from qa.answer.results import Ending, ProseSentence, Writing
from qa.terminal.answers import WARN, TerminalStyle


def sentence(one: ProseSentence, style: TerminalStyle) -> str:
    """Return a sentence as lines, an unsupported one marked, with what is wrong below it."""
    cited = "".join(f" [{rank}]" for rank in one.citations)
    if one.state == "supported":
        return style.fit(one.text + cited) + "\n"
    shown = style.fit(f"! {one.text}{cited}") + "\n" + style.fit(f"not supported: {one.reason}", indent="    ")
    return "\n".join(style.paint(line, WARN) for line in shown.split("\n")) + "\n"


def ending(writing: Writing, style: TerminalStyle) -> str:
    """Return what is to be said once the last sentence is there; "" if that is nothing."""
    lines = []
    if writing.ending is Ending.REFUSED:
        lines.append(style.fit(f"{writing.llm} finds no answer in these passages."))
    if writing.left_out:
        count = "1 sentence" if writing.left_out == 1 else f"{writing.left_out} sentences"
        lines.append(style.fit(f"Left out as unsupported: {count}."))
    return "".join(f"{line}\n" for line in lines)
