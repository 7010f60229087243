"""A model that keeps its name but not its vectors is another model: refused for questions, embedded anew by a build."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

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
    """The sign of every seventh weight is turned over."""
    file = model / "model.safetensors"
    data = bytearray(file.read_bytes())
    # The file begins with the length of its header; the weights are 4 bytes each, the sign in the last.
    first = 8 + int.from_bytes(data[:8], "little")
    for place in range(first + 3, len(data), 7 * 4):
        data[place] ^= 0x80
    file.write_bytes(bytes(data))


def other_prompts(model: Path) -> None:
    """Texts are read behind a word of their kind."""
    edit(model / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": "passage: "}})


def other_pooling(model: Path) -> None:
    """The first token stands for the text, not the mean of all."""
    file = model / "1_Pooling" / "config.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    if "pooling_mode" in written:  # as newer versions write it
        edit(file, {"pooling_mode": "cls"})
    else:
        edit(file, {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True})


def edit(file: Path, values: dict[str, object]) -> None:
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(content | values), encoding="utf-8")


CHANGES = [other_weights, other_prompts, other_pooling]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a model and a corpus that is indexed with it."""
    place = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        (place / "corpus").mkdir()
        for name, text in TEXTS.items():
            (place / "corpus" / name).write_text(text, encoding="utf-8")
        build("bert-mean", place).rename(place / "model")
        yield place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """The same, to be changed; the model has the same name in all of them."""
    shutil.copytree(made, tmp_path / "place")
    build_index(tmp_path / "place" / "corpus", model=str(tmp_path / "place" / "model"))
    return tmp_path / "place"


def vectors(root: Path) -> list[bytes]:
    with Snapshot(root / ".qa") as snapshot:
        ids = [passage.vector for one in snapshot.documents() for passage in snapshot.passages_of(one.path)]
        return [vector.tobytes() for vector in snapshot.vectors(ids)]


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_name_with_another_meaning_is_refused_and_embedded_anew(
    place: Path, change: Callable[[Path], None]
) -> None:
    root = place / "corpus"
    with Retriever.open(root) as retriever:
        assert retriever.ask("Who won the award?").passages
        before = listing(retriever.snapshot)
    old = vectors(root)
    change(place / "model")
    with pytest.raises(IncompatibleError, match=r"was built with .*fingerprint.*qa index --model"):
        Retriever.open(root)
    with Snapshot(root / ".qa") as snapshot:
        assert listing(snapshot) == before
    report = build_index(root)
    assert (report.unchanged, report.embedded, report.reused) == (2, report.passages, 0)
    with Retriever.open(root) as retriever:
        assert retriever.ask("Who won the award?").passages
    assert not set(old) & set(vectors(root))


def test_the_same_files_under_another_name_are_the_same_model(place: Path) -> None:
    """What counts is what shapes the vectors, not where it lies."""
    root = place / "corpus"
    shutil.copytree(place / "model", place / "moved")
    report = build_index(root, model=str(place / "moved"))
    assert (report.embedded, report.unchanged) == (0, 2)
    with Retriever.open(root) as retriever:
        assert retriever.snapshot.info.model == str(place / "moved")
