"""The encoder that runs the compiled copy of a model, or torch if there is none."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from index.compiled import compiled_copy
from index.compiled.compiled_copy import CompiledCopy, Hint
from index.compiled.runtime import CompileError, has_amx
from index.encoder import load, openvino_backend
from index.encoder.load import FastestEncoder, load_encoder
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder, balanced_batches
from index.encoder.torch_backend import TorchEncoder
from tests.small_models import default_with

QUESTION = "Which paper won the award?"


@pytest.mark.parametrize(
    ("widths", "count", "ends"),
    [
        ([240, 128, 128, 128, 112, 112, 96, 96, 80, 80], 2, [3, 10]),
        ([256, 16], 2, [1, 2]),
        ([], 2, []),
        ([32] * 20, 2, [5, 10, 15, 20]),
        ([96, 80, 64, 48], 8, [1, 2, 3, 4]),
    ],
)
def test_concurrent_batches_take_similar_amounts_of_work(widths: list[int], count: int, ends: list[int]) -> None:
    assert balanced_batches(widths, count) == ends


def test_torch_is_used_if_the_model_cannot_be_compiled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = CompiledEncoder(find()).encode_query(QUESTION)

    def refuse(*_: object) -> NoReturn:
        raise CompileError("no such operation")

    monkeypatch.setattr(CompiledCopy, "load", refuse)
    encoder = FastestEncoder(find())
    assert float(encoder.encode_query(QUESTION) @ expected) >= 0.999
    assert isinstance(encoder._backend(), TorchEncoder)
    assert "embedding with torch, which is slower: no such operation" in caplog.text


@pytest.mark.parametrize("ahead", [False, True])
def test_a_dropped_encoder_is_freed_at_once(ahead: bool) -> None:
    """With its model: a server loads an encoder for each update, and garbage collection may be rare."""
    CompiledEncoder(find(), hint=Hint.LATENCY).prepare()
    gc.disable()
    try:
        encoder = FastestEncoder(find(), ahead=ahead, hint=Hint.LATENCY)
        encoder.encode_query(QUESTION)
        backend = encoder._backend()
        assert isinstance(backend, CompiledEncoder)
        backend._engine._executor.shutdown()  # its last call may still be ending
        references = [weakref.ref(item) for item in (encoder, encoder._copy, backend._engine)]
        assert encoder._copy._preloaded is None  # else it would keep the engine's model alive
        del encoder, backend
        assert [reference() for reference in references] == [None] * 3
    finally:
        gc.enable()


def test_open_collections_share_an_encoder_for_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may open a hundred. It is freed with the last one, and builds have their own encoders."""
    # Other tests of this process may have collections open.
    monkeypatch.setattr(load, "_SHARED_ENCODERS", weakref.WeakValueDictionary())
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
    """Bit for bit, at some padded lengths in float32, and at all in bf16, where batches have no empty rows."""
    if not in_float32 and not has_amx():
        pytest.skip("float32 is the default precision here")
    if in_float32:
        monkeypatch.setattr(compiled_copy, "has_amx", lambda: False)
    encoder = CompiledEncoder(find())
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "how", "one", "dog", "after", "another", "ran", "by"]
    for length in range(6, 254, 48 if in_float32 else 16):
        texts = [" ".join(words[(i + n) % len(words)] for n in range(length - i)) for i in range(4)]
        together = encoder.encode_passages(texts)
        for count in (1, 3) if in_float32 else (1, 2, 3):
            assert np.array_equal(encoder.encode_passages(texts[:count]), together[:count]), (length, count)
        assert np.array_equal(encoder.encode_passages(texts[3:]), together[3:]), length


def test_an_interruption_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with several concurrent batches; the next call gives correct vectors."""
    monkeypatch.setattr(openvino_backend, "_BATCH_TOKENS", 128)
    texts = [f"the cat sat on mat {number}" * (1 + number % 7) for number in range(30)]
    encoder = CompiledEncoder(find())
    expected = encoder.encode_passages(texts)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr(openvino_backend, "_outputs", interrupt)
            with pytest.raises(KeyboardInterrupt):
                encoder.encode_passages(texts)
        assert np.array_equal(encoder.encode_passages(texts), expected)
