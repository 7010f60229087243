"""Topics: how they are found, named, stored with the index, and kept stable."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import UsageError
from index.storage.locking import writer_lock
from qa.explore import grouping, topics
from qa.explore.clusters import find_centroids, floors, mean_silhouette, nearest
from qa.explore.items import Items
from qa.retrieval.retriever import Retriever
from tests.qa.explore.conftest import SUBJECTS, sentences, write_subject
from tests.qa.indexes import build, opened


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the steps by which topics are found and updated."""
    calls: list[str] = []

    def record(call: Any, *values: object) -> object:
        calls.append(call.__name__)
        return call(*values)

    for name in ("_find", "_refine", "_assign"):
        monkeypatch.setattr(topics, name, partial(record, getattr(topics, name)))
    return calls


def topics_of(folder: Path) -> list[tuple[str, tuple[str, ...], int]]:
    """Return the id, terms and size of each topic."""
    with opened(folder) as retriever:
        return [(topic.id, topic.terms, topic.size) for topic in retriever.topics().topics]


def test_a_topic_for_each_subject(retriever: Retriever) -> None:
    """The data determines the number of topics; labels are words of the texts."""
    result = retriever.topics()
    assert len(result.topics) == 3
    assert min(topic.size for topic in result.topics) >= 27
    assert sum(topic.size for topic in result.topics) + result.unassigned == result.total == 90
    for topic in result.topics:
        (subject,) = {Path(hit.source.path).stem for hit in topic.passages}
        assert 2 <= len(topic.terms) <= 4
        assert {word for term in topic.terms for word in term.lower().split()} <= set(SUBJECTS[subject].split())
        assert topic.label == ", ".join(topic.terms)
        assert len(topic.passages) == 3
        assert [hit.score for hit in topic.passages] == sorted((hit.score for hit in topic.passages), reverse=True)


def test_the_number_of_topics_can_be_set(retriever: Retriever) -> None:
    """The parts cover every passage of their topic."""
    assert [topic.id for topic in retriever.topics(n=2).topics] == ["1", "2"]
    (topic,) = retriever.topics(n=1).topics
    assert [part.id for part in topic.topics] == [f"1.{number + 1}" for number in range(len(topic.topics))]
    assert sum(part.size for part in topic.topics) == topic.size
    with pytest.raises(UsageError, match="from 1 to 200"):
        retriever.topics(n=201)


def test_topics_of_documents(retriever: Retriever) -> None:
    result = retriever.topics(n=3, unit="documents")
    assert (result.unit, result.total, [topic.size for topic in result.topics]) == ("documents", 3, [1, 1, 1])


def test_records_are_documents(tmp_path: Path) -> None:
    rows = [f"{number},{text}" for subject in SUBJECTS for number, text in enumerate(sentences(subject, 4))]
    build(tmp_path, {"rows.csv": "\n".join(["title,text", *rows]) + "\n"})
    with opened(tmp_path) as retriever:
        assert Items.read(retriever.snapshot, "documents").count == retriever.snapshot.info.documents == 12


def test_some_topics_are_not_saved(folder: Path, retriever: Retriever, caplog: pytest.LogCaptureFixture) -> None:
    """Topics of some files are not saved, nor is anything while another process writes.

    A warning says so if `qa ask --topic` then counts others.
    """
    assert retriever.topics(path="bread.md").total == 30
    with writer_lock(folder / ".qa"):
        assert len(retriever.topics().topics) == 3
        assert not caplog.messages
        assert len(retriever.topics(n=2).topics) == 2
    (message,) = caplog.messages
    assert message.startswith("these topics are not saved, so qa ask --topic counts others: ")
    assert not (folder / ".qa" / grouping.FILE).exists()


def test_fewer_passages_than_topics(tmp_path: Path) -> None:
    build(tmp_path, {"empty.txt": ""})
    with opened(tmp_path) as retriever:
        empty = {"version": 1, "topics": [], "unassigned": 0, "unit": "passages", "total": 0}
        assert retriever.topics().as_json() == empty
    build(tmp_path, {"a.txt": "Whales sing.\n"})
    with opened(tmp_path) as retriever:
        (topic,) = retriever.topics(n=5).topics
        assert (topic.size, len(topic.passages)) == (1, 1)


def test_topics_are_stored_with_the_generation(folder: Path, retriever: Retriever, steps: list[str]) -> None:
    """They are read from the file the second time; without it, the same topics are found again."""
    first = retriever.topics().as_json()
    steps.clear()
    assert retriever.topics().as_json() == first
    assert steps == []
    (folder / ".qa" / grouping.FILE).unlink()
    assert retriever.topics().as_json() == first


