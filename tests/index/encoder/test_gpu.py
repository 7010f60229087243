"""The choice of a device, and when a GPU embeds passages.

No GPU is needed: it is simulated on the CPU, in float32 like a real one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

from corpus.errors import UsageError
from index.compiled.forks import Unloadable
from index.encoder import devices, load, openvino_backend, torch_backend
from index.encoder.devices import Device, find_gpu, require_gpu
from index.encoder.load import load_encoder
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder
from index.encoder.sentence_transformer import load_network
from index.encoder.tokenizer import TokenIds
from index.encoder.torch_backend import TorchEncoder
from index.encoder.transformer import Output

CHECK_TEXTS = ("Why?", "The meeting was moved to Thursday at half past nine, in the same room.")
TEXTS = ["The meeting was moved to Thursday.", "Who reads this?", *(f"Note {number} on robots." for number in range(8))]


@cache
def _network() -> Any:
    return load_network(find())


class CpuAsGpu(TorchEncoder):
    """An encoder for a GPU that runs on the CPU.

    Attributes:
        calls: The requested device and the number of texts of each call.
        fails_after: The number of calls that succeed.
        noise: A number added to each value of a vector.
    """

    calls: ClassVar[list[tuple[Device, int]]] = []
    fails_after = 99
    noise = 0.0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._network = Unloadable(_network)

    def _run_passages(self, encoded: Sequence[TokenIds], *, tokens: bool) -> Iterator[tuple[int, Output]]:
        self.calls.append((self._device, len(encoded)))
        if len(self.calls) > self.fails_after:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20 GiB.\nMore on that.")
        for index, output in super()._run_passages(encoded, tokens=tokens):
            assert output.tokens.size == 0
            yield index, Output(output.text + np.float32(self.noise), output.tokens)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> type[CpuAsGpu]:
    """A machine with a CUDA GPU."""
    import torch

    monkeypatch.setattr(CpuAsGpu, "calls", [])
    monkeypatch.setattr(devices, "_has_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", lambda precision: None)
    # Large batches and long texts would only take the CPU longer.
    monkeypatch.setattr(torch_backend, "_GPU_TOKENS", 32)
    monkeypatch.setattr(torch_backend, "_ROWS", 2)
    monkeypatch.setattr(openvino_backend, "_BATCH_TOKENS", 64)
    monkeypatch.setattr(load, "CHECK_TEXTS", CHECK_TEXTS)
    monkeypatch.setattr(load, "TorchEncoder", CpuAsGpu)
    return CpuAsGpu


@pytest.fixture(scope="module")
def compiled() -> CompiledEncoder:
    return CompiledEncoder(find())


def least_cosine(vectors: Any, expected: Any) -> float:
    return float(np.min(np.sum(vectors * expected, axis=1)))


@pytest.mark.parametrize(
    ("gpus", "requested", "chosen"),
    [
        ("", Device.AUTO, None),
        ("cuda", Device.AUTO, Device.CUDA),
        ("mps", Device.AUTO, Device.MPS),
        ("cuda mps", Device.MPS, Device.MPS),
        ("cuda", Device.CPU, None),
    ],
)
def test_the_chosen_device(
    gpus: str, requested: Device, chosen: Device | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(devices, "_has_driver", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in gpus)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in gpus)
    assert find_gpu(requested) is chosen


def test_a_requested_gpu_is_required_without_importing_torch_if_there_is_a_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Importing it takes seconds, and most questions need no GPU."""
    looked_for: list[Device] = []
    monkeypatch.setattr(devices, "find_gpu", looked_for.append)
    for has_driver in (True, False):
        monkeypatch.setattr(devices, "_has_driver", lambda has_driver=has_driver: has_driver)
        for device in Device:
            require_gpu(device)
    assert looked_for == [Device.CUDA, Device.MPS]


def test_without_a_driver_torch_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_has_driver", lambda: False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert find_gpu(Device.AUTO) is None
    with pytest.raises(UsageError, match="the device cuda needs torch, which is missing: pip install torch"):
        find_gpu(Device.CUDA)
    monkeypatch.setattr(devices, "_has_driver", lambda: True)
    assert find_gpu(Device.AUTO) is None


@pytest.mark.parametrize(
    ("cuda_version", "reason"),
    [(None, r"is built without it: https://pytorch\.org/get-started"), ("12.8", r"no GPU .*is its driver installed\?")],
)
def test_a_missing_gpu_is_an_error(cuda_version: str | None, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised before anything is indexed."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", cuda_version)
    monkeypatch.setattr(torch.version, "hip", None)
    with pytest.raises(UsageError, match=rf"the device cuda cannot be used: .*{reason}.* `--device auto` uses what"):
        load_encoder(device=Device.CUDA)


def test_passages_are_embedded_on_the_gpu_and_questions_are_not(
    simulated: type[CpuAsGpu], compiled: CompiledEncoder
) -> None:
    encoder = load_encoder(device=Device.CUDA)
    assert least_cosine(encoder.encode_passages(TEXTS), compiled.encode_passages(TEXTS)) >= 0.9999
    assert simulated.calls == [(Device.CUDA, len(CHECK_TEXTS)), (Device.CUDA, len(TEXTS))]
    assert np.array_equal(encoder.encode_query(TEXTS[0]), compiled.encode_query(TEXTS[0]))
    tokens, expected = (model.encode_passage_tokens(TEXTS)[3].vectors for model in (encoder, compiled))
    assert np.array_equal(tokens, expected)
    assert len(simulated.calls) == 2


def test_auto_uses_the_gpu_once_it_pays_off(
    simulated: type[CpuAsGpu], compiled: CompiledEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_GPU_BREAK_EVEN", 15)
    encoder = load_encoder()
    assert np.array_equal(encoder.encode_passages(TEXTS), compiled.encode_passages(TEXTS))
    assert simulated.calls == []
    encoder.encode_passages(TEXTS)
    assert simulated.calls[1:] == [(Device.CUDA, len(TEXTS))]


def test_a_gpu_that_disagrees_is_not_used(
    simulated: type[CpuAsGpu],
    compiled: CompiledEncoder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for noise in (0.001, float("nan")):
        monkeypatch.setattr(simulated, "noise", noise)
        encoder = load_encoder(device=Device.CUDA)
        for _ in range(2):
            assert np.array_equal(encoder.encode_passages(TEXTS), compiled.encode_passages(TEXTS))
        assert "embedding on the CPU, as the GPU's vectors differ from the CPU's (cosine " in caplog.text
        caplog.clear()
    assert simulated.calls == [(Device.CUDA, len(CHECK_TEXTS))] * 2


@pytest.mark.parametrize("successes", [0, 2])
def test_if_the_gpu_fails_the_cpu_takes_over(
    successes: int,
    simulated: type[CpuAsGpu],
    compiled: CompiledEncoder,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whether it fails at its start or while it embeds."""
    monkeypatch.setattr(simulated, "fails_after", successes)
    encoder = load_encoder(device=Device.CUDA)
    vectors = [encoder.encode_passages(TEXTS) for _ in range(3)]
    assert np.array_equal(vectors[2], compiled.encode_passages(TEXTS))
    assert least_cosine(vectors[0], vectors[2]) >= 0.9999
    assert len(simulated.calls) == successes + 1
    assert "CUDA out of memory. Tried to allocate 20 GiB." in caplog.text
    assert "More on that" not in caplog.text
