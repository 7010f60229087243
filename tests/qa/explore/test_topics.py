"""Topics: found, named, kept with the index, and stable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from corpus.errors import UsageError
from index.storage.locking import writer_lock
from qa.explore import grouping, labels, topics
from qa.explore.clusters import floors, learn, mean_silhouette, nearest
from qa.explore.items import Items
from qa.retrieval.retriever import Retriever
from tests.qa.explore.conftest import SUBJECTS, opened, sentences, update, write


def made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How topics are made from here on."""
    steps: list[str] = []

    def noting(name: str) -> None:
        call = getattr(topics, name)

        def noted(*values: object) -> object:
            steps.append(name)
            return call(*values)

        monkeypatch.setattr(topics, name, noted)

    for name in ("_learned", "_improved", "_assigned"):
        noting(name)
    return steps


def test_a_topic_for_each_subject(retriever: Retriever) -> None:
    """The number is chosen by the data; the labels are words of the texts."""
    found = retriever.topics()
    assert len(found.topics) == 3
    assert min(topic.size for topic in found.topics) >= 27
    assert sum(topic.size for topic in found.topics) + found.unassigned == found.total == 90
    for topic in found.topics:
        (subject,) = {Path(hit.source.path).stem for hit in topic.passages}
        assert 2 <= len(topic.terms) <= 4
        assert {word for term in topic.terms for word in term.lower().split()} <= set(SUBJECTS[subject].split())
        assert topic.label == ", ".join(topic.terms)
        assert len(topic.passages) == 3
        assert [hit.score for hit in topic.passages] == sorted((hit.score for hit in topic.passages), reverse=True)


def test_the_number_that_is_asked_for(retriever: Retriever) -> None:
    assert [topic.id for topic in retriever.topics(n=2).topics] == ["1", "2"]
    assert len(retriever.topics(n=1).topics) == 1
    with pytest.raises(UsageError, match="from 1 to 200"):
        retriever.topics(n=201)


