"""The topics of a collection, on two levels: found once, saved with the index, and stable under small edits."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from corpus.errors import UsageError
from index import Among, Index, StoredPassage, Vectors
from qa.answer.citation import cited
from qa.explore import labels
from qa.explore.clusters import Cosines, Labels, evenly_spaced, find_centroids, floors, nearest, refine, score_of
from qa.explore.grouping import CENTRAL, Grouping, read_grouping, state_of, write_grouping
from qa.explore.items import PASSAGES, Items, columns_of
from qa.explore.parameters import MAX_TOPICS
from qa.explore.results import Topic, Topics
from qa.explore.similar import stored_vectors
from qa.filters import EVERYTHING, Filter, select
from qa.near_duplicates import nearly_same, words_of
from qa.require import require_type

# Limits for the share of vectors that are new or gone: below the first, topics are kept; below the second, refined;
# otherwise found anew.
_KEEP_BELOW, _REFINE_BELOW = 0.2, 0.6
# The fewest items of a topic that is divided, and the most parts it is divided into.
_MIN_DIVIDED = 24
_MAX_PARTS = 6
# A cluster's central passages are the first distinct ones among this many nearest to its centroid.
_CENTRAL_CANDIDATES = 8

_log = logging.getLogger(__name__)


def find_topics(
    snapshot: Index, *, unit: str = PASSAGES, wanted: int | None = None, only: Filter = EVERYTHING
) -> Grouping:
    """Return the topics of a collection, which are saved with the index, or of the documents that pass a filter.

    Raises:
        UsageError: The number is out of range, or nothing matches the filter.
    """
    if wanted is not None:
        require_type("n", wanted, int)
    if wanted is not None and not 1 <= wanted <= MAX_TOPICS:
        raise UsageError(f"the number of topics must be from 1 to {MAX_TOPICS}, not {wanted}.")
    documents = select(snapshot, only)
    if documents is not None:
        return _find_or_update(snapshot, Items.read(snapshot, unit, documents), wanted, None)
    saved = read_grouping(snapshot)
    is_same_kind = (saved.unit, saved.wanted) == (unit, wanted or 0) if saved else (unit, wanted) == (PASSAGES, None)
    previous = saved if is_same_kind else None
    if previous is not None and previous.state == state_of(snapshot):
        return previous
    grouping = _find_or_update(snapshot, Items.read(snapshot, unit), wanted, previous)
    if (problem := write_grouping(snapshot, grouping)) and not is_same_kind:
        _log.warning("these topics are not saved, so qa ask --topic counts others: %s", problem)
    return grouping


def scope_of(snapshot: Index, topic: str, only: Filter) -> Among:
    """Return the passages of a topic by its id, such as "3" or "3.1", as the scope of a search.

    The topics are the saved ones, brought up to date; if there are none, they are found with default settings.

    Raises:
        UsageError: No topic has this id.
    """
    saved = read_grouping(snapshot)
    unit, wanted = (saved.unit, saved.wanted or None) if saved else (PASSAGES, None)
    grouping = find_topics(snapshot, unit=unit, wanted=wanted)
    if topic not in grouping.ids:
        raise UsageError(f"there is no topic {topic}; `qa topics` lists them.")
    members = grouping.members(grouping.ids.index(topic))
    documents = select(snapshot, only)
    if documents is not None:
        members &= frozenset(columns_of(snapshot, documents).passages.tolist())
    return snapshot.scope(members)


def topics_of(root: Path, snapshot: Index, grouping: Grouping) -> Topics:
    """Return topics with their most central passages, cited."""
    numbers = {*grouping.central.ravel().tolist()} - {0}
    passages = {passage.id: passage for passage in snapshot.passages(sorted(numbers))}
    count = len(grouping.centroids)

    def topic(cluster: int, parts: Sequence[Topic] = ()) -> Topic:
        central = [passages[number] for number in grouping.central[cluster].tolist() if number]
        centroid = grouping.centroids[cluster] if cluster < count else grouping.parts[cluster - count]
        scores = [score_of(cosine) for cosine in stored_vectors(snapshot, central) @ centroid]
        hits = cited(root, snapshot, list(zip(central, scores, strict=True)), {})
        terms = grouping.terms[cluster]
        return Topic(grouping.ids[cluster], ", ".join(terms), terms, int(grouping.sizes[cluster]), hits, tuple(parts))

    topics = []
    for cluster in range(count):
        parts = np.flatnonzero(grouping.parents == cluster) + count
        topics.append(topic(cluster, [topic(int(part)) for part in parts]))
    assigned = int(grouping.sizes[:count].sum())
    return Topics(tuple(topics), grouping.total - assigned, grouping.unit, grouping.total)


def _find_or_update(snapshot: Index, items: Items, wanted: int | None, previous: Grouping | None) -> Grouping:
    """Keep, refine or find topics, depending on the changes since `previous`, and assign all items to them."""
    learned = np.unique(items.vectors)
    if previous is not None:
        changed = 1 - len(np.intersect1d(learned, previous.learned)) / max(len(learned), len(previous.learned), 1)
        if changed < _KEEP_BELOW:
            return _assign(snapshot, items, previous)
        if changed < _REFINE_BELOW:
            grouping = _assign(snapshot, items, _refine(previous, items.sample(snapshot), learned))
            return replace(grouping, terms=_terms(snapshot, grouping, previous.terms))
    grouping = _assign(snapshot, items, _find(items, items.sample(snapshot), wanted, learned))
    return replace(grouping, terms=_terms(snapshot, grouping, None))


def _find(items: Items, sample: Vectors, wanted: int | None, learned: Labels) -> Grouping:
    """Find topics and their parts, still without members and terms."""
    parts, parents = [sample[:0]], []
    centroids = find_centroids(sample, wanted=wanted) if len(sample) else sample
    topics, cosines = nearest(sample, centroids) if len(sample) else (np.zeros(0, np.int64), np.zeros(0, np.float32))
    for topic in range(len(centroids)):
        members = sample[topics == topic]
        subtopics = find_centroids(members, limit=_MAX_PARTS) if len(members) >= _MIN_DIVIDED else members[:0]
        if len(subtopics) > 1:
            parts.append(subtopics)
            parents += [topic] * len(subtopics)
    empty = np.zeros(0, dtype=np.int64)
    return Grouping(
        "", items.unit, wanted or 0, (), centroids, floors(topics, cosines, len(centroids)), np.concatenate(parts),
        np.array(parents, dtype=np.int64), learned, empty, empty, empty, empty, empty, 0,
    )  # fmt: skip


def _refine(previous: Grouping, sample: Vectors, learned: Labels) -> Grouping:
    """Refine topics and parts on the current vectors."""
    centroids = refine(sample, previous.centroids)
    topics, cosines = nearest(sample, centroids)
    parts = previous.parts.copy()
    for topic in np.unique(previous.parents).tolist():
        inside = previous.parents == topic
        parts[inside] = refine(sample[topics == topic], previous.parts[inside])
    thresholds = floors(topics, cosines, len(centroids))
    return replace(previous, centroids=centroids, parts=parts, floors=thresholds, learned=learned)


def _assign(snapshot: Index, items: Items, grouping: Grouping) -> Grouping:
    """Assign every item to the nearest topic, if it is near enough, and to that topic's nearest part."""
    count, size = len(grouping.centroids), len(items.passages)
    topics, parts = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    topic_cosines, part_cosines = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
    for positions, vectors, means in items.batches(snapshot) if count else ():
        label, cosine = nearest(means, grouping.centroids)
        label = np.where(cosine < grouping.floors[label], -1, label)
        part = _nearest_parts(means, label, grouping)
        offsets = items.item_numbers[positions] - items.item_numbers[positions[0]]
        topics[positions], parts[positions] = label[offsets], part[offsets]
        topic_cosines[positions] = _cosines(vectors, grouping.centroids, topics[positions])
        part_cosines[positions] = _cosines(vectors, grouping.parts, parts[positions])
    central = np.zeros((count + len(grouping.parts), CENTRAL), dtype=np.int64)
    sizes = np.zeros(len(central), dtype=np.int64)
    for first, clusters, cosines in ((0, topics, topic_cosines), (count, parts, part_cosines)):
        item_clusters = clusters[items.first_passages]
        np.add.at(sizes, first + item_clusters[item_clusters >= 0], 1)
        for cluster, members in _members_by_cosine(clusters, cosines):
            chosen = _first_distinct(snapshot.passages(items.passages[members[:_CENTRAL_CANDIDATES]].tolist()))
            central[first + cluster, : len(chosen)] = chosen
    return replace(
        grouping, state=state_of(snapshot), passages=items.passages, topics=topics, subtopics=parts, sizes=sizes,
        central=central, total=items.count,
    )  # fmt: skip


