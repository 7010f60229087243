"""Vectors in FAISS files: which go into which, what is found there, and that the tables agree with the files."""

from __future__ import annotations

import contextlib
import logging
import math
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus import load
from corpus.errors import ModelError, StorageError
from corpus.types import Passage
from index import arrange, embedding, vectors
from index.changes import Change, Entry, Extent, Maker
from index.encoder import Vectors
from index.meta import Info, Segment, read_info
from index.nearest import Candidate
from index.report import Request
from index.schema import DATABASE
from index.snapshot import Snapshot
from index.store import Store
from index.update import rebuild, update
from index.vector_rows import read_vectors
from index.vectors import Ids, VectorIndex, exact_scores
from tests.encoders import BagEncoder

DIMENSION = 64
MAKER = Maker("random", "f" * 64, DIMENSION, 1, (), ())


def limit_sizes(patch: pytest.MonkeyPatch, *, exact: int, most: int) -> None:
    patch.setattr(vectors, "EXACT_MOST", exact)
    for module in ("vectors", "arrange", "settle"):
        patch.setattr(f"index.{module}.SEGMENT_MOST", most)


# --- arrange ----------------------------------------------------------------------------------------------------------


def made(number: int, held: int, dead: int = 0) -> Segment:
    return Segment(number, f"vectors-1-{number}.faiss", 1, "", held, dead)


class History:
    """Commits of new vectors, as the store makes them; none is ever removed."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.written: list[int] = []
        self._members: dict[int, list[int]] = {}

    def commit(self, new: int) -> None:
        plan = arrange.arrange(self.segments, new)
        members = list(range(len(self.written), len(self.written) + new))
        self.written += [0] * new
        for segment in plan.merged:
            members += self._members.pop(segment.number)
        for vector in members:
            self.written[vector] += 1
        self.segments = list(plan.kept)
        for start in range(0, len(members), vectors.SEGMENT_MOST):
            part = members[start : start + vectors.SEGMENT_MOST]
            number = max(self._members, default=0) + 1
            self._members[number] = part
            self.segments.append(made(number, len(part)))


def most_segments(total: int) -> int:
    """So many of any size, and twice as many full ones as there must be."""
    return 2 + math.ceil(math.log2(total)) + 2 * (total // vectors.SEGMENT_MOST)


SIZES = {
    "any": np.random.default_rng(0).integers(1, 51, 1000).tolist(),
    "one": [1] * 1000,
    "most": [50] * 1000,
    "ascending": [*range(1, 51)] * 20,
    "few and many": [50, *[1] * 49] * 20,
}


@pytest.mark.parametrize("most", [2_000, vectors.SEGMENT_MOST])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
def test_a_thousand_commits_leave_few_segments_and_write_each_vector_few_times(
    sizes: list[int], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_sizes(monkeypatch, exact=64, most=most)
    history = History()
    for size in sizes:
        history.commit(size)
        total = len(history.written)
        assert len(history.segments) <= most_segments(total)
        assert sum(segment.live for segment in history.segments) == total
        assert max(segment.held for segment in history.segments) <= most
    assert max(history.written) <= 1 + math.log(min(most, len(history.written)), 1.5)


def test_commits_that_become_smaller_leave_few_segments_too() -> None:
    history = History()
    for size in range(50, 0, -1):
        history.commit(size)
        assert len(history.segments) <= most_segments(len(history.written))


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[Segment], list[Segment]]:
    """Segments with some of their vectors dead, and those of them whose files are lost."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 1)), max_size=8))
    segments = [made(number, held, round(held * share)) for number, (held, share) in enumerate(sizes, 1)]
    return segments, [segment for segment in segments if draw(st.integers(0, 5)) == 0]


@settings(max_examples=300, deadline=None)
@given(collection=collections(), new=st.integers(0, 500))
def test_an_arrangement_takes_in_what_is_worn_lost_or_small(
    collection: tuple[list[Segment], list[Segment]], new: int
) -> None:
    """Each segment stays or goes; none that must not stay does; what is made by merging is never above the most."""
    segments, lost = collection
    with pytest.MonkeyPatch.context() as patch:
        limit_sizes(patch, exact=64, most=300)
        plan = arrange.arrange(segments, new, lost=lost)
    assert sorted((*plan.kept, *plan.merged), key=lambda one: one.number) == segments
    assert list(plan.kept) == sorted(plan.kept, key=lambda one: one.number)
    bad = [one for one in segments if one in lost or not one.live or one.dead > max(64, 0.25 * one.held)]
    assert set(bad) <= set(plan.merged)
    size = new + sum(one.live for one in plan.merged)
    if len(plan.merged) > len(bad):
        assert size <= 300
    for one in plan.kept:
        assert one.live > size or one.live + size > 300 or not size


