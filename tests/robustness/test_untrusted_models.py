"""Models are data: a model that contains code is refused by name, and its code is not run."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.errors import ModelError
from index.encoder.model_files import ModelFiles, find
from index.encoder.sentence_transformer import load_network
from tests.robustness.program import Program

DEFAULT = find()
HEAD = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
WEIGHTS = len(HEAD).to_bytes(8, "little") + HEAD + b"\0\0\0\0"


class Payload:
    """Creates a folder when unpickled."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._mark),)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file or folder that the model's code would create."""
    return tmp_path / "was-run"


@pytest.fixture
def model(tmp_path: Path, mark: Path) -> Path:
    """The default model's small files, with code that would create `mark` when imported."""
    folder = tmp_path / "model"
    shutil.copytree(DEFAULT.folder, folder, ignore=shutil.ignore_patterns("model.safetensors", ".git*"))
    for name in ("evil.py", "modeling_evil.py", "custom_st.py", "configuration_evil.py"):
        (folder / name).write_text(
            f"open({str(mark)!r}, 'w').close()\nfrom sentence_transformers.models import Transformer\n"
            "from transformers import BertConfig as Config, BertModel as Model\n",
            encoding="utf-8",
        )
    return folder


def _pickled(folder: Path, mark: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(mark)))


def _half_downloaded(folder: Path, _: Path) -> None:
    (folder / "model.safetensors").write_bytes((DEFAULT.folder / "model.safetensors").read_bytes()[:100_000])


def _custom_module(folder: Path, _: Path) -> None:
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    module = {"idx": 0, "name": "0", "path": "", "type": "custom_st.Transformer"}
    (folder / "modules.json").write_text(json.dumps([module]), encoding="utf-8")


def _dangling_link(folder: Path, _: Path) -> None:
    """Link to a missing file, as in the hub's cache."""
    (folder / "model.safetensors").symlink_to(f"../../blobs/{'5' * 64}")


def _auto_map(folder: Path, _: Path) -> None:
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    code = {"AutoConfig": "configuration_evil.Config", "AutoModel": "modeling_evil.Model"}
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "evil", "auto_map": code}), encoding="utf-8")


REFUSED = {
    "pickled": (_pickled, "is refused: .* has pickled weights only"),
    "half downloaded": (_half_downloaded, "is incomplete: .*model.safetensors ends too early"),
    "link to a missing file": (_dangling_link, r"has no model\.safetensors\. Fetch it again"),
    "a module of its own": (_custom_module, r"is refused: it brings code of its own \(custom_st.Transformer\)"),
    "auto_map": (_auto_map, r"is refused: config.json asks for other code \(auto_map\)"),
}


@pytest.mark.parametrize(("spoil", "message"), REFUSED.values(), ids=REFUSED)
def test_untrusted_model_is_refused_and_never_run(
    spoil: Callable[[Path, Path], None], message: str, model: Path, mark: Path
) -> None:
    """Loading it without the check runs no code either."""
    spoil(model, mark)
    with pytest.raises(ModelError, match=message):
        find(str(model))
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_network(ModelFiles("evil", model, "0" * 64))
    assert not mark.exists()


def test_unpickling_the_payload_runs_it(mark: Path) -> None:
    """The tests here therefore detect unpickling."""
    pickle.loads(pickle.dumps(Payload(mark)))  # noqa: S301 - our own
    assert mark.exists()


def test_command_refuses_untrusted_model_and_reads_nothing(
    program: Program, model: Path, mark: Path, tmp_path: Path
) -> None:
    """The command prints one line and exits with 5; it creates no index, opens no document and imports no code."""
    _pickled(model, mark)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Words.\n", encoding="utf-8")
    done = program.run("index", str(notes), "--model", str(model))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (5, b"", 1)
    assert b"has pickled weights only" in done.stderr
    assert not (notes / ".qa").exists()
    assert program.opened_files("a.md") == []
    assert not mark.exists()
