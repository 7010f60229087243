"""Tests that every store of an index must pass."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import NoIndexError
from index.commit.change import BuildMode, ChangeSet, SplitFile
from index.dense.search import Candidate
from index.postgres import keyword_writer
from index.protocol import Index
from index.storage.vectors import vector_digest
from index.stores import is_built, open_index, open_writer, verify_index
from index.update.diff import find_changes
from index.update.report import Request
from index.update.update import rebuild_index
from tests.encoders import BagEncoder
from tests.index.conftest import build
from tests.postgres_server import use_store

# Words in several passages, and a text that occurs twice.
FILES = {
    "cats.md": "# Cats\n\nThe cat sat on the mat.\n\n## Dogs\n\nDogs bark at state-of-the-art robots.\n",
    "birds.txt": "Birds sing in the morning.\n",
    "notes/fish.md": "# Fish\n\nFish swim in the sea.\n\n## Cats\n\nA cat eats fish in the morning.\n",
    "notes/more.txt": "Birds sing in the morning.\n",
}
# A word as long as an encoded image.
LONG = "a1" * 100


@pytest.fixture(params=["embedded", "postgres"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of documents without an index."""
    root = tmp_path / "corpus"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    if request.param == "postgres":
        use_store(root / ".qa", request.getfixturevalue("address"))
    return root


def scores(candidates: list[Candidate]) -> list[tuple[str, float]]:
    return [(candidate.key, candidate.score) for candidate in candidates]


def contents(index: Index) -> list[object]:
    """Check that an index is consistent, and return everything that it returns, except what differs between stores."""
    documents = index.documents()
    files = [replace(file, id=0, checked_ns=0, mtime_ns=0) for file in documents]
    passages = [passage for file in files for passage in index.passages_of(file.path)]
    vector = BagEncoder().encode_query("cats and birds in the morning")
    results: list[object] = [files, [replace(passage, id=0, vector=0, document=files[0]) for passage in passages]]
    assert [index.find(passage.key) for passage in passages] == passages
    for document in documents:
        ids = index.columns(frozenset([document.id])).passages.tolist()
        assert tuple(index.passages(ids)) == index.passages_of(document.path)
        assert index.document(document.path) == document
    assert (index.find("0" * 16), index.document("none.md"), index.passages_of("none.md")) == (None, None, ())
    for scope in (None, index.match_paths("notes/"), index.scope(frozenset(passage.id for passage in passages[::2]))):
        for limit in (1, 3, 100):
            results.append(scores(index.dense(vector, limit, documents=scope)))
            results.append(scores(index.keyword("cat in the sea", limit, documents=scope)))
    for word in ("cat", "sea", f"{LONG}x", f"{LONG}y", "zebra"):
        results.append(scores(index.keyword(word, 9)))
    results.append(index.vectors([passage.vector for passage in passages]).tolist())
    results.append(index.cosines([passage.vector for passage in passages], vector).tolist())
    results.append([[duplicate.key for duplicate in index.duplicates(passages)[passage.id]] for passage in passages])
    key = {passage.id: passage.key for passage in passages}
    for gap in (0, 2, 100):
        results.append([(key[row_id], before.key) for row_id, before in index.preceding(passages, gap).items()])
    results.append([(key[row_id], first.key) for row_id, first in index.openings(passages).items()])
    results.append(index.frequencies(["cat", "morn", "fish", "none"]))
    return results


def test_there_is_no_index_before_the_first_build(folder: Path) -> None:
    assert not is_built(folder / ".qa")
    with pytest.raises(NoIndexError):
        open_index(folder / ".qa")


def test_a_change_of_files(folder: Path) -> None:
    """Only new texts are embedded, and a reader of the old generation keeps it, whatever is committed."""
    build(folder)
    with open_index(folder / ".qa") as old:
        before = contents(old)
        (folder / "birds.txt").write_text("Birds sing at night.\n", encoding="utf-8")
        (folder / "cats.md").rename(folder / "felines.md")
        (folder / "notes" / "more.txt").unlink()
        encoder = BagEncoder()
        report = build(folder, encoder)
        assert (report.added, report.changed, report.removed, encoder.embedded) == (1, 1, 2, ["Birds sing at night."])
        for i in range(3):
            (folder / "birds.txt").write_text(f"Birds sing at {i} o'clock.\n", encoding="utf-8")
            build(folder)
        assert contents(old) == before
        assert not old.is_newest()
        with old.newest() as new:
            assert [document.path for document in new.documents()] == ["birds.txt", "felines.md", "notes/fish.md"]
            assert (new.info.generation, new.info.passages) == (5, 5)
            assert new.keyword("night", 5) == []
    assert verify_index(folder / ".qa").problems == ()


