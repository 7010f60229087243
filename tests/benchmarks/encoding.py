"""How fast passages are embedded: the compiled model beside SentenceTransformer.encode, on the same passages, one run.

    python -m tests.benchmarks.encoding CORPUS --out FILE.json [--passages 512] [--rounds 3]

The passages are those that CORPUS is cut into, a sample by a fixed seed. The rivals take turns, so that noise falls on
all alike: `SentenceTransformer.encode` as it comes (float32, batches of 32), the compiled model in bf16 where the
processor has that, and the compiled model in float32. Beside passages and tokens a second stands which share that is of
what the machine's cores reach in bf16 and float32 matrix products of torch (4,096 x 4,096), counting only the products
of the model: 2 operations a weight of its linear layers and token, and attention.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from corpus.chunking import splitter
from corpus.discovery import walk
from corpus.loading import load
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder
from tests.benchmarks.common import parser, tell

_EDGE = 4096


def passages_of(root: Path, encoder: CompiledEncoder, count: int) -> list[str]:
    """What the encoder reads of a sample of a folder's passages."""
    texts = []
    for file in walk.walk(root).files:
        document = load.load(root, file.path)
        cut = splitter.split(document, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
        texts += [splitter.encoder_text(passage) for passage in cut]
    return random.Random(0).sample(texts, min(count, len(texts)))  # noqa: S311 - not for secrets


def operations(network: SentenceTransformer, lengths: list[int]) -> float:
    """Floating-point operations of the matrix products for texts of so many tokens."""
    layers = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]
    weights = sum(layer.weight.numel() for layer in layers)
    config = network[0].auto_model.config
    attention = sum(4 * config.num_hidden_layers * config.hidden_size * length**2 for length in lengths)
    return float(2 * weights * sum(lengths) + attention)


def peak(kind: torch.dtype) -> float:
    """Operations a second of a large matrix product on all cores, the best of five."""
    a, b = (torch.randn(_EDGE, _EDGE).to(kind) for _ in range(2))
    taken = []
    for _ in range(6):
        begun = time.perf_counter()
        _ = a @ b
        taken.append(time.perf_counter() - begun)
    return 2.0 * _EDGE**3 / min(taken[1:])


def main() -> None:
    """Run the measurement that the command line describes."""
    options = parser(__doc__)
    options.add_argument("corpus", type=Path)
    options.add_argument("--passages", type=int, default=512)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    model = find()
    compiled, single = CompiledEncoder(model), CompiledEncoder(model, precision="f32")
    texts = passages_of(given.corpus, compiled, given.passages)
    network = SentenceTransformer(str(model.folder), device="cpu", local_files_only=True)
    rivals: dict[str, Callable[[], Any]] = {
        "SentenceTransformer.encode, float32, batch 32": lambda: network.encode(
            texts, normalize_embeddings=True, show_progress_bar=False
        ),
        "compiled": lambda: compiled.encode_passages(texts),
        "compiled, float32": lambda: single.encode_passages(texts),
    }
    expected = np.asarray(rivals["SentenceTransformer.encode, float32, batch 32"]())
    cosines = {name: (np.asarray(run()) * expected).sum(axis=1) for name, run in rivals.items()}
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(given.rounds):
        for name, run in rivals.items():
            begun = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - begun)
    lengths = [count + 2 for count in compiled.count_tokens(texts)]
    work = operations(network, lengths)
    peaks = {"bf16": peak(torch.bfloat16), "float32": peak(torch.float32)}
    slowest = float(np.median(next(iter(taken.values()))))
    result = {
        "cores": os.cpu_count(),
        "passages": len(texts),
        "tokens": sum(lengths),
        "peak_gflops": {name: round(value / 1e9) for name, value in peaks.items()},
        "encoders": {
            name: {
                "passages_a_second": round(len(texts) / float(np.median(seconds)), 1),
                "tokens_a_second": round(sum(lengths) / float(np.median(seconds))),
                "ratio": round(slowest / float(np.median(seconds)), 2),
                "gflops": round(work / float(np.median(seconds)) / 1e9),
                "least_cosine": round(float(cosines[name].min()), 6),
            }
            for name, seconds in taken.items()
        },
    }
    tell(result, given.out)


if __name__ == "__main__":
    main()