def _nearest_parts(means: Vectors, topics: Labels, grouping: Grouping) -> Labels:
    """Return for each item the nearest part of its topic, -1 if that has none."""
    parts = np.full(len(topics), -1, dtype=np.int64)
    for topic in np.intersect1d(topics, grouping.parents):
        part_numbers = np.flatnonzero(grouping.parents == topic)
        parts[topics == topic] = part_numbers[nearest(means[topics == topic], grouping.parts[part_numbers])[0]]
    return parts


def _cosines(vectors: Vectors, centroids: Vectors, clusters: Labels) -> Cosines:
    """Return each vector's cosine with its cluster's centroid, -1 if it is in none."""
    if not len(centroids):
        return np.full(len(vectors), -1, dtype=np.float32)
    return np.where(clusters < 0, np.float32(-1), np.einsum("ij,ij->i", vectors, centroids[clusters]))


def _members_by_cosine(clusters: Labels, cosines: Cosines) -> Iterator[tuple[int, Labels]]:
    """Yield each cluster with its members, nearest to its centroid first."""
    order = np.lexsort((-cosines, clusters))
    ranked = clusters[order]
    for cluster in np.unique(ranked[ranked >= 0]).tolist():
        start, end = np.searchsorted(ranked, (cluster, cluster + 1))
        yield cluster, order[start:end]


