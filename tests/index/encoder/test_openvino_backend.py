"""The compiled copy of the model: made once, checked, replaced if damaged, and never required."""

from __future__ import annotations

import errno
import gc
import os
import tempfile
import weakref
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from index.compiled import compiled_copy
from index.compiled.compiled_copy import CompiledCopy, Hint
from index.compiled.runtime import CompileError, has_amx
from index.encoder import load
from index.encoder.load import FastestEncoder, load_encoder
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder, balanced_batches
from index.encoder.openvino_graph import _require_agreement
from index.encoder.torch_backend import TorchEncoder
from index.storage import disk
from index.storage.sealed import read_sealed, seal
from tests.small_models import default_with

QUESTION = "Which paper won the award?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with a compiled copy."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        CompiledEncoder(find()).prepare()
    return cache


@pytest.mark.parametrize(
    ("widths", "count", "cuts"),
    [
        ([160] * 10, 2, [5, 10]),
        ([240, 128, 128, 128, 112, 112, 96, 96, 80, 80], 2, [3, 10]),
        ([256, 16], 2, [1, 2]),
        ([64], 2, [1]),
        ([], 2, []),
        ([32] * 20, 2, [5, 10, 15, 20]),
        ([96, 80, 64, 48], 8, [1, 2, 3, 4]),
    ],
)
def test_batches_are_divided_into_equal_amounts_of_work(widths: list[int], count: int, cuts: list[int]) -> None:
    assert balanced_batches(widths, count) == cuts


def copy_in(cache: Path) -> Path:
    (folder,) = (cache / "qa" / "compiled").iterdir()
    return folder


def test_a_damaged_copy_is_replaced(
    made: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(made))
    expected = CompiledEncoder(find()).encode_query(QUESTION)
    assert "preparing" not in caplog.text
    weights = copy_in(made) / "model.bin"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    assert np.array_equal(CompiledEncoder(find()).encode_query(QUESTION), expected)
    assert weights.read_bytes() != bytes(data)
    assert "preparing sentence-transformers/all-MiniLM-L6-v2 for this machine (once)" in caplog.text


TEXTS = [QUESTION, "The harbour closes at dusk. " * 20]