def test_each_word_is_looked_up_once(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the labels of topics and of all their parts together: this is most of what labels cost."""
    looked_up: list[str] = []
    look_up = labels.Terms.__missing__

    def noted(self: labels.Terms, word: str) -> tuple[str, ...]:
        looked_up.append(word)
        return look_up(self, word)

    monkeypatch.setattr(labels.Terms, "__missing__", noted)
    assert any(topic.topics for topic in retriever.topics().topics)
    assert len(looked_up) == len(set(looked_up)) > 20


def test_parts_have_every_passage_of_their_topic(retriever: Retriever) -> None:
    found = retriever.topics(n=1).topics[0]
    assert [part.id for part in found.topics] == [f"1.{number + 1}" for number in range(len(found.topics))]
    assert sum(part.size for part in found.topics) == found.size


def test_documents(retriever: Retriever) -> None:
    found = retriever.topics(n=3, unit="documents")
    assert (found.unit, found.total, [topic.size for topic in found.topics]) == ("documents", 3, [1, 1, 1])


def test_records_are_documents(tmp_path: Path) -> None:
    rows = [f"{number},{text}" for subject in SUBJECTS for number, text in enumerate(sentences(subject, 4))]
    (tmp_path / "rows.csv").write_text("\n".join(["title,text", *rows]) + "\n", encoding="utf-8")
    update(tmp_path)
    with opened(tmp_path) as retriever:
        assert Items.read(retriever.snapshot, "documents").count == retriever.snapshot.info.documents == 12


def test_only_the_files_that_match(folder: Path, retriever: Retriever) -> None:
    """Nothing is saved, as it is not about the collection."""
    assert retriever.topics(path="bread.md").total == 30
    assert not (folder / ".qa" / grouping.FILE).exists()


def test_without_passages(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    update(tmp_path)
    with opened(tmp_path) as retriever:
        assert retriever.topics().as_json() == {
            "version": 1, "topics": [], "unassigned": 0, "unit": "passages", "total": 0,
        }  # fmt: skip


def test_a_few_passages(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Whales sing.\n")
    update(tmp_path)
    with opened(tmp_path) as retriever:
        (topic,) = retriever.topics(n=5).topics
        assert (topic.size, len(topic.passages)) == (1, 1)


def test_they_are_kept_with_the_generation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time nothing is made, and the same is said."""
    with opened(folder) as retriever:
        first = retriever.topics().as_json()
        steps = made(folder, monkeypatch)
        assert retriever.topics().as_json() == first
    assert steps == []


def test_the_same_twice_from_nothing(folder: Path) -> None:
    with opened(folder) as retriever:
        first = retriever.topics().as_json()
        (folder / ".qa" / grouping.FILE).unlink()
        assert retriever.topics().as_json() == first


def test_a_small_edit_keeps_topics_and_labels(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(folder) as retriever:
        before = retriever.topics()
    text = (folder / "bread.md").read_text(encoding="utf-8")
    (folder / "bread.md").write_text(text.replace("n3x0.", "n3x0. Rye."), encoding="utf-8")
    update(folder)
    steps = made(folder, monkeypatch)
    with opened(folder) as retriever:
        after = retriever.topics()
    assert steps == ["_assigned"]
    assert [(one.id, one.terms, one.size) for one in after.topics] == [(o.id, o.terms, o.size) for o in before.topics]


def test_a_larger_change_improves_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A third is new: the topics keep their numbers and labels, which still tell."""
    with opened(folder) as retriever:
        before = retriever.topics()
    write(folder, "bread", 30, seed=1)
    update(folder)
    steps = made(folder, monkeypatch)
    with opened(folder) as retriever:
        after = retriever.topics()
    assert steps == ["_improved", "_assigned"]
    assert [(one.id, one.terms) for one in after.topics] == [(one.id, one.terms) for one in before.topics]


def test_another_collection_gets_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(folder) as retriever:
        retriever.topics()
    for subject in SUBJECTS:
        write(folder, subject, 30, seed=2)
    update(folder)
    steps = made(folder, monkeypatch)
    with opened(folder) as retriever:
        retriever.topics()
    assert steps == ["_learned", "_assigned"]


@pytest.mark.parametrize("at", [0, 40, -1])
def test_a_damaged_file_is_made_again(folder: Path, at: int) -> None:
    with opened(folder) as retriever:
        first = retriever.topics().as_json()
        file = folder / ".qa" / grouping.FILE
        data = bytearray(file.read_bytes())
        whole = bytes(data)
        data[at] ^= 1
        file.write_bytes(data)
        assert grouping.read_grouping(retriever.snapshot) is None
        assert retriever.topics().as_json() == first
        assert file.read_bytes() == whole


def test_a_forged_file_is_made_again(folder: Path) -> None:
    """Whoever writes checksums can write anything: a topic that is not there, a centroid of another length."""
    with opened(folder) as retriever:
        found = topics.find_topics(retriever.snapshot)
        for name, value in (
            ("topics", found.topics + 7),
            ("centroids", found.centroids[:, :3]),
            ("floors", np.full_like(found.floors, np.nan)),
            ("terms", found.terms[:1]),
            ("parents", found.parents - 1),
        ):
            values = {key: getattr(found, key) for key in grouping.Grouping.__slots__} | {name: value}
            if name == "parents" and not len(found.parents):
                continue
            grouping.write_grouping(retriever.snapshot, grouping.Grouping(**values))
            assert grouping.read_grouping(retriever.snapshot) is None, name


def test_while_another_process_writes_they_are_not_saved(folder: Path) -> None:
    with opened(folder) as retriever, writer_lock(folder / ".qa"):
        assert len(retriever.topics().topics) == 3
    assert not (folder / ".qa" / grouping.FILE).exists()


def test_ask_within_a_topic(retriever: Retriever) -> None:
    """Words of another subject find nothing else."""
    found = {Path(topic.passages[0].source.path).stem: topic for topic in retriever.topics().topics}
    inside = retriever.ask("whales and trains", topic=found["trains"].id, k=50)
    assert {hit.source.path for hit in inside.passages} == {"trains.md"}
    assert len(inside.passages) == found["trains"].size
    assert retriever.ask("whales", topic=found["trains"].id, path="bread.md").passages == ()
    with pytest.raises(UsageError, match="no topic 77"):
        retriever.ask("whales", topic="77")


def test_what_is_far_from_its_topic_belongs_to_none() -> None:
    """Three robust deviations below the median; few members have no deviation that tells."""
    cosines = np.array([0.8, 0.81, 0.79] * 10 + [0.3], dtype=np.float32)
    (floor,) = floors(np.zeros(31, dtype=np.int64), cosines, 1)
    assert 0.3 < floor < 0.79
    assert floors(np.zeros(3, dtype=np.int64), cosines[-3:], 1).tolist() == [-1]


def test_clusters_are_found_where_they_are() -> None:
    """Five directions with noise: as many clusters, whatever the order of the vectors."""
    random = np.random.default_rng(0)
    vectors = np.repeat(np.eye(16, dtype=np.float32)[:5], 40, axis=0)
    vectors += random.normal(scale=0.05, size=vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for order in (np.arange(200), random.permutation(200)):
        labels = nearest(vectors[order], learn(vectors[order]))[0]
        groups = {frozenset(np.flatnonzero(labels == label) // 1) for label in set(labels)}
        assert sorted(map(len, groups)) == [40] * 5
        assert all(len({int(order[place]) // 40 for place in group}) == 1 for group in groups)
    assert len(learn(vectors, wanted=7)) == 7


@pytest.mark.parametrize("count", [2, 5, 20])
def test_silhouettes_are_those_of_scikit_learn(count: int) -> None:
    """Also where a cluster has one member, or a number has none."""
    random = np.random.default_rng(count)
    vectors = random.normal(size=(60, 8)).astype(np.float32)
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    labels = np.append(random.integers(0, count, 59), count + 1)
    assert mean_silhouette(distances, labels) == pytest.approx(
        silhouette_score(distances, labels, metric="precomputed"), abs=1e-5
    )
