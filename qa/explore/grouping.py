"""The topics of one generation as arrays, and the file that keeps them: derived, and made again if it is damaged."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from corpus.errors import LockedError, StorageError
from index import Index, Vectors, read_sealed, write_derived
from qa.explore.clusters import Cosines, Labels

FILE = "topics.bin"
_VERSION = 1
# Passages that a topic is cited with.
CENTRAL = 3
_HEADER = "header"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Topics, their parts, and what is in them. Clusters are the n topics, then the m parts of all topics.

    Attributes:
        state: What generation of what index it is of.
        unit: What is grouped: passages or documents.
        wanted: The number of topics that was asked for; 0 where the data chose.
        terms: Of each cluster.
        centroids: `(n, dim)`, unit L2 norm.
        floors: `(n,)`, the cosine from which on an item belongs to its topic.
        parts: `(m, dim)`, as the centroids.
        parents: `(m,)`, the topic of each part, ascending.
        learned: Row numbers of the vectors that were there when the topics were found, ascending.
        passages: `(p,)`, row numbers of all passages, in the order of documents and of the text.
        topics: `(p,)`, the topic of each, -1 for none.
        subtopics: `(p,)`, its part, -1 for none.
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
        """Of each cluster: "3" is a topic, "3.1" its first part."""
        firsts = np.searchsorted(self.parents, self.parents)
        numbers = [
            f"{parent + 1}.{place - first + 1}"
            for place, (parent, first) in enumerate(zip(self.parents, firsts, strict=True))
        ]
        return (*(str(number + 1) for number in range(len(self.centroids))), *numbers)

    def members(self, cluster: int) -> frozenset[int]:
        """Row numbers of a cluster's passages."""
        count = len(self.centroids)
        inside = self.topics == cluster if cluster < count else self.subtopics == cluster - count
        return frozenset(self.passages[inside].tolist())


def state_of(snapshot: Index) -> str:
    """Return what tells this generation of this index from all others."""
    return hashlib.blake2b(repr(snapshot.info).encode(), digest_size=16).hexdigest()


def read_grouping(snapshot: Index) -> Grouping | None:
    """Return the topics that were saved, of this generation or another; None where there are none, or unusable ones."""
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
        wide: dict[str, Any] = {
            name: array.astype(np.int64 if array.dtype.kind == "i" else np.float32) for name, array in arrays.items()
        }
        found = Grouping(**header, **wide)
        _require_sound(found, snapshot.info.dimension)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        _log.debug("saved topics are unusable: %s", error)
        return None
    return found


def write_grouping(snapshot: Index, grouping: Grouping) -> None:
    """Save topics; where there is no folder for them, or it cannot be written now, they are found again next time."""
    if snapshot.folder is None:
        return
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
        _log.debug("topics are not saved: %s", error)


def _require_sound(found: Grouping, dimension: int) -> None:
    """Whoever writes checksums can write anything."""
    count, several = len(found.centroids), len(found.parts)
    clusters, passages = count + several, len(found.passages)
    shapes: dict[str, Any] = {
        "centroids": (count, dimension),
        "floors": (count,),
        "parts": (several, dimension),
        "parents": (several,),
        "learned": (len(found.learned),),
        "passages": (passages,),
        "topics": (passages,),
        "subtopics": (passages,),
        "sizes": (clusters,),
        "central": (clusters, CENTRAL),
    }
    for name, shape in shapes.items():
        array = getattr(found, name)
        floating = name in {"centroids", "floors", "parts"}
        if array.shape != shape or (array.dtype.kind == "f") != floating or not np.isfinite(array).all():
            raise ValueError(f"{name} cannot be")
    for name, most in (("parents", count), ("topics", count), ("subtopics", several)):
        array = getattr(found, name)
        if array.size and not (array.min() >= (0 if name == "parents" else -1) and array.max() < most):
            raise ValueError(f"{name} are out of range")
    texts = [getattr(found, field.name) for field in fields(found) if field.type == "str"]
    if len(found.terms) != clusters or not all(isinstance(one, str) for one in texts):
        raise ValueError("the header cannot be")
    if (np.diff(found.parents) < 0).any() or not all(type(one) is int for one in (found.wanted, found.total)):
        raise ValueError("the header cannot be")