@pytest.mark.parametrize("damage", ["none", "missing", "flipped", "another"])
def test_files_prepared_for_the_processor_change_no_vector(
    made: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """Whether they are used, or damaged and replaced; vectors for questions are those of a build."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(made))
    for hint in Hint:
        CompiledEncoder(find(), hint=hint).prepare()
    expected = CompiledEncoder(find()).encode_passages(TEXTS)
    both = sorted(copy_in(made).glob("*.prepared"))
    assert len(both) == len(Hint)
    for prepared in both:
        data = prepared.read_bytes()
        if damage == "missing":
            prepared.unlink()
        elif damage == "flipped":
            prepared.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        elif damage == "another":
            prepared.write_bytes(seal(b"of another version of OpenVINO"))
    for count, hint in enumerate(Hint, 1):
        assert np.array_equal(CompiledEncoder(find(), hint=hint).encode_passages(TEXTS), expected)
        sound = [file for file in both if len(read_sealed(file) or b"") > 100_000]
        assert len(sound) == (2 if damage == "none" else count)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that cannot be made, because a file is in the way."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def test_without_a_cache_a_copy_is_made_for_this_process(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It gives the same vectors, leaves nothing behind, and one line names the folder and the fix."""
    encoder = FastestEncoder(find())
    found = encoder.encode_passages(TEXTS)
    FastestEncoder(find(), hint=Hint.LATENCY).encode_query(QUESTION)
    assert isinstance(encoder._backend(), CompiledEncoder)
    assert list(nowhere.iterdir()) == []
    (warning,) = [one for one in caplog.messages if "preparing" not in one]
    folder = nowhere.parent / "file" / "qa" / "compiled"
    assert warning.startswith(f"cannot keep compiled models in {folder}: Not a directory. ")
    assert warning.endswith("Set XDG_CACHE_HOME to a folder of yours.")
    monkeypatch.undo()
    assert np.array_equal(found, CompiledEncoder(find()).encode_passages(TEXTS))


def test_a_cache_that_refuses_is_like_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def refuse(_: str, path: Path) -> None:
        if path.is_relative_to(tmp_path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with disk.watched(refuse):
        CompiledEncoder(find(), hint=Hint.LATENCY).prepare()
    assert list(tmp_path.iterdir()) == []


def test_torch_is_used_without_a_temporary_folder_too(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = CompiledEncoder(find()).encode_query(QUESTION)
    nowhere.rmdir()
    encoder = FastestEncoder(find())
    assert float(encoder.encode_query(QUESTION) @ expected) >= 0.999
    assert isinstance(encoder._backend(), TorchEncoder)
    assert "embedding with torch, which is slower: the compiled model cannot be written to a temporary" in caplog.text


@pytest.mark.parametrize("ahead", [False, True])
def test_a_dropped_encoder_is_freed_at_once(ahead: bool) -> None:
    """With its model: a server loads one for each update, and garbage collection may be rare."""
    CompiledEncoder(find(), hint=Hint.LATENCY).prepare()
    gc.disable()
    try:
        encoder = FastestEncoder(find(), ahead=ahead, hint=Hint.LATENCY)
        encoder.encode_query(QUESTION)
        backend = encoder._backend()
        assert isinstance(backend, CompiledEncoder)
        backend._engine._thread.shutdown()  # its last call may still be ending
        dropped = [weakref.ref(one) for one in (encoder, encoder._copy, backend._engine)]
        assert encoder._copy._ahead is None  # else it would keep the model that the engine has
        del encoder, backend
        assert [one() for one in dropped] == [None] * 3
    finally:
        gc.enable()


def test_collections_that_are_asked_share_an_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may open a hundred; builds have encoders of their own, and the last one to go frees the shared one."""
    # Other tests of this process may have collections open.
    monkeypatch.setattr(load, "_FOR_QUESTIONS", weakref.WeakValueDictionary())
    gc.disable()
    try:
        first, second = (load_encoder(ahead=True, hint=Hint.LATENCY) for _ in range(2))
        assert first is second
        first.encode_query(QUESTION)
        assert load_encoder() is not first
        shared = weakref.ref(first)
        del first, second
        assert shared() is None
    finally:
        gc.enable()


def test_a_copy_that_disagrees_with_its_model_is_refused() -> None:
    right = np.array([[1.0, 0.0]])
    _require_agreement("m", right * 3, right, 0.9995)
    for wrong in (np.array([[1.0, 0.04]]), np.array([[np.nan, 0.0]]), np.array([[1.0, 0.0, 0.0]])):
        with pytest.raises(CompileError, match="does not give the vectors of the original"):
            _require_agreement("m", wrong, right, 0.9995)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES), "model.safetensors"), "denied: 'model.safetensors'"),
        (RuntimeError("no such operation"), "no such operation"),
    ],
)
def test_a_model_that_cannot_be_built_is_a_compile_error(
    error: Exception, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is not blamed on the cache, and nothing is left behind; torch can be used instead."""
    monkeypatch.setattr(compiled_copy, "cache_folder", lambda: tmp_path)

    def refuse(_: object) -> NoReturn:
        raise error

    with pytest.raises(CompileError, match=f"^small cannot be compiled: .*{words}"):
        CompiledCopy("small", "key", refuse).load(Hint.LATENCY)
    assert "cannot keep compiled models" not in caplog.text
    assert list((tmp_path / "compiled").iterdir()) == []


def test_a_copy_that_does_not_load_is_a_compile_error(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(made))
    monkeypatch.setattr(compiled_copy, "_load", lambda *_, **__: 1 / 0)
    with pytest.raises(CompileError, match="cannot be loaded: division by zero"):
        CompiledEncoder(find()).prepare()


def test_models_that_pool_without_their_prompt_are_not_compiled(tmp_path: Path, cache: Path) -> None:
    changes: dict[str, dict[str, object]] = {
        "config_sentence_transformers.json": {"prompts": {"query": "query: "}},
        "1_Pooling/config.json": {"include_prompt": False},
    }
    model = find(str(default_with(tmp_path / "model", changes)))
    with pytest.raises(CompileError, match="pools without its prompt"):
        CompiledEncoder(model).prepare()


@pytest.mark.parametrize("in_float32", [False, True])
def test_a_vector_does_not_depend_on_the_size_of_its_batch(in_float32: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, at every padded length in the default precision and at some in float32."""
    if in_float32:
        if not has_amx():
            pytest.skip("float32 is the default precision here")
        monkeypatch.setattr(compiled_copy, "has_amx", lambda: False)
    encoder = CompiledEncoder(find())
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "how", "one", "dog", "after", "another", "ran", "by"]
    for length in range(6, 254, 48 if in_float32 else 16):
        texts = [" ".join(words[(place + n) % len(words)] for n in range(length - place)) for place in range(4)]
        together = encoder.encode_passages(texts)
        for count in (1, 2, 3):
            assert np.array_equal(encoder.encode_passages(texts[:count]), together[:count]), (length, count)
        assert np.array_equal(encoder.encode_passages(texts[3:]), together[3:]), length


def test_an_interruption_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with several batches at once; the next call gives correct vectors."""
    texts = [f"the cat sat on mat {number}" * (1 + number % 7) for number in range(60)]
    encoder = CompiledEncoder(find())
    expected = encoder.encode_passages(texts)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr("index.encoder.openvino_backend._outputs", interrupted)
            with pytest.raises(KeyboardInterrupt):
                encoder.encode_passages(texts)
        assert np.array_equal(encoder.encode_passages(texts), expected)