def test_a_segment_is_worn_by_a_quarter_dead_and_more_than_a_few() -> None:
    for segment, is_worn in (
        (made(1, 1000, 250), False),
        (made(1, 1000, 251), True),
        (made(1, 100, 64), False),
        (made(1, 100, 65), True),
        (made(1, 10, 10), True),
    ):
        assert arrange.arrange([segment], 0).merged == ((segment,) if is_worn else ())


def test_no_new_vectors_write_nothing() -> None:
    segments = [made(1, 100), made(2, 1), made(3, 1)]
    assert arrange.arrange(segments, 0) == arrange.Arrangement(tuple(segments), ())


# --- build, save, load, search ----------------------------------------------------------------------------------------


def unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, dtype=np.float32)


def scattered(count: int, seed: int = 0) -> Vectors:
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32))


def clustered(count: int, seed: int = 0) -> Vectors:
    """Ten clusters, so tight that one bit a dimension alone does not tell their members apart."""
    rng = np.random.default_rng(seed)
    return unit(scattered(10, 99)[rng.integers(0, 10, count)] + 0.3 * scattered(count, seed + 1))


def built(rows: Vectors, first: int = 1) -> faiss.IndexIDMap:
    ids = np.arange(first, first + len(rows), dtype=np.int64)
    index: faiss.IndexIDMap = vectors.build(ids, lambda wanted: rows[wanted - first], dimension=rows.shape[1])
    return index


def is_exact(index: faiss.IndexIDMap) -> bool:
    return isinstance(faiss.downcast_index(index.index), faiss.IndexScalarQuantizer)


def members(index: faiss.IndexIDMap) -> list[int]:
    found: list[int] = faiss.vector_to_array(index.id_map).tolist()
    return found


@pytest.mark.parametrize(("count", "exact"), [(1, True), (64, True), (65, False), (200, False)])
def test_a_segment_is_compressed_above_its_size_and_comes_back_from_its_file(
    tmp_path: Path, count: int, exact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "EXACT_MOST", 64)
    rows = scattered(count)
    index = built(rows, first=7)
    segment = vectors.save(index, tmp_path, number=3, generation=5)
    assert (segment.number, segment.name, segment.held, segment.dead) == (3, "vectors-5-3.faiss", count, 0)
    assert (tmp_path / segment.name).stat().st_size == segment.size
    assert vectors.is_there(tmp_path, segment)
    again = vectors.load(tmp_path, segment, dimension=DIMENSION)
    assert is_exact(again) is is_exact(index) is exact
    assert members(again) == list(range(7, 7 + count))
    for query in scattered(5, seed=1):
        ids, bound = VectorIndex([index]).search(query, 10)
        same, same_bound = VectorIndex([again]).search(query, 10)
        assert (ids.tolist(), bound) == (same.tolist(), same_bound)


def test_what_is_no_such_segment_is_refused(tmp_path: Path) -> None:
    """Though its checksum holds: another dimension or size, another kind of index, half a file."""
    segment = vectors.save(built(scattered(20)), tmp_path, number=1, generation=1)
    with pytest.raises(ValueError, match="of this kind and size"):
        vectors.load(tmp_path, segment, dimension=DIMENSION + 1)
    with pytest.raises(ValueError, match="of this kind and size"):
        vectors.load(tmp_path, replace(segment, held=19), dimension=DIMENSION)
    with pytest.raises(ValueError, match="checksum"):
        vectors.load(tmp_path, replace(segment, digest="0" * 64), dimension=DIMENSION)
    flat = faiss.IndexFlatIP(DIMENSION)
    flat.add(scattered(20))
    for data in (faiss.serialize_index(flat).tobytes(), (tmp_path / segment.name).read_bytes()[:-9], b"", b"IxMp"):
        (tmp_path / segment.name).write_bytes(data)
        bad = replace(segment, size=len(data), digest=vectors._digest(data))
        with pytest.raises(ValueError, match=r"of this kind and size|cannot read it"):
            vectors.load(tmp_path, bad, dimension=DIMENSION)
    (tmp_path / segment.name).unlink()
    assert not vectors.is_there(tmp_path, segment)
    with pytest.raises(OSError, match="No such file"):
        vectors.load(tmp_path, segment, dimension=DIMENSION)


