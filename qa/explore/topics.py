"""What a collection is about: topics on two levels, found once, kept with the index, and stable under small edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from corpus.errors import UsageError
from index import Among, Index, StoredPassage, Vectors
from qa.answer.citation import cited
from qa.explore import labels
from qa.explore.clusters import Cosines, Labels, floors, learn, nearest, refine, spread
from qa.explore.grouping import CENTRAL, Grouping, read_grouping, state_of, write_grouping
from qa.explore.items import PASSAGES, Items, columns_of
from qa.explore.results import Topic, Topics
from qa.explore.similar import stored_vectors
from qa.filters import EVERYTHING, Filter, select
from qa.near_duplicates import nearly_same, words_of

# Topics stay as they are while fewer of the vectors are new or gone; up to the second share they are improved from
# where they are, beyond it found anew.
_SAME, _ALIKE = 0.2, 0.6
# A topic of fewer items is not divided; a larger one into so many parts at most.
_DIVIDED = 24
_PARTS = 6
# Of these many passages nearest to a centroid, three that differ are cited.
_NEAREST = 8
MOST_TOPICS = 200


def find_topics(
    snapshot: Index, *, unit: str = PASSAGES, wanted: int | None = None, only: Filter = EVERYTHING
) -> Grouping:
    """Return the topics of a collection, or of what passes a filter; those of all are saved with the index.

    Raises:
        UsageError: The number cannot be, or nothing passes.
    """
    if wanted is not None and not 1 <= wanted <= MOST_TOPICS:
        raise UsageError(f"the number of topics must be from 1 to {MOST_TOPICS}, not {wanted}.")
    documents = select(snapshot, only)
    if documents is not None:
        return _made(snapshot, Items.read(snapshot, unit, documents), wanted, None)
    before = read_grouping(snapshot)
    if before is not None and (before.unit, before.wanted) != (unit, wanted or 0):
        before = None
    if before is not None and before.state == state_of(snapshot):
        return before
    found = _made(snapshot, Items.read(snapshot, unit), wanted, before)
    write_grouping(snapshot, found)
    return found


def saved_topics(snapshot: Index) -> Grouping:
    """Return the topics that were found last, brought up to date; those of the default where there are none."""
    before = read_grouping(snapshot)
    return (
        find_topics(snapshot)
        if before is None
        else find_topics(snapshot, unit=before.unit, wanted=before.wanted or None)
    )


def scope_of(snapshot: Index, topic: str, only: Filter = EVERYTHING) -> Among:
    """Return the passages of a topic by its id, such as "3" or "3.1", as what a search is to choose from.

    Raises:
        UsageError: No topic has this id.
    """
    found = saved_topics(snapshot)
    if topic not in found.ids:
        raise UsageError(f"there is no topic {topic}; `qa topics` lists them.")
    members = found.members(found.ids.index(topic))
    documents = select(snapshot, only)
    if documents is not None:
        members &= frozenset(columns_of(snapshot, documents).passages.tolist())
    return snapshot.scope(members)


def topics_of(root: Path, snapshot: Index, found: Grouping) -> Topics:
    """Return topics with their most central passages, cited."""
    numbers = [number for number in found.central.ravel().tolist() if number]
    passages = {passage.id: passage for passage in snapshot.passages(sorted(set(numbers)))}
    count = len(found.centroids)

    def topic(cluster: int, parts: Sequence[Topic] = ()) -> Topic:
        central = [passages[number] for number in found.central[cluster].tolist() if number]
        centroid = found.centroids[cluster] if cluster < count else found.parts[cluster - count]
        scores = [round(max(float(one), 0.0), 6) for one in stored_vectors(snapshot, central) @ centroid]
        hits = cited(root, snapshot, list(zip(central, scores, strict=True)), {})
        terms = found.terms[cluster]
        return Topic(found.ids[cluster], ", ".join(terms), terms, int(found.sizes[cluster]), hits, tuple(parts))

    whole = []
    for cluster in range(count):
        parts = np.flatnonzero(found.parents == cluster) + count
        whole.append(topic(cluster, [topic(int(part)) for part in parts]))
    assigned = int(found.sizes[:count].sum())
    return Topics(tuple(whole), found.total - assigned, found.unit, found.total)


def _made(snapshot: Index, items: Items, wanted: int | None, before: Grouping | None) -> Grouping:
    """Topics as they were, improved, or new; every item in its own."""
    learned = np.unique(items.vectors)
    changed = 1.0
    if before is not None:
        changed = 1 - len(np.intersect1d(learned, before.learned)) / max(len(learned), len(before.learned), 1)
    start = None
    if before is not None and changed < _ALIKE:
        start = before if changed < _SAME else _improved(before, items.sample(snapshot), learned)
    found = start or _learned(items, items.sample(snapshot), wanted, learned)
    found = _assigned(snapshot, items, found)
    if before is not None and start is before:
        return found
    return replace(found, terms=_named(snapshot, found, before.terms if before is not None and start else None))


def _learned(items: Items, sample: Vectors, wanted: int | None, learned: Labels) -> Grouping:
    """Topics and their parts, still without members and names."""
    none = np.zeros((0, sample.shape[1]), dtype=np.float32)
    centroids = learn(sample, wanted=wanted) if len(sample) else none
    topics, cosines = nearest(sample, centroids) if len(sample) else (np.zeros(0, np.int64), np.zeros(0, np.float32))
    parts, parents = [none], []
    for topic in range(len(centroids)):
        own = sample[topics == topic]
        found = learn(own, most=_PARTS) if len(own) >= _DIVIDED else none
        if len(found) > 1:
            parts.append(found)
            parents += [topic] * len(found)
    empty = np.zeros(0, dtype=np.int64)
    return Grouping(
        "", items.unit, wanted or 0, (), centroids, floors(topics, cosines, len(centroids)), np.concatenate(parts),
        np.array(parents, dtype=np.int64), learned, empty, empty, empty, empty, empty, 0,
    )  # fmt: skip


def _improved(before: Grouping, sample: Vectors, learned: Labels) -> Grouping:
    """The same topics and parts, moved to where the vectors are now."""
    centroids = refine(sample, before.centroids)
    topics, cosines = nearest(sample, centroids)
    parts = before.parts.copy()
    for topic in np.unique(before.parents).tolist():
        inside = before.parents == topic
        parts[inside] = refine(sample[topics == topic], before.parts[inside])
    around = floors(topics, cosines, len(centroids))
    return replace(before, centroids=centroids, parts=parts, floors=around, learned=learned)


def _assigned(snapshot: Index, items: Items, found: Grouping) -> Grouping:
    """Every item in the topic whose centroid is nearest, if it is near enough, and in the nearest part of that."""
    count, size = len(found.centroids), len(items.passages)
    topics, parts = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    to_topic, to_part = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
    for place, vectors, means in items.batches(snapshot) if count else ():
        label, cosine = nearest(means, found.centroids)
        label = np.where(cosine < found.floors[label], -1, label)
        part = _nearest_parts(means, label, found)
        inner = items.of[place] - items.of[place.start]
        topics[place], parts[place] = label[inner], part[inner]
        to_topic[place] = _cosines(vectors, found.centroids, topics[place])
        to_part[place] = _cosines(vectors, found.parts, parts[place])
    central = np.zeros((count + len(found.parts), CENTRAL), dtype=np.int64)
    for first, labels_, cosines in ((0, topics, to_topic), (count, parts, to_part)):
        for cluster, places in _by_cosine(labels_, cosines):
            chosen = _differing(snapshot.passages(items.passages[places[:_NEAREST]].tolist()))
            central[first + cluster, : len(chosen)] = chosen
    heads = items.heads
    sizes = [
        np.bincount(one[heads][one[heads] >= 0], minlength=most)
        for one, most in ((topics, count), (parts, len(found.parts)))
    ]
    return replace(
        found,
        state=state_of(snapshot),
        passages=items.passages,
        topics=topics,
        subtopics=parts,
        sizes=np.concatenate(sizes),
        central=central,
        total=items.count,
    )


def _nearest_parts(means: Vectors, topics: Labels, found: Grouping) -> Labels:
    """For each item the nearest part of its topic, -1 where that has none."""
    parts = np.full(len(topics), -1, dtype=np.int64)
    for topic in np.unique(found.parents).tolist():
        inside = np.flatnonzero(topics == topic)
        own = np.flatnonzero(found.parents == topic)
        if len(inside):
            parts[inside] = own[nearest(means[inside], found.parts[own])[0]]
    return parts


def _cosines(vectors: Vectors, centroids: Vectors, labels_: Labels) -> Cosines:
    """Of each vector with its cluster's centroid; -1 where it is in none."""
    if not len(centroids):
        return np.full(len(vectors), -1, dtype=np.float32)
    return np.where(labels_ < 0, np.float32(-1), np.einsum("ij,ij->i", vectors, centroids[labels_]))


