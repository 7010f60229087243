"""Exact, compressed and damaged segments, written by the store and read by a snapshot."""

from __future__ import annotations

import errno
import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.errors import StorageError
from index.dense.exact_segments import cosines
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.storage.vectors import Vectors
from tests.index.segments import (
    BruteForce,
    clustered_vectors,
    commit,
    deal_out,
    document_ids,
    limit_sizes,
    normalise,
    random_vectors,
)


def recall(snapshot: Snapshot, queries: Vectors, documents: frozenset[int] | None = None) -> float:
    """Return the share of the ten nearest that is found, and check that scores are exact and in order."""
    hits = 0
    brute_force = BruteForce(snapshot, documents)
    for query in queries:
        candidates = snapshot.dense(query, 10, documents=documents)
        assert len(candidates) == 10
        assert candidates == sorted(candidates, key=lambda candidate: (-candidate.score, candidate.key))
        scores = cosines(snapshot.vectors([candidate.link.vector for candidate in candidates]), query)
        assert [candidate.score for candidate in candidates] == scores.tolist()
        hits += len({*candidates} & {*brute_force.nearest(query, 10)})
    return hits / (10 * len(queries))


def test_compressed_segments_have_high_recall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among 1,536 clustered vectors in three segments, and in a scope of half of them."""
    limit_sizes(monkeypatch, exact=64, most=512)
    info = commit(tmp_path, clustered_vectors(1536), deal_out(1536, 6))
    assert [segment.held for segment in info.segments] == [512] * 3
    queries = clustered_vectors(20, seed=5)
    with Snapshot(tmp_path) as snapshot:
        assert recall(snapshot, queries) >= 0.95
        monkeypatch.setattr("index.dense.scope._SMALL_SCOPE", 0)
        assert recall(snapshot, queries, document_ids(snapshot, ["0.txt", "2.txt", "4.txt"])) >= 0.95


def test_scoped_search_of_compressed_segments_equals_brute_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_sizes(monkeypatch, exact=64, most=256)
    rows = clustered_vectors(600)
    rows[300:320] = rows[:20]  # ties across segments
    commit(tmp_path, rows, deal_out(600, 8))
    with Snapshot(tmp_path) as snapshot:
        for paths in (["0.txt"], ["1.txt", "5.txt"], [f"{number}.txt" for number in range(8)], []):
            documents = document_ids(snapshot, paths)
            brute_force = BruteForce(snapshot, documents)
            for query in (rows[0], rows[310], *clustered_vectors(5, seed=5)):
                assert snapshot.dense(query, 10, documents=documents) == brute_force.nearest(query, 10)


def test_several_exact_segments_equal_brute_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a scope, with ties across segments, and with more ties than the limit."""
    limit_sizes(monkeypatch, exact=100, most=100)
    rows = clustered_vectors(130)
    rows[[100, 101, 125, 126]] = rows[[1, 4, 5, 101]]
    rows[20:80] = rows[20]
    commit(tmp_path, rows, {"a.txt": range(90)})
    commit(tmp_path, rows, {"b.txt": range(90, 120)})
    info = commit(tmp_path, rows, {"c.txt": range(120, 130)})
    assert [segment.held for segment in info.segments] == [90, 30, 10]
    monkeypatch.setattr("index.dense.scope._SMALL_SCOPE", 0)
    with Snapshot(tmp_path) as snapshot:
        for documents in (None, document_ids(snapshot, ["a.txt", "c.txt"]), document_ids(snapshot, ["c.txt"])):
            brute_force = BruteForce(snapshot, documents)
            for query in (rows[1], rows[20], rows[126], *clustered_vectors(10, seed=5)):
                for limit in (1, 2, 10, 1000):
                    assert snapshot.dense(query, limit, documents=documents) == brute_force.nearest(query, limit)


