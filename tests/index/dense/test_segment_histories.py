"""Any history of a folder leaves tables and segments that agree."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.discovery.safe_read import read_bytes
from corpus.errors import ModelError, StorageError, Unreadable
from corpus.loading import load
from index.dense import faiss_segments, merge_policy
from index.encoder.protocol import Vectors
from index.snapshot import Snapshot
from index.update import embed_queue
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.index.segments import Truth, check, limit_sizes

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
            patch.setattr(faiss_segments, "write_atomically", refuse)
        if action == "unreadable":
            patch.setattr(load, "read_bytes", refuse_some)
        (rebuild_index if action in ("rebuild", "unreadable") else update_index)(
            Request(root, encoder, allow_empty=True)
        )


def refuse(path: Path, _: object) -> None:
    raise StorageError(f"no space for {path}")


def refuse_some(root: Path, path: str, read: Callable[..., bytes] = read_bytes, **limits: int) -> bytes:
    """What is indexed of such files is kept, also by a rebuild."""
    if path < "2":
        raise Unreadable("Permission denied", unknown=True)
    return read(root, path, **limits)


@contextlib.contextmanager
def tiny() -> Iterator[None]:
    """All that happens to millions of vectors happens to a few."""
    with pytest.MonkeyPatch.context() as patch:
        limit_sizes(patch, exact=4, most=8)
        patch.setattr(merge_policy, "_DEAD_FEW", 1)
        patch.setattr("index.commit.store.SPARE_VECTORS", 5)
        patch.setattr(embed_queue, "_CHUNK", 1)
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