def test_a_segment_is_built_from_few_vectors_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT_MOST", 64)
    monkeypatch.setattr(vectors, "_CHUNK", 32)
    rows, asked = scattered(100), []

    def fetch(wanted: Ids) -> Vectors:
        asked.append(len(wanted))
        return rows[wanted]

    index = vectors.build(np.arange(100), fetch, dimension=DIMENSION)
    assert members(index) == list(range(100))
    assert max(asked) <= 32


def test_nothing_left_out_of_exact_segments_scores_above_the_bound() -> None:
    """Over three segments; where nothing is left out there is no bound."""
    parts = [scattered(count, seed) for seed, count in enumerate((50, 20, 5))]
    rows = np.concatenate(parts)
    nearest = VectorIndex([built(parts[0], 0), built(parts[1], 50), built(parts[2], 70)])
    assert nearest.held == 75
    for query in scattered(10, seed=9):
        scores = exact_scores(rows, query)
        for limit in (1, 5, 6, 30):
            ids, bound = nearest.search(query, limit)
            found = set(ids.tolist())
            assert set(np.argsort(-scores)[:limit].tolist()) <= found
            assert max(scores[number] for number in range(75) if number not in found) <= bound + 1e-3
        ids, bound = nearest.search(query, 50)
        assert (sorted(ids.tolist()), bound) == (list(range(75)), -np.inf)
    assert VectorIndex([]).search(rows[0], 5)[0].tolist() == []


def test_several_compressed_segments_are_searched_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """By threads of FAISS's own, and as many are given back as one segment with all of them would give."""
    monkeypatch.setattr(vectors, "EXACT_MOST", 64)
    rows = scattered(2000)
    nearest = VectorIndex([built(rows[:1000], 0), built(rows[1000:], 1000), built(rows[:3], 2000)])
    assert nearest._side_by_side.count() == 2
    ids, bound = nearest.search(rows[1500], 5)
    assert 1500 in ids
    assert len(ids) == vectors._OVERSAMPLE * 5 + vectors._EXTRA + 3
    assert bound == -np.inf
    together, _ = nearest.search(rows[1500], 2000)
    assert sorted(together.tolist()) == list(range(2003))


# --- through the store and a snapshot ---------------------------------------------------------------------------------


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def entry(path: str, numbers: Sequence[int]) -> Entry:
    """A document whose passages are known by numbers."""
    texts = [f"{number}" for number in numbers]
    passages = tuple(
        Passage(20 * place, 20 * place + len(text), text, 0, "", (), "", (1, 1)) for place, text in enumerate(texts)
    )
    return Entry(path, "0" * 64, 1, 1, 1, "text/plain", "", passages, tuple(digest(number) for number in numbers))


def commit(
    folder: Path, rows: Vectors, documents: Mapping[str, Sequence[int]], removed: frozenset[str] = frozenset()
) -> Info:
    """Add documents, whose passages' vectors are rows by number, and remove some."""
    numbers = [number for several in documents.values() for number in several]
    with Store(folder) as store:
        if numbers:
            store.add_vectors([digest(number) for number in numbers], rows[numbers])
        entries = [entry(path, several) for path, several in documents.items()]
        change = Change(Extent.NAMED, entries, list(documents), removed)
        info = store.commit(change, MAKER, seen=(), left=())
    check(folder)
    return info


def dealt(count: int, documents: int) -> dict[str, range]:
    """Passages 0 to `count`, dealt out to documents in turn."""
    return {f"{first}.txt": range(first, count, documents) for first in range(documents)}


