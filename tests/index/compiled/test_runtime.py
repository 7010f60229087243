"""In which precision a compiled copy runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.compiled import compiled_copy, runtime
from index.compiled.compiled_copy import Hint
from index.compiled.runtime import has_amx, openvino
from index.encoder.model_files import find
from index.encoder.openvino_graph import encoder_copy
from index.encoder.tokenizer import ModelTokenizer


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What is known of this processor is no other test's."""
    has_amx.cache_clear()
    yield
    has_amx.cache_clear()


@pytest.mark.parametrize(
    ("told", "has"),
    [
        ("processor : 0\nflags\t\t: fpu avx512_bf16 amx_bf16 avx512_fp16\n", True),
        # Zen 4, and machines that are shared out without AMX: bf16 takes longer than float32 there.
        ("processor : 0\nflags\t\t: fpu avx512_bf16 avx512_vnni\n", False),
        ("processor : 0\nFeatures\t: fp asimd\n", False),
        (None, False),
    ],
)
def test_what_the_system_tells_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None, has: bool
) -> None:
    file = tmp_path / "cpuinfo"
    if told is not None:
        file.write_text(told)
    monkeypatch.setattr(runtime, "_PROCESSORS", file)
    assert has_amx() is has


def test_bf16_needs_units_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_copy, "has_amx", lambda: False)
    network = encoder_copy(find(), lambda: ModelTokenizer(find())).load(Hint.LATENCY)
    with openvino() as library:
        assert network.get_property("INFERENCE_PRECISION_HINT") == library.Type.f32
