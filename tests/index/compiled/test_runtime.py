"""The precision in which a compiled copy computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.compiled import compiled_copy, runtime
from index.compiled.compiled_copy import Hint
from index.compiled.runtime import has_amx, is_int8_faster, openvino, processor_flags
from index.encoder.model_files import find
from index.encoder.openvino_graph import encoder_copy


@pytest.fixture(autouse=True)
def _no_cached_flags() -> Iterator[None]:
    """Forget the processor's flags before and after each test."""
    processor_flags.cache_clear()
    yield
    processor_flags.cache_clear()


@pytest.mark.parametrize(
    ("cpuinfo", "bf16", "int8"),
    [
        ("processor : 0\nflags\t\t: fpu avx512_bf16 amx_bf16 avx512_vnni\n", True, False),
        # Zen 4, and virtual machines without AMX, where bf16 is slower than float32.
        ("processor : 0\nflags\t\t: fpu avx512_bf16 avx512_vnni\n", False, True),
        ("processor : 0\nflags\t\t: fpu avx2 avx_vnni\n", False, True),
        ("processor : 0\nFeatures\t: fp asimd\n", False, False),
        (None, False, False),
    ],
)
def test_the_precision_follows_from_the_processors_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpuinfo: str | None, bf16: bool, int8: bool
) -> None:
    file = tmp_path / "cpuinfo"
    if cpuinfo is not None:
        file.write_text(cpuinfo)
    monkeypatch.setattr(runtime, "_PROCESSORS", file)
    assert (has_amx(), is_int8_faster()) == (bf16, int8)


def test_bf16_is_not_used_without_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_copy, "has_amx", lambda: False)
    network = encoder_copy(find()).load(Hint.LATENCY)
    with openvino() as library:
        assert network.get_property("INFERENCE_PRECISION_HINT") == library.Type.f32