def check(folder: Path) -> None:
    """Whatever was done to a folder, tables and files agree about its vectors."""
    with contextlib.closing(sqlite3.connect(folder / DATABASE)) as connection:

        def numbers(query: str, *values: object) -> list[int]:
            return sorted(number for (number,) in connection.execute(query, values))

        info = read_info(connection, folder / DATABASE)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        used = numbers("SELECT DISTINCT vector FROM passages")
        assert numbers("SELECT vector FROM places WHERE uses = 0") == sorted(
            {*numbers("SELECT id FROM vectors")} - {*used}
        )
        rows, free = numbers("SELECT id FROM passages"), numbers("SELECT passage FROM free")
        assert sorted(rows + free) == list(range(1, max((*rows, *free), default=0) + 1))
        if info is None:
            return
        assert (info.passages, info.vectors) == (len(rows), len(used))
        assert info.documents == len(numbers("SELECT id FROM documents"))
        assert numbers("SELECT DISTINCT segment FROM places WHERE segment > 0") == sorted(
            one.number for one in info.segments
        )
        assert sorted(path.name for path in folder.glob("*.faiss")) == sorted(one.name for one in info.segments)
        living: Counter[int] = Counter()
        for segment in info.segments:
            index = vectors.load(folder, segment, dimension=info.dimension)
            held = members(index)
            assert held == numbers("SELECT vector FROM places WHERE segment = ?", segment.number)
            live = {*held} & {*used}
            assert (segment.held, segment.dead) == (len(held), len(held) - len(live))
            assert is_exact(index) is (len(held) <= vectors.EXACT_MOST)
            assert len(held) <= vectors.SEGMENT_MOST
            if is_exact(index):
                stored = numbers("SELECT id FROM vectors")
                kept = [place for place, number in enumerate(held) if number in stored]
                given = read_vectors(connection, folder, [held[place] for place in kept], info.dimension)
                assert np.abs(index.index.reconstruct_n(0, len(held))[kept] - given).max(initial=0) < 1e-3
            living.update(live)
        assert living == Counter(used)


class Truth:
    """What NumPy finds over all stored vectors."""

    def __init__(self, snapshot: Snapshot, documents: frozenset[int] | None = None) -> None:
        passages = [
            passage
            for document in snapshot.documents()
            if documents is None or document.id in documents
            for passage in snapshot.passages_of(document.path)
        ]
        self._names = [(passage.key, passage.id) for passage in passages]
        self._vectors = snapshot.vectors([passage.vector for passage in passages])

    def nearest(self, query: Vectors, limit: int) -> list[Candidate]:
        scores = exact_scores(self._vectors, query).tolist()
        ranked = sorted((-score, *name) for score, name in zip(scores, self._names, strict=True))
        return [Candidate(number, key, -score) for score, key, number in ranked[:limit]]


def recall(snapshot: Snapshot, queries: Vectors, documents: frozenset[int] | None = None) -> float:
    """How many of the ten nearest are found; scores are exact and in order whatever was found."""
    found = 0
    truth = Truth(snapshot, documents)
    for query in queries:
        got = snapshot.dense(query, 10, documents=documents)
        assert len(got) == 10
        assert got == sorted(got, key=lambda one: (-one.score, one.key))
        scores = exact_scores(snapshot.vectors([one.link.vector for one in got]), query)
        assert [one.score for one in got] == scores.tolist()
        found += len({*got} & {*truth.nearest(query, 10)})
    return found / (10 * len(queries))


def scope(snapshot: Snapshot, paths: Sequence[str]) -> frozenset[int]:
    return frozenset(document.id for document in snapshot.documents() if document.path in paths)


def test_compressed_segments_find_nearly_all_that_brute_force_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten nearest of 3,072 in clusters, in three segments; also among the half that a scope allows."""
    limit_sizes(monkeypatch, exact=64, most=1024)
    info = commit(tmp_path, clustered(3072), dealt(3072, 6))
    assert [segment.held for segment in info.segments] == [1024] * 3
    queries = clustered(20, seed=5)
    with Snapshot(tmp_path) as snapshot:
        assert recall(snapshot, queries) >= 0.95
        monkeypatch.setattr("index.scope._FEW", 0)
        assert recall(snapshot, queries, scope(snapshot, ["0.txt", "2.txt", "4.txt"])) >= 0.95


def test_scopes_of_compressed_segments_give_what_brute_force_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_sizes(monkeypatch, exact=64, most=256)
    rows = clustered(600)
    rows[300:320] = rows[:20]  # ties across segments
    commit(tmp_path, rows, dealt(600, 8))
    with Snapshot(tmp_path) as snapshot:
        for paths in (["0.txt"], ["1.txt", "5.txt"], [f"{number}.txt" for number in range(8)], []):
            documents = scope(snapshot, paths)
            truth = Truth(snapshot, documents)
            for query in (rows[0], rows[310], *clustered(5, seed=5)):
                assert snapshot.dense(query, 10, documents=documents) == truth.nearest(query, 10)


def test_several_exact_segments_give_what_brute_force_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a scope that is searched as a share of all; ties over segments, and more than are asked for."""
    limit_sizes(monkeypatch, exact=100, most=100)
    rows = clustered(130)
    rows[[100, 101, 125, 126]] = rows[[1, 4, 5, 101]]
    rows[20:80] = rows[20]
    commit(tmp_path, rows, {"a.txt": range(90)})
    commit(tmp_path, rows, {"b.txt": range(90, 120)})
    info = commit(tmp_path, rows, {"c.txt": range(120, 130)})
    assert [segment.held for segment in info.segments] == [90, 30, 10]
    monkeypatch.setattr("index.scope._FEW", 0)
    with Snapshot(tmp_path) as snapshot:
        for documents in (None, scope(snapshot, ["a.txt", "c.txt"]), scope(snapshot, ["c.txt"])):
            truth = Truth(snapshot, documents)
            for query in (rows[1], rows[20], rows[126], *clustered(10, seed=5)):
                for limit in (1, 2, 10, 1000):
                    assert snapshot.dense(query, limit, documents=documents) == truth.nearest(query, limit)


