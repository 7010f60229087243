"""Answer from rows of a whole table, with the passages that contain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from index import StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Answer, Highlight
from qa.tables.whole_table import Row

# At most this many rows of one passage are highlighted.
_MAX_HIGHLIGHTS = 10


@dataclass(frozen=True, slots=True)
class RowsAnswer:
    """Rows that answer, in the order of their table.

    Attributes:
        rows: The rows.
        column: The number of the column that the question asks for.
        names: Where the answering cells are, if not in the rows, as those cite a transposed table's line.
    """

    rows: tuple[Row, ...]
    column: int
    names: tuple[Row, ...] = ()

    @property
    def cells(self) -> list[str]:
        """The distinct answering cells, in order."""
        return list(dict.fromkeys(row.cells[self.column].strip() for row in self.rows))

    @property
    def passages(self) -> list[StoredPassage]:
        """The passages with the rows, in order."""
        return list({row.passage.id: row.passage for row in (*self.rows, *self.names)}.values())

    def answer(self, passages: Sequence[StoredPassage]) -> Answer | None:
        """Answer with the cells of the rows in the passages that are shown, as a list if there are several."""
        ranks = {passage.id: rank for rank, passage in enumerate(passages, start=1)}
        shown = [row for row in self.rows if row.passage.id in ranks]
        if not shown:
            return None
        texts: dict[str, dict[int, None]] = {}
        for row in shown:
            texts.setdefault(row.cells[self.column].strip(), {})[ranks[row.passage.id]] = None
        cited = tuple(dict.fromkeys(ranks[it.passage.id] for it in (*shown, *self.names) if it.passage.id in ranks))
        text = "\n".join(f"- {text}" for text in texts) if len(texts) > 1 else next(iter(texts))
        sentence = _text(shown[0]) if len(shown) == 1 else text
        more, by_line = len(self.rows) - len(shown), tuple(map(tuple, texts.values())) if len(texts) > 1 else ()
        return Answer(text, cited, sentence=sentence, more=more, cited_by_line=by_line)

    def extracts(self) -> dict[int, Extract]:
        """Return the rows as highlights, by the row numbers of their passages."""
        extracts = {}
        for passage in self.passages:
            rows = [row for row in (*self.rows, *self.names) if row.passage.id == passage.id]
            highlights = tuple(Highlight.of(passage, row.span) for row in rows[:_MAX_HIGHLIGHTS])
            extracts[passage.id] = Extract(highlights, 1.0, rows[0].span, _text(rows[0]))
        return extracts


def _text(row: Row) -> str:
    return row.passage.text[slice(*row.span)]
