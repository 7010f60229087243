"""Search for what is similar to a place, a document, a record or a text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import UsageError
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.qa.indexes import build, opened

NOTES = {
    "a.md": "# Whales\n\nWhales sing deep songs below water.\n\n## Trains\n\nTrains leave the station at noon.\n",
    "b.md": "Whales sing below water all night.\n",
    "c.md": "Whales sing deep songs below water.\n",
    "d.md": "Whales sing deep songs below water 1999.\n",
    "e.md": "Bakers knead dough.\n",
}
PAPERS = (
    "title,abstract\nWhale songs,whales sing deep songs\nTrain times,trains leave at noon\nArctic,arctic whales sing\n"
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    build(tmp_path, NOTES)
    return tmp_path


@pytest.fixture
def retriever(notes: Path) -> Iterator[Retriever]:
    with opened(notes) as retriever:
        yield retriever


def paths(retriever: Retriever, what: str, **options: object) -> list[str]:
    similar = retriever.similar(what, **options)  # type: ignore[arg-type]
    assert similar.passages is not None
    return [hit.source.path for hit in similar.passages]


def test_the_passage_itself_and_its_duplicates_are_left_out(retriever: Retriever) -> None:
    """`c.md` equals and `d.md` nearly equals lines 1 to 3 of `a.md`."""
    similar = retriever.similar("a.md:3", k=2)
    assert similar.of.place == "a.md:1-3"
    assert similar.passages is not None
    assert similar.passages[0].citation == "b.md:1"
    assert not {"c.md", "d.md"} & set(paths(retriever, "a.md:3"))
    assert {"a.md", "c.md", "d.md"} <= set(paths(retriever, "c.md", keep_all=True))


def test_indexed_text_is_not_embedded_again(notes: Path) -> None:
    encoder = BagEncoder()
    with opened(notes, encoder=encoder) as retriever:
        retriever.similar("a.md:3")
        retriever.similar("a.md", unit="documents")
        assert encoder.embedded == []
        retriever.similar("whales below")
        assert encoder.embedded == ["whales below"]


def test_scores_are_cosines_with_the_stored_vector(retriever: Retriever) -> None:
    """An exhaustive search over the vectors of all passages finds the same scores."""
    (passage,) = retriever.snapshot.passages_of("b.md")
    columns = retriever.snapshot.columns()
    vectors = retriever.snapshot.vectors(columns.vectors.tolist()).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors[columns.vectors.tolist().index(passage.vector)]
    similar = retriever.similar(passage.key, k=len(cosines), keep_all=True)
    assert [hit.score for hit in similar.passages or ()] == pytest.approx(sorted(cosines)[::-1], abs=1e-3)


def test_k_and_a_filter(retriever: Retriever) -> None:
    assert paths(retriever, "e.md", k=1) == paths(retriever, "e.md", k=5)[:1]
    assert paths(retriever, "b.md", path="[ce].md") == ["c.md", "e.md"]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        *((path, "not in the collection") for path in ("z.md", "z.md:3", "sub/z.txt")),
        ("", "nothing to compare"),
        ("  ", "nothing to compare"),
        ("a.md:90", "a.md has no text at line 90"),
        ("a.md#page=3", "a.md has no text on page 3"),
        ("new.md", "not in the index"),
    ],
)
def test_places_without_passages_are_refused(what: str, message: str, notes: Path, retriever: Retriever) -> None:
    (notes / "new.md").write_text("Whales.\n")
    with pytest.raises(UsageError, match=message):
        retriever.similar(what)


def test_a_text_longer_than_the_models_limit_is_embedded_in_parts(notes: Path) -> None:
    encoder = BagEncoder(max_tokens=20)
    with opened(notes, encoder=encoder) as retriever:
        retriever.similar("Dough rises slowly. " * 20 + "Whales sing.")
        assert len(encoder.embedded) > 1
        assert any("Whales sing." in text for text in encoder.embedded)


def test_similar_documents_have_passages_that_show_why(retriever: Retriever) -> None:
    similar = retriever.similar("a.md:5", unit="documents", k=2)
    assert similar.of.place == "a.md"
    assert similar.documents is not None
    first = similar.documents[0]
    assert first.place.endswith(".md")
    assert first.because[0][0] == "a.md:1-3"
    assert first.because[0][1].startswith(first.path)
    assert "a.md" not in [document.path for document in similar.documents]


def test_records_are_documents(tmp_path: Path) -> None:
    """A row of a table is similar to other rows."""
    build(tmp_path, {"papers.csv": PAPERS})
    with opened(tmp_path) as retriever:
        similar = retriever.similar("papers.csv, row 2", unit="documents")
        assert similar.of.title == "Whale songs"
        assert similar.documents is not None
        assert [document.title for document in similar.documents] == ["Arctic", "Train times"]
        assert similar.documents[0].place == "papers.csv, row 4"
