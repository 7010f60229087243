"""The answer from the rows of a whole table, and the passages that show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from index import Index, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Answer, Highlight
from qa.tables.table_question import asks_for_rows, select_rows
from qa.tables.whole_table import Row, whole_tables

# Rows of one passage that are highlighted.
_MAX_HIGHLIGHTS = 10


@dataclass(frozen=True, slots=True)
class RowsAnswer:
    """Rows that answer, in the order of their table.

    Attributes:
        rows: The rows.
        column: The number of the column that was asked for.
    """

    rows: tuple[Row, ...]
    column: int

    @property
    def cells(self) -> list[str]:
        """What answers, each once."""
        return list(dict.fromkeys(row.cells[self.column].strip() for row in self.rows))

    @property
    def passages(self) -> list[StoredPassage]:
        """Those that have the rows, in order."""
        return list({row.passage.id: row.passage for row in self.rows}.values())

    def answer(self, passages: Sequence[StoredPassage]) -> Answer | None:
        """The cells of the rows in the passages that are shown, as a list where there are several."""
        ranks = {one.id: rank for rank, one in enumerate(passages, start=1)}
        shown = [row for row in self.rows if row.passage.id in ranks]
        if not shown:
            return None
        texts = list(dict.fromkeys(row.cells[self.column].strip() for row in shown))
        cited = tuple(dict.fromkeys(ranks[row.passage.id] for row in shown))
        text = "\n".join(f"- {one}" for one in texts) if len(texts) > 1 else texts[0]
        sentence = _text(shown[0]) if len(shown) == 1 else text
        return Answer(text, cited, sentence=sentence, more=len(self.rows) - len(shown))

    def extracts(self) -> dict[int, Extract]:
        """The rows as what is highlighted, by the row number of their passages."""
        found = {}
        for passage in self.passages:
            rows = [row for row in self.rows if row.passage.id == passage.id]
            marked = (
                Highlight((passage.start + row.span[0], passage.start + row.span[1]), _text(row))
                for row in rows[:_MAX_HIGHLIGHTS]
            )
            found[passage.id] = Extract(tuple(marked), 1.0, rows[0].span, _text(rows[0]))
        return found


def rows_answer(snapshot: Index, question: str, ranked: Sequence[StoredPassage]) -> RowsAnswer | None:
    """The rows that a question asks for, of the table that explains it, in a document that some passages are of.

    None where two tables answer differently: which one is meant is not known.
    """
    if not asks_for_rows(question):
        return None
    found: RowsAnswer | None = None
    for table in whole_tables(snapshot, ranked):
        if (one := select_rows(question, table)) is not None:
            other = RowsAnswer(one.rows, one.column)
            if found is not None and found.cells != other.cells:
                return None
            found = found or other
    return found


def _text(row: Row) -> str:
    return row.passage.text[slice(*row.span)]