def _first_distinct(passages: Sequence[StoredPassage]) -> list[int]:
    """Return the first passages that are not near-duplicates of earlier ones, `CENTRAL` at most."""
    chosen: dict[int, frozenset[str]] = {}
    for passage in passages:
        words = words_of(passage)
        if not any(nearly_same(words, earlier) for earlier in chosen.values()):
            chosen[passage.id] = words
    return list(chosen)[:CENTRAL]


def _terms(snapshot: Index, grouping: Grouping, prior: Sequence[tuple[str, ...]] | None) -> tuple[tuple[str, ...], ...]:
    """Return the terms of all topics and parts."""
    count, terms = len(grouping.centroids), labels.Terms()
    texts = [_sample_texts(snapshot, grouping.passages[grouping.topics == topic]) for topic in range(count)]
    names = labels.label_topics(snapshot, texts, earlier=prior and prior[:count], terms=terms)
    for topic in np.unique(grouping.parents).tolist():
        numbers = np.flatnonzero(grouping.parents == topic).tolist()
        texts = [_sample_texts(snapshot, grouping.passages[grouping.subtopics == part]) for part in numbers]
        earlier = [prior[count + part] for part in numbers] if prior else None
        names += labels.label_topics(snapshot, texts, earlier=earlier, without=names[topic], terms=terms)
    return tuple(names)


def _sample_texts(snapshot: Index, passages: Labels) -> list[str]:
    """Return an evenly spread sample of a cluster's texts, with title and headings, as in the keyword index."""
    chosen = passages[evenly_spaced(len(passages), labels.SAMPLE)].tolist()
    return [
        "\n".join(dict.fromkeys((passage.title, *passage.heading, passage.text[passage.body :])))
        for passage in snapshot.passages(chosen)
    ]
