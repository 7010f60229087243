"""`qa ask --write`: the options for a language model, and how its answer is shown."""

# ruff: noqa: PLC0415 - imported only when prose is asked for

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from corpus.errors import UsageError
from qa.answer.results import Ending, Result
from qa.cli import session
from qa.terminal import answers

if TYPE_CHECKING:
    from qa.prose import LLMEndpoint
    from qa.retrieval.retriever import Retriever

_OPTIONS = (
    click.option("--write", is_flag=True, help="Have a language model answer in prose, and check each sentence."),
    click.option("--endpoint", metavar="URL", help="The model's OpenAI-compatible API.  [default: QA_LLM_ENDPOINT]"),
    click.option("--llm", metavar="NAME", help="The model's name there.  [default: QA_LLM]"),
    click.option("--llm-timeout", type=click.FloatRange(1, 86_400), metavar="SECONDS", help="Time limit per answer."),
    click.option("--strict", is_flag=True, help="Leave out sentences that the passages do not support."),
)


@dataclass(frozen=True, slots=True)
class ProseWriter:
    """Adds prose to answers.

    Attributes:
        endpoint: The language model.
        strict: Whether unsupported sentences are left out.
    """

    endpoint: LLMEndpoint
    strict: bool

    def __call__(self, result: Result, retriever: Retriever, *, shows: bool) -> Result:
        """Return an answer with prose; with `shows`, print sentences as they arrive."""
        from qa.prose import write
        from qa.terminal import prose

        style = session.style()
        show = (lambda sentence: answers.write_stdout(prose.render_sentence(sentence, style))) if shows else None
        written = write(result, retriever, self.endpoint, strict=self.strict, on_sentence=show)
        if written.writing is not None:
            if written.writing.ending is Ending.FAILED:
                answers.write_stderr(answers.error_line(f"no answer in prose from {written.writing.error}"))
            if shows:
                end = prose.render_ending(written.writing, style)
                answers.write_stdout(end + "\n" if end or (written.answer and written.answer.prose) else "")
        return written


def prose_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options for prose to a command, which gets its argument `writer` from them; None without `--write`."""

    @wraps(command)
    def run(**options: Any) -> int:
        writer = _writer(*(options.pop(name) for name in ("write", "endpoint", "llm", "llm_timeout", "strict")))
        return command(**options, writer=writer)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def _writer(write: bool, url: str | None, llm: str | None, limit: float | None, strict: bool) -> ProseWriter | None:  # noqa: FBT001 - in the order of the options
    if not write:
        if url or llm or limit or strict:
            raise UsageError("--endpoint, --llm, --llm-timeout and --strict are for --write.")
        return None
    from qa.prose import LLMEndpoint

    return ProseWriter(LLMEndpoint.named(url, llm, limit=limit), strict)