def _by_cosine(labels_: Labels, cosines: Cosines) -> Iterator[tuple[int, Labels]]:
    """The members of each cluster, nearest to its centroid first."""
    order = np.lexsort((-cosines, labels_))
    ranked = labels_[order]
    for cluster in np.unique(ranked[ranked >= 0]).tolist():
        start, end = np.searchsorted(ranked, (cluster, cluster + 1))
        yield cluster, order[start:end]


def _differing(passages: Sequence[StoredPassage]) -> list[int]:
    """The first passages that are no near-duplicates of one another, or all if there are too few."""
    chosen: dict[int, frozenset[str]] = {}
    for passage in passages:
        words = words_of(passage)
        if not any(nearly_same(words, other) for other in chosen.values()):
            chosen[passage.id] = words
    return list(chosen)[:CENTRAL]


def _named(snapshot: Index, found: Grouping, before: tuple[tuple[str, ...], ...] | None) -> tuple[tuple[str, ...], ...]:
    """The terms of all topics and parts."""
    count = len(found.centroids)
    read, terms = _Texts(snapshot), labels.Terms()
    texts = [read.some(found.passages[found.topics == topic]) for topic in range(count)]
    names = labels.label_all(snapshot, texts, kept=before and before[:count], terms=terms)
    for topic in np.unique(found.parents).tolist():
        own = np.flatnonzero(found.parents == topic)
        parts = [read.some(found.passages[found.subtopics == part]) for part in own]
        kept = [before[count + part] for part in own] if before else None
        names += labels.label_all(snapshot, parts, kept=kept, without=names[topic], terms=terms)
    return tuple(names)


class _Texts(dict[int, str]):
    """Texts of passages as the keyword index reads them, with their title and headings, by row number."""

    def __init__(self, snapshot: Index) -> None:
        super().__init__()
        self._snapshot = snapshot

    def some(self, passages: Labels) -> list[str]:
        """Some of a cluster's texts, evenly spread."""
        chosen = passages[spread(len(passages), labels.SAMPLE)].tolist()
        for one in self._snapshot.passages([number for number in chosen if number not in self]):
            self[one.id] = "\n".join(dict.fromkeys((one.title, *one.heading, one.text[one.body :])))
        return [self[number] for number in chosen]
