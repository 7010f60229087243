"""A model with the same name but different vectors is refused for questions; a build with it embeds everything."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import IncompatibleError
from index.snapshot import Snapshot
from qa import Retriever, build_index
from tests.robustness.picture import listing
from tests.small_models import build

TEXTS = {
    "award.md": "# Award\n\nThe reviewers read eleven submissions.\n\n## Who won\n\nThe cats won the award.\n",
    "robots.txt": "A dog barked at the robots, the robots at the moon.\n",
}


def other_weights(model: Path) -> None:
    """Flip the sign of every seventh weight."""
    file = model / "model.safetensors"
    data = bytearray(file.read_bytes())
    # The file begins with the length of its header; each weight has 4 bytes, with the sign bit in the last.
    first = 8 + int.from_bytes(data[:8], "little")
    for place in range(first + 3, len(data), 7 * 4):
        data[place] ^= 0x80
    file.write_bytes(bytes(data))


def other_prompts(model: Path) -> None:
    """Prefix queries and documents with different words."""
    edit(model / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": "passage: "}})


def other_pooling(model: Path) -> None:
    """Use the first token's vector, not the mean of all tokens."""
    file = model / "1_Pooling" / "config.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    if "pooling_mode" in written:  # the format of newer versions
        edit(file, {"pooling_mode": "cls"})
    else:
        edit(file, {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True})


def edit(file: Path, values: dict[str, object]) -> None:
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(content | values), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a model and a corpus indexed with it."""
    place = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        (place / "corpus").mkdir()
        for name, text in TEXTS.items():
            (place / "corpus" / name).write_text(text, encoding="utf-8")
            os.utime(place / "corpus" / name, (1_000_000_000, 1_000_000_000))
        build("bert-mean", place).rename(place / "model")
        build_index(place / "corpus", model=str(place / "model"))
        yield place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Iterator[Path]:
    """The same folder for a test to change; restored afterwards, as the path is the model's name."""
    shutil.copytree(made, tmp_path / "kept")
    yield made
    shutil.rmtree(made)
    shutil.copytree(tmp_path / "kept", made)


def shown(root: Path) -> list[Any]:
    with Snapshot(root / ".qa") as snapshot:
        return listing(snapshot)


@pytest.mark.parametrize("change", [other_weights, other_prompts, other_pooling])
def test_changed_model_with_the_same_name_is_refused(place: Path, change: Callable[[Path], None]) -> None:
    """A question with the changed model is refused, and the index stays as it is."""
    before = shown(place / "corpus")
    change(place / "model")
    with pytest.raises(IncompatibleError, match=r"was built with .*fingerprint.*qa index --model"):
        Retriever.open(place / "corpus")
    assert shown(place / "corpus") == before


def test_a_build_with_other_weights_embeds_everything(place: Path) -> None:
    root = place / "corpus"
    before = shown(root)
    other_weights(place / "model")
    report = build_index(root)
    assert (report.unchanged, report.embedded, report.reused) == (2, report.passages, 0)
    with Retriever.open(root) as retriever:
        assert retriever.ask("Who won the award?").passages
    vectors = [{row[-1] for document in documents for row in document[-1]} for documents in (before, shown(root))]
    assert not vectors[0] & vectors[1]


def test_the_same_files_under_another_name_are_the_same_model(place: Path, tmp_path: Path) -> None:
    """A model is identified by the files that determine its vectors, not by its path."""
    shutil.copytree(place / "model", tmp_path / "moved")
    report = build_index(place / "corpus", model=str(tmp_path / "moved"))
    assert (report.embedded, report.unchanged) == (0, 2)
    with Retriever.open(place / "corpus") as retriever:
        assert retriever.snapshot.info.model == str(tmp_path / "moved")
