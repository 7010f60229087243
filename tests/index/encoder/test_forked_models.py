"""Models of torch work in a forked process, which has none of torch's threads, and no lock is held there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from index.encoder.devices import Device
from index.encoder.load import FastestEncoder
from index.encoder.model_files import find
from tests import small_models
from tests.marks import needs_fork

_PROGRAM = """
import os, signal, sys
import numpy as np
from index.encoder.cross_encoder import load_cross_encoder
from index.encoder.devices import Device
from index.encoder.model_files import find
from index.encoder.torch_backend import TorchEncoder

# So many that they are shared among threads, and of one length, so that they are one batch.
texts = [f"{number}. " + "The meadow was flooded, and a heron was seen. " * 6 for number in range(8)]
encoder, model = TorchEncoder(find()), load_cross_encoder(sys.argv[1], Device.CPU)


def results():
    return encoder.encode_passages(texts), model.scores("What was seen?", texts)


before = results()
child = os.fork()
if not child:
    signal.alarm(60)
assert all(map(np.array_equal, before, results()))
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@needs_fork
def test_forked_torch_gives_the_same_vectors_and_scores(tmp_path: Path) -> None:
    folder = small_models.cross_encoder(tmp_path / "scores")
    # With one thread there are none to wait for.
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    program = [sys.executable, "-W", "ignore", "-c", _PROGRAM, str(folder)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_fork
def test_locks_of_an_encoder_are_free_in_a_forked_process() -> None:
    encoder = FastestEncoder(find(), device=Device.CPU)
    with encoder._lock, encoder._gpu._lock:
        child = os.fork()
        if not child:
            signal.alarm(20)
            with encoder._lock, encoder._gpu._lock:
                os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