@pytest.mark.parametrize("exact", [64, 4096])
def test_dead_vectors_never_come_back(tmp_path: Path, exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay in their files; a search that meets no others goes on until it has enough."""
    limit_sizes(monkeypatch, exact=exact, most=4096)
    rows = clustered(2000)
    rows[::5] = unit(rows[:1] + 0.05 * scattered(400))
    before = commit(tmp_path, rows, dealt(2000, 5))
    info = commit(tmp_path, rows, {}, removed=frozenset({"0.txt"}))
    assert info.segments == (replace(before.segments[0], dead=400),)
    with Snapshot(tmp_path) as snapshot:
        for limit in (1, 10, 5000):
            found = snapshot.passages([one.passage for one in snapshot.dense(rows[0], limit)])
            assert len(found) == min(limit, 1600)
            assert all(int(passage.text) % 5 for passage in found)
    again = commit(tmp_path, rows, {"0.txt": range(0, 2000, 5)})
    assert again.segments == before.segments
    with Snapshot(tmp_path) as snapshot:
        found = snapshot.passages([one.passage for one in snapshot.dense(rows[0], 10)])
        assert not any(int(passage.text) % 5 for passage in found)


@pytest.mark.parametrize("damage", ["missing", "flipped", "truncated", "empty"])
def test_a_lost_or_damaged_compressed_file_is_made_again(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Readers find the same without it; the next commit writes a file again that has gone or has another size."""
    limit_sizes(monkeypatch, exact=64, most=256)
    rows, queries = clustered(600), clustered(10, seed=5)
    info = commit(tmp_path, rows, dealt(600, 3))
    with Snapshot(tmp_path) as snapshot:
        expected = [snapshot.dense(query, 10) for query in queries]
    path = tmp_path / info.segments[0].name
    data = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes({"flipped": bytes(data), "truncated": bytes(data[:-1]), "empty": b""}[damage])
    with caplog.at_level(logging.WARNING), Snapshot(tmp_path) as snapshot:
        assert [snapshot.dense(query, 10) for query in queries] == expected
    assert f"{path.name} is not used" in caplog.text
    assert path.exists() is (damage != "missing")
    if damage != "flipped":
        after = commit(tmp_path, rows, {}, removed=frozenset({"0.txt"}))
        assert info.segments[0].name not in [segment.name for segment in after.segments]
        assert sum(segment.live for segment in after.segments) == 400


def test_a_file_made_again_has_no_dead_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_sizes(monkeypatch, exact=64, most=1024)
    rows = clustered(500)
    commit(tmp_path, rows, dealt(500, 10))
    info = commit(tmp_path, rows, {}, removed=frozenset({"3.txt"}))
    assert [(segment.held, segment.dead) for segment in info.segments] == [(500, 50)]
    (tmp_path / info.segments[0].name).unlink()
    with Snapshot(tmp_path) as snapshot:
        assert snapshot._nearest._segments.held == 450
        assert snapshot.dense(rows[3], 500) == Truth(snapshot).nearest(rows[3], 500)


def test_a_commit_writes_few_vectors_and_deletes_files_that_nothing_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_sizes(monkeypatch, exact=64, most=256)
    rows = clustered(600)
    first = commit(tmp_path, rows, {"a.txt": range(500)})
    times = {segment.name: (tmp_path / segment.name).stat().st_mtime_ns for segment in first.segments}
    (tmp_path / "vectors-9-9.faiss").write_bytes(b"of a build that was killed")
    (tmp_path / "other.faiss").write_bytes(b"")
    with pytest.raises(AssertionError):
        check(tmp_path)
    (tmp_path / "other.faiss").rename(tmp_path / "other")
    second = commit(tmp_path, rows, {"b.txt": range(500, 510)})
    assert second.segments[:2] == first.segments
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in times} == times
    assert second.segments[2].held == 10
    third = commit(tmp_path, rows, {"c.txt": range(510, 521)})
    assert (third.segments[:2], third.segments[2].held) == (first.segments, 21)
    assert (tmp_path / "other").exists()


