"""Torch models work in a forked process, which has none of torch's threads, and locks are free there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from index.encoder.cross_encoder import load_cross_encoder
from index.encoder.devices import Device
from index.encoder.load import FastestEncoder
from index.encoder.model_files import find
from index.encoder.torch_backend import TorchEncoder
from tests import small_models
from tests.forks import exit_code_in_fork
from tests.marks import needs_fork

# Enough to be divided among threads, and of one length, to be one batch.
TEXTS = [f"{number}. " + "The meadow was flooded, and a heron was seen. " * 6 for number in range(8)]


@needs_fork
def test_forked_torch_gives_the_same_vectors_and_scores(tmp_path: Path) -> None:
    import torch

    threads = torch.get_num_threads()
    encoder = TorchEncoder(find())
    cross_encoder = load_cross_encoder(str(small_models.cross_encoder(tmp_path / "scores")), Device.CPU)

    def results() -> tuple[Any, Any]:
        return encoder.encode_passages(TEXTS), cross_encoder.scores("What was seen?", TEXTS)

    def require_same_results() -> None:
        assert all(map(np.array_equal, before, results()))

    torch.set_num_threads(2)  # with a single thread there are no others to wait for
    try:
        before = results()
        assert exit_code_in_fork(require_same_results) == 0
        require_same_results()
    finally:
        torch.set_num_threads(threads)


@needs_fork
def test_locks_of_an_encoder_are_free_in_a_forked_process() -> None:
    encoder = FastestEncoder(find(), device=Device.CPU)

    def take_locks() -> None:
        with encoder._lock, encoder._gpu._lock:
            pass

    with encoder._lock, encoder._gpu._lock:
        assert exit_code_in_fork(take_locks) == 0
