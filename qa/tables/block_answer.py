"""Answer with whole blocks of documents: a command, the changes of a release, the items below "Ingredients"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from index import Index, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Answer, Highlight
from qa.tables.introduced import Block, command_block, entry_block, ingredients_block, task_block

_NEGATED = re.compile(r"\b(?:not|no|never|neither|without|except|besides|\w+n['’]t)\b", re.IGNORECASE)
_MAY_BE_ABOUT_VERSIONS = re.compile(r"\d\.\d|version|release|firmware", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BlockAnswer:
    """Blocks that answer.

    Attributes:
        blocks: In the order of the text; one a passage.
        name: The words that answer, if that is not the text of the blocks.
    """

    blocks: tuple[Block, ...]
    name: str = ""

    @property
    def passages(self) -> list[StoredPassage]:
        """The passages with the blocks, in order."""
        return [block.passage for block in self.blocks]

    def answer(self, passages: Sequence[StoredPassage]) -> Answer | None:
        """Answer with the blocks in the passages that are shown; None if there is none."""
        ranks = {passage.id: rank for rank, passage in enumerate(passages, start=1)}
        shown = [(ranks[it.passage.id], it.text) for it in self.blocks if it.passage.id in ranks]
        if not shown:
            return None
        text = "\n".join(text for _, text in shown)
        cited = tuple(rank for rank, _ in shown)
        if self.name:
            return Answer(self.name, cited, sentence=text)
        by_line = tuple((rank,) for rank, text in shown for _ in text.split("\n")) if len(shown) > 1 else ()
        return Answer(text, cited, sentence=text, cited_by_line=by_line)

    def extracts(self) -> dict[int, Extract]:
        """Return the lines of the blocks as highlights, by the row numbers of their passages."""
        extracts = {}
        for passage, lines, text in self.blocks:
            highlights = (Highlight((passage.start + a, passage.start + b), passage.text[a:b]) for a, b in lines)
            extracts[passage.id] = Extract(tuple(highlights), 1.0, (lines[0][0], lines[-1][1]), text)
        return extracts


def block_answer(snapshot: Index, question: str, ranked: Sequence[StoredPassage]) -> BlockAnswer | None:
    """Return the blocks that a question surely asks for; None if there are none."""
    if command := command_block(snapshot, question, ranked):
        return BlockAnswer((command,))
    if _NEGATED.search(question):
        return None
    block = (
        task_block(snapshot, question, ranked) or ingredients_block(question, ranked) or entry_block(question, ranked)
    )
    if block is not None:
        return BlockAnswer((block,))
    if not _MAY_BE_ABOUT_VERSIONS.search(question):
        return None
    from qa.tables.releases import release_answer  # noqa: PLC0415 - few questions are about versions

    blocks, name = release_answer(snapshot, question, ranked)
    return BlockAnswer(tuple(blocks), name) if blocks else None