# --- any history of a folder ------------------------------------------------------------------------------------------

# Their vectors differ, alone and in pairs.
WORDS = ["cat", "dog", "owl", "sea", "mat", "sun", "tree", "rock"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2, unique=True).map(" ".join)
names = st.integers(0, 15).map("{}.txt".format)
# A file and its new text, or None where it goes.
edits = st.dictionaries(names, st.none() | texts, max_size=6)
ACTIONS = ["update", "rebuild", "other model", "unreadable", "lost file", "full disk", "failing model"]


class Failing(BagEncoder):
    """Gives up at the fourth text."""

    def encode_passages(self, given: Sequence[str]) -> Vectors:
        if len(self.embedded) >= 3:
            raise ModelError("no more")
        return super().encode_passages(given)


def act(root: Path, action: str) -> None:
    if action == "lost file":
        for path in sorted((root / ".qa").glob("*.faiss"))[:1]:
            path.unlink()
            (root / f"{path.name}.txt").write_text("a mat for each lost file", encoding="utf-8")
    encoder = Failing() if action == "failing model" else BagEncoder()
    if action == "other model":
        encoder = BagEncoder(name="other", fingerprint="e" * 64)
    with contextlib.suppress(StorageError, ModelError), pytest.MonkeyPatch.context() as patch:
        if action == "full disk":
            patch.setattr(vectors, "write_atomically", refuse)
        if action == "unreadable":
            patch.setattr(load, "read_bytes", refuse_some)
        (rebuild if action in ("rebuild", "unreadable") else update)(Request(root, encoder, allow_empty=True))


def refuse(path: Path, _: object) -> None:
    raise StorageError(f"no space for {path}")


def refuse_some(root: Path, path: str, read: Callable[..., bytes] = load.read_bytes, **limits: int) -> bytes:
    """What is indexed of such files is kept, also by a rebuild."""
    if path < "2":
        raise load.Unreadable("Permission denied", unknown=True)
    return read(root, path, **limits)


@contextlib.contextmanager
def tiny() -> Iterator[None]:
    """All that happens to millions of vectors happens to a few."""
    with pytest.MonkeyPatch.context() as patch:
        limit_sizes(patch, exact=4, most=8)
        patch.setattr(arrange, "_DEAD_FEW", 1)
        patch.setattr("index.store.SPARE_VECTORS", 5)
        patch.setattr(embedding, "_CHUNK", 1)
        yield


@settings(max_examples=30, deadline=None)
@given(
    first=st.dictionaries(names, st.none() | texts),
    steps=st.lists(st.tuples(st.just("update") | st.sampled_from(ACTIONS), edits), max_size=6),
)
@example(first={}, steps=[("update", {"0.txt": "cat"}), ("update", {"0.txt": None}), ("lost file", {})])
@example(first={"5.txt": "cat", "6.txt": "dog"}, steps=[("update", {"0.txt": "owl"}), ("unreadable", {})])
@example(first={"5.txt": "cat", "6.txt": "dog"}, steps=[("update", {"6.txt": None}), ("rebuild", {})])
def test_tables_and_files_agree_whatever_happens_to_a_folder(
    first: dict[str, str | None], steps: list[tuple[str, dict[str, str | None]]]
) -> None:
    """After every step; and at last the nearest of all are those that brute force finds."""
    with tempfile.TemporaryDirectory() as folder, tiny():
        root = Path(folder)
        for action, edit in [("update", first), *steps, ("update", {})]:
            for name, content in edit.items():
                if content is None:
                    (root / name).unlink(missing_ok=True)
                else:
                    (root / name).write_text(content, encoding="utf-8")
            act(root, action)
            check(root / ".qa")
        with Snapshot(root / ".qa") as snapshot:
            for query in ("cat", "owl sea"):
                vector = BagEncoder().encode_query(query)
                assert snapshot.dense(vector, 99) == Truth(snapshot).nearest(vector, 99)
