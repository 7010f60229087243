"""The topics of one generation as arrays, and their file, which is derived and rebuilt if damaged."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from corpus.errors import LockedError, StorageError
from index import Index, Vectors, read_sealed, write_derived
from qa.explore.clusters import Cosines, Labels

FILE = "topics.bin"
_VERSION = 1
# How many passages are cited for a topic.
CENTRAL = 3
_HEADER = "header"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Topics, their parts and their members. The clusters are the n topics, followed by the m parts of all topics.

    Attributes:
        state: Identifies the index and its generation.
        unit: What is grouped: passages or documents.
        wanted: The requested number of topics; 0 if the data determined it.
        terms: The terms of each cluster.
        centroids: `(n, dim)`, unit L2 norm.
        floors: `(n,)`, the lowest cosine with which an item belongs to its topic.
        parts: `(m, dim)`, the parts' centroids, unit L2 norm.
        parents: `(m,)`, the topic of each part, ascending.
        learned: Row numbers of the vectors that the topics were found from, ascending.
        passages: `(p,)`, row numbers of all passages, in order of documents and text.
        topics: `(p,)`, the topic of each passage, -1 for none.
        subtopics: `(p,)`, the part of each passage, -1 for none.
        sizes: `(n + m,)`, items in each cluster.
        central: `(n + m, 3)`, the passages nearest to each cluster's centroid, nearest first; 0 for none.
        total: How many items there are.
    """

    state: str
    unit: str
    wanted: int
    terms: tuple[tuple[str, ...], ...]
    centroids: Vectors
    floors: Cosines
    parts: Vectors
    parents: Labels
    learned: Labels
    passages: Labels
    topics: Labels
    subtopics: Labels
    sizes: Labels
    central: Labels
    total: int

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each cluster: "3" is a topic, "3.1" its first part."""
        places = np.arange(len(self.parents)) - np.searchsorted(self.parents, self.parents)
        parts = (f"{parent + 1}.{place + 1}" for parent, place in zip(self.parents, places, strict=True))
        return (*(str(number + 1) for number in range(len(self.centroids))), *parts)

    def members(self, cluster: int) -> frozenset[int]:
        """Return the row numbers of a cluster's passages."""
        count = len(self.centroids)
        inside = self.topics == cluster if cluster < count else self.subtopics == cluster - count
        return frozenset(self.passages[inside].tolist())


def state_of(snapshot: Index) -> str:
    """Return a digest that identifies this generation of this index."""
    return hashlib.blake2b(repr(snapshot.info).encode(), digest_size=16).hexdigest()


def read_grouping(snapshot: Index) -> Grouping | None:
    """Return the saved topics of this or another generation; None if there are none or they are unusable."""
    data = None if snapshot.folder is None else read_sealed(snapshot.folder / FILE)
    if data is None:
        return None
    from safetensors import SafetensorError  # noqa: PLC0415
    from safetensors.numpy import load  # noqa: PLC0415

    try:
        arrays = load(data)
        header = json.loads(bytes(arrays.pop(_HEADER)))
        if header.pop("version") != _VERSION:
            return None
        header["terms"] = tuple(tuple(map(str, terms)) for terms in header["terms"])
        widened: dict[str, Any] = {
            name: array.astype(np.int64 if array.dtype.kind == "i" else np.float32) for name, array in arrays.items()
        }
        grouping = Grouping(**header, **widened)
        _require_valid(grouping, snapshot.info.dimension)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        _log.debug("saved topics are unusable: %s", error)
        return None
    return grouping


def write_grouping(snapshot: Index, grouping: Grouping) -> str:
    """Save topics, or return why that is impossible now; they are then found again next time."""
    if snapshot.folder is None:
        return "the index is not in a folder."
    from safetensors.numpy import save  # noqa: PLC0415

    values = asdict(grouping)
    arrays = {name: np.ascontiguousarray(value) for name, value in values.items() if isinstance(value, np.ndarray)}
    for name in ("parents", "topics", "subtopics"):
        arrays[name] = arrays[name].astype(np.int16)
    header = {"version": _VERSION, **{name: value for name, value in values.items() if name not in arrays}}
    arrays[_HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    try:
        write_derived(snapshot.folder / FILE, save(arrays))
    except (LockedError, StorageError) as error:
        return str(error)
    return ""


def _require_valid(grouping: Grouping, dimension: int) -> None:
    """Raise ValueError for an impossible grouping, as a file with a valid checksum may still be forged."""
    count, part_count = len(grouping.centroids), len(grouping.parts)
    clusters, passages = count + part_count, len(grouping.passages)
    floats: dict[str, tuple[int, ...]] = {
        "centroids": (count, dimension), "floors": (count,), "parts": (part_count, dimension),
    }  # fmt: skip
    integers: dict[str, tuple[int, ...]] = {
        "parents": (part_count,), "learned": grouping.learned.shape[:1], "passages": (passages,), "sizes": (clusters,),
        "topics": (passages,), "subtopics": (passages,), "central": (clusters, CENTRAL),
    }  # fmt: skip
    limits = {"parents": (0, count), "topics": (-1, count), "subtopics": (-1, part_count)}
    for name, shape in (floats | integers).items():
        array = getattr(grouping, name)
        low, end = limits.get(name, (-np.inf, np.inf))
        is_typed = array.shape == shape and array.dtype.kind == ("f" if name in floats else "i")
        if not is_typed or not np.isfinite(array).all() or (array < low).any() or (array >= end).any():
            raise ValueError(f"{name} is invalid")
    kinds = {"state": str, "unit": str, "wanted": int, "total": int}
    if len(grouping.terms) != clusters or any(type(getattr(grouping, name)) is not kinds[name] for name in kinds):
        raise ValueError("the header is invalid")
    if (np.diff(grouping.parents) < 0).any():
        raise ValueError("parents are not in order")
