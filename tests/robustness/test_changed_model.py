"""A model with the same name but different vectors is refused for questions; a build with it embeds everything."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import IncompatibleError
from index.snapshot import Snapshot
from qa import Retriever, build_index
from tests.robustness.picture import listing
from tests.small_models import build


def change_weights(model: Path) -> None:
    """Flip the sign of every seventh weight."""
    file = model / "model.safetensors"
    data = bytearray(file.read_bytes())
    # The file begins with the length of its header; each weight has 4 bytes, with the sign bit in the last.
    first = 8 + int.from_bytes(data[:8], "little")
    for place in range(first + 3, len(data), 7 * 4):
        data[place] ^= 0x80
    file.write_bytes(bytes(data))


def stored(root: Path) -> list[Any]:
    with Snapshot(root / ".qa") as snapshot:
        return listing(snapshot)


def test_a_model_is_identified_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under another name it is the same model; with other weights under the same name it is another."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root, model = tmp_path / "corpus", tmp_path / "moved"
    root.mkdir()
    (root / "award.md").write_text("# Award\n\nThe reviewers read on.\n\n## Who won\n\nThe cats won the award.\n")
    first = build_index(root, model=str(build("roberta-mean", tmp_path)))
    shutil.copytree(tmp_path / "roberta-mean", model)
    assert build_index(root, model=str(model)).embedded == 0
    before = stored(root)
    change_weights(model)
    with pytest.raises(IncompatibleError, match=r"was built with .*fingerprint.*qa index --model"):
        Retriever.open(root)
    assert stored(root) == before
    report = build_index(root)
    assert (report.unchanged, report.embedded, report.reused) == (1, first.passages, 0)
    with Retriever.open(root) as retriever:
        assert retriever.ask("Who won the award?").passages
        assert retriever.snapshot.info.model == str(model)
    vectors = [{row[-1] for document in documents for row in document[-1]} for documents in (before, stored(root))]
    assert not vectors[0] & vectors[1]