@pytest.mark.parametrize("exact", [64, 4096])
def test_dead_vectors_are_never_found(tmp_path: Path, exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay in their files; a search that finds only dead ones continues until it has enough live ones."""
    limit_sizes(monkeypatch, exact=exact, most=4096)
    rows = clustered_vectors(500)
    rows[::5] = normalise(rows[:1] + 0.05 * random_vectors(100))
    before = commit(tmp_path, rows, deal_out(500, 5))
    info = commit(tmp_path, rows, {}, removed=frozenset({"0.txt"}))
    assert info.segments == (replace(before.segments[0], dead=100),)
    with Snapshot(tmp_path) as snapshot:
        for limit in (1, 10, 5000):
            passages = snapshot.passages([candidate.passage for candidate in snapshot.dense(rows[0], limit)])
            assert len(passages) == min(limit, 400)
            assert all(int(passage.text) % 5 for passage in passages)
    restored = commit(tmp_path, rows, {"0.txt": range(0, 500, 5)})
    assert restored.segments == before.segments
    with Snapshot(tmp_path) as snapshot:
        passages = snapshot.passages([candidate.passage for candidate in snapshot.dense(rows[0], 10)])
        assert not any(int(passage.text) % 5 for passage in passages)


@pytest.mark.parametrize("exact", [64, 256])
@pytest.mark.parametrize("damage", ["missing", "flipped", "truncated", "longer", "empty"])
def test_lost_or_damaged_file_is_rebuilt(
    tmp_path: Path, damage: str, exact: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Readers find the same vectors without it; the next commit replaces a file that is missing or has another size."""
    limit_sizes(monkeypatch, exact=exact, most=256)
    rows, queries = clustered_vectors(600), clustered_vectors(10, seed=5)
    info = commit(tmp_path, rows, deal_out(600, 3))
    with Snapshot(tmp_path) as snapshot:
        expected = [snapshot.dense(query, 10) for query in queries]
    path = tmp_path / info.segments[0].name
    data = path.read_bytes()
    flipped = bytes([*data[:1000], data[1000] ^ 1, *data[1001:]])
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"flipped": flipped, "truncated": data[:-1], "longer": data + b"x", "empty": b""}[damage])
    with caplog.at_level(logging.WARNING), Snapshot(tmp_path) as snapshot:
        assert [snapshot.dense(query, 10) for query in queries] == expected
    assert f"{path.name} is unusable" in caplog.text
    assert path.exists() is (damage != "missing")
    if damage != "flipped":
        after = commit(tmp_path, rows, {}, removed=frozenset({"0.txt"}))
        assert info.segments[0].name not in [segment.name for segment in after.segments]
        assert sum(segment.live for segment in after.segments) == 400


def test_every_unusable_file_is_reported_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_sizes(monkeypatch, exact=64, most=256)
    names = [segment.name for segment in commit(tmp_path, clustered_vectors(600), deal_out(600, 3)).segments]
    assert len(names) == 3
    (tmp_path / names[0]).unlink()
    (tmp_path / names[2]).write_bytes(b"")
    problems = [problem.partition(". ")[0] for problem in verify(tmp_path).problems]
    assert problems == [
        f"{tmp_path / names[0]} is damaged: No such file or directory",
        f"{tmp_path / names[2]} is damaged: its size is wrong",
    ]


def test_a_file_that_may_not_be_read_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A question is answered without it; a check needs another user, or a chmod."""
    rows = clustered_vectors(50)
    path = tmp_path / commit(tmp_path, rows, deal_out(50, 3)).segments[0].name

    def refuse(file: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    monkeypatch.setattr("index.dense.faiss_segments.np.fromfile", refuse)
    reason = "Permission denied; its owner can chmod it like index.db"
    with pytest.raises(StorageError, match=f"^cannot read {path}: {reason}.$"):
        verify(tmp_path)
    with caplog.at_level(logging.WARNING), Snapshot(tmp_path) as snapshot:
        assert len(snapshot.dense(rows[0], 3)) == 3
    assert any(
        message.startswith(f"{path} is unusable ({reason}); the vectors are taken from") for message in caplog.messages
    )


def test_a_rebuilt_segment_has_no_dead_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_sizes(monkeypatch, exact=64, most=1024)
    rows = clustered_vectors(500)
    commit(tmp_path, rows, deal_out(500, 10))
    info = commit(tmp_path, rows, {}, removed=frozenset({"3.txt"}))
    assert [(segment.held, segment.dead) for segment in info.segments] == [(500, 50)]
    (tmp_path / info.segments[0].name).unlink()
    with Snapshot(tmp_path) as snapshot:
        assert snapshot._dense_index._segments.vector_count == 450
        assert snapshot.dense(rows[3], 500) == BruteForce(snapshot).nearest(rows[3], 500)


def test_a_commit_writes_few_vectors_and_deletes_unreferenced_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_sizes(monkeypatch, exact=64, most=256)
    rows = clustered_vectors(600)
    first = commit(tmp_path, rows, {"a.txt": range(500)})
    times = {segment.name: (tmp_path / segment.name).stat().st_mtime_ns for segment in first.segments}
    (tmp_path / "vectors-9-9.faiss").write_bytes(b"of a build that was killed")
    second = commit(tmp_path, rows, {"b.txt": range(500, 510)})
    assert second.segments[:2] == first.segments
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in times} == times
    assert second.segments[2].held == 10
    third = commit(tmp_path, rows, {"c.txt": range(510, 521)})
    assert (third.segments[:2], third.segments[2].held) == (first.segments, 21)