def test_a_small_edit_keeps_topics_and_labels(folder: Path, steps: list[str]) -> None:
    earlier = topics_of(folder)
    steps.clear()
    text = (folder / "bread.md").read_text(encoding="utf-8")
    build(folder, {"bread.md": text.replace("n3x0.", "n3x0. Rye.")})
    assert topics_of(folder) == earlier
    assert steps == ["_assign"]


def test_a_larger_change_improves_topics(folder: Path, steps: list[str]) -> None:
    """If a third of the collection is new, topics keep their numbers and labels."""
    earlier = topics_of(folder)
    steps.clear()
    write_subject(folder, "bread", seed=1)
    build(folder)
    assert [topic[:2] for topic in topics_of(folder)] == [topic[:2] for topic in earlier]
    assert steps == ["_refine", "_assign"]


def test_a_replaced_collection_gets_new_topics(folder: Path, steps: list[str]) -> None:
    topics_of(folder)
    steps.clear()
    for subject in SUBJECTS:
        write_subject(folder, subject, seed=2)
    build(folder)
    topics_of(folder)
    assert steps == ["_find", "_assign"]


def test_a_damaged_file_is_replaced(folder: Path, retriever: Retriever) -> None:
    first = retriever.topics().as_json()
    file = folder / ".qa" / grouping.FILE
    data = file.read_bytes()
    file.write_bytes(data[:40] + b"\0" + data[41:-1])
    assert grouping.read_grouping(retriever.snapshot) is None
    assert retriever.topics().as_json() == first
    assert file.read_bytes() == data


def test_a_forged_file_is_ignored(retriever: Retriever) -> None:
    """Its checksum is right, but its content is impossible, such as an unknown topic."""
    valid = topics.find_topics(retriever.snapshot)
    assert len(valid.parents)
    forged: dict[str, Any] = {
        "topics": valid.topics + 7,
        "centroids": valid.centroids[:, :3],
        "floors": np.full_like(valid.floors, np.nan),
        "terms": valid.terms[:1],
        "parents": valid.parents - 1,
    }
    for name, value in forged.items():
        grouping.write_grouping(retriever.snapshot, replace(valid, **{name: value}))
        assert grouping.read_grouping(retriever.snapshot) is None, name


def test_ask_within_a_topic(retriever: Retriever) -> None:
    """Words of other subjects find only passages of the topic."""
    topic_of = {Path(topic.passages[0].source.path).stem: topic for topic in retriever.topics().topics}
    inside = retriever.ask("whales and trains", topic=topic_of["trains"].id, k=50)
    assert {hit.source.path for hit in inside.passages} == {"trains.md"}
    assert len(inside.passages) == topic_of["trains"].size
    assert retriever.ask("whales", topic=topic_of["trains"].id, path="bread.md").passages == ()
    with pytest.raises(UsageError, match="no topic 77"):
        retriever.ask("whales", topic="77")


def test_passages_far_from_their_topic_are_unassigned() -> None:
    """The limit is four robust deviations below the median; there is none for a few members."""
    cosines = np.array([0.8, 0.81, 0.79] * 10 + [0.3], dtype=np.float32)
    (floor,) = floors(np.zeros(31, dtype=np.int64), cosines, 1)
    assert 0.3 < floor < 0.79
    assert floors(np.zeros(3, dtype=np.int64), cosines[-3:], 1).tolist() == [-1]


def test_clusters_are_found() -> None:
    """Five noisy directions give five clusters, whatever the order of the vectors."""
    random = np.random.default_rng(0)
    vectors = np.repeat(np.eye(16, dtype=np.float32)[:5], 40, axis=0)
    vectors += random.normal(scale=0.05, size=vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for order in (np.arange(200), random.permutation(200)):
        labels = nearest(vectors[order], find_centroids(vectors[order]))[0]
        clusters = {frozenset(np.flatnonzero(labels == label)) for label in set(labels)}
        assert sorted(map(len, clusters)) == [40] * 5
        assert all(len({int(order[member]) // 40 for member in cluster}) == 1 for cluster in clusters)
    assert len(find_centroids(vectors, wanted=7)) == 7


def test_silhouettes_equal_those_of_scikit_learn() -> None:
    """They do even if a cluster has one member, or none."""
    from sklearn.metrics import silhouette_score

    random = np.random.default_rng(5)
    vectors = random.normal(size=(60, 8)).astype(np.float32)
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    labels = np.append(random.integers(0, 5, 59), 6)
    assert mean_silhouette(distances, labels) == pytest.approx(
        silhouette_score(distances, labels, metric="precomputed"), abs=1e-5
    )