def test_touching_files_creates_no_new_generation(folder: Path) -> None:
    build(folder)
    for name in FILES:
        os.utime(folder / name, (1_000_000_000, 1_000_000_000))
    build(folder)
    with open_index(folder / ".qa") as index:
        assert index.info.generation == 1
        assert [document.mtime_ns for document in index.documents()] == [10**18] * len(FILES)
        assert find_changes(folder, index).is_current


def test_an_interrupted_build_keeps_its_embeddings(folder: Path) -> None:
    """The next build embeds only what is left."""

    class InterruptedEncoder(BagEncoder):
        def encode_passages(self, texts: list[str]) -> np.ndarray:  # type: ignore[override]
            if self.embedded:
                raise KeyboardInterrupt
            return super().encode_passages(texts)

    (folder / "many.txt").write_text(
        "\n\n".join(f"Paragraph {i} " + "word " * 50 for i in range(100)), encoding="utf-8"
    )
    first, second = InterruptedEncoder(), BagEncoder()
    with pytest.raises(KeyboardInterrupt):
        build(folder, first)
    with pytest.raises(NoIndexError):
        open_index(folder / ".qa")
    build(folder, second)
    assert not set(first.embedded) & set(second.embedded)
    assert len(first.embedded) == 64


def test_a_full_build_reuses_every_vector(folder: Path) -> None:
    build(folder)
    with open_index(folder / ".qa") as index:
        before = contents(index)
    encoder = BagEncoder()
    rebuild_index(Request(folder, encoder))
    assert encoder.embedded == []
    with open_index(folder / ".qa") as index:
        assert (contents(index), index.info.generation) == (before, 2)


@pytest.mark.parametrize("text", ["a\0b", "\U0010ffff0 \U0010ffff", "\\0 'x' %s {y}", "é\u0301 \u202e \ufeff😀"])
def test_any_text_is_stored_unchanged(folder: Path, text: str) -> None:
    """In texts, titles and headings, even if a database does not accept it directly."""
    build(folder)
    with open_index(folder / ".qa") as index:
        info, (stored,) = index.info, index.passages_of("birds.txt")
        vector = index.vectors([stored.vector]).tobytes()
    end = stored.start + len(text)
    passage = replace(stored, text=text, end=end, record_title=text, context=text, heading=(text,))
    with open_writer(folder / ".qa") as writer:
        digest = vector_digest(info.fingerprint, text)
        writer.adopt_vectors([(digest, vector)])
        document = replace(stored.document, title=text[::-1], path="x.txt", passages=1)
        writer.stage(SplitFile(document, (passage,), (digest,)))
        writer.commit(ChangeSet(BuildMode.INCREMENTAL, info.config))
    with open_index(folder / ".qa") as index:
        (read,) = index.passages_of("x.txt")
        assert (read.text, read.title, read.context, read.heading) == (text, text, text, (text,))
        assert read.document.title == text[::-1]


def test_both_stores_are_equal_after_any_edits(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit of every score, after commits that merge segments, delete old rows, and repeat a word often."""
    monkeypatch.setattr(keyword_writer, "_MERGE_FACTOR", 2)
    edits: list[dict[str, str | None]] = [
        {name.replace("/", "-"): text for name, text in FILES.items()},
        {"a.txt": "cat " * 300 + "sea"},
        {"b.txt": "cat cat", "c.txt": "sea", "d.txt": "cat sea sea " * 3},
        {"e.txt": "sea cat " * 9},
        {"f.txt": f"{LONG}x", "cats.md": None, "dogs.md": FILES["cats.md"]},
        {"g.txt": f"{LONG}y", "b.txt": None, "c.txt": None, "d.txt": None},
        {"birds.txt": "Birds, but no cats.\n", "b.txt": "cat cat"},
    ]
    roots = embedded, remote = tmp_path / "embedded", tmp_path / "remote"
    for root in roots:
        root.mkdir()
    use_store(remote / ".qa", address)
    for edit in edits:
        for root in roots:
            for name, text in edit.items():
                if text is None:
                    (root / name).unlink()
                else:
                    (root / name).write_text(text, encoding="utf-8")
            build(root, BagEncoder(max_tokens=400))
        with open_index(embedded / ".qa") as expected, open_index(remote / ".qa") as index:
            assert contents(index) == contents(expected)
            assert index.info == replace(expected.info, segments=())
    assert verify_index(remote / ".qa").problems == ()
