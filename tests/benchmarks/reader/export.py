"""Export the weights for the package: six layers and heads in half precision, without the embedding tables.

    python -m tests.benchmarks.reader.export WORK/run-2/final.pt reader.safetensors --mean WORK/run-1/final.pt

The embedding tables are the encoder's; its hash is in the file's metadata (`reader`, JSON).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from tests.benchmarks.common import path_parser

from .batches import MAX_LENGTH, MAX_QUESTION, encode, in_batches
from .model import Reader, base_hash, load_reader

MOST_BYTES = 22_000_000
# Question, context and text of the inputs with which the product checks its compiled copy.
_CHECKS = (
    "When does the harbour close?|Harbour › Opening hours|The harbour closes at dusk, in winter at five.",
    "Who found the comet?|Notes|Nothing was said of who paid for it. " + "It was cloudy for most of May. " * 12,
    "how many of 11,603 papers were accepted|Zürich 2024|1. 3,704 (32 %) were accepted; see https://example.org 🙂",
)
LICENCE = "CC BY-SA 4.0 (made from SQuAD, CC BY-SA 4.0, and ContractNLI, CC BY 4.0)"


def export(checkpoints: Sequence[Path], out: Path, shares: Sequence[float] = ()) -> str:
    """Write the mean of the checkpoints' weights, in these or equal shares, and return the file's SHA-256."""
    reader, *more_readers = map(load_reader, checkpoints)
    trained = reader.trained()
    parts = shares or [1 / len(checkpoints)] * len(checkpoints)
    with torch.no_grad():
        for name, value in trained.items():
            values = [value, *(other.trained()[name] for other in more_readers)]
            value.copy_(sum(share * weights.double() for share, weights in zip(parts, values, strict=True)))
    tensors = {
        name.replace("bert.encoder.layer.", "layers."): value.to(torch.float16).contiguous()
        for name, value in trained.items()
    }
    if not all(torch.isfinite(value).all() for value in tensors.values()):
        raise SystemExit("a weight is too large for half precision")
    tensors |= _checks(reader)
    metadata = {
        "version": 1,
        "base": "sentence-transformers/all-MiniLM-L6-v2",
        "base_sha256": base_hash(),
        "input": "[CLS] question [SEP] title › heading path, then text [SEP]; segment 1 from the context on",
        "max_length": MAX_LENGTH,
        "max_question": MAX_QUESTION,
        "heads": {
            "span": ["start", "end"],
            "judge": ["answered", "relevant"],
            "judge_input": "[CLS], then states weighted by softmax of start, then of end, over the text's tokens",
        },
        "no_answer": "position 0 of start and end",
        "activation": "gelu",
        "licence": LICENCE,
    }
    save_file(tensors, out, metadata={"reader": json.dumps(metadata, ensure_ascii=False)})
    size = out.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{out} has {size:,} bytes, more than {MOST_BYTES:,}")
    return hashlib.sha256(out.read_bytes()).hexdigest()


def _checks(reader: Reader) -> dict[str, torch.Tensor]:
    """The check inputs, and the reader's float32 output for them."""
    requests = [row.split("|") for row in _CHECKS]
    inputs = encode(*([row[column] for row in requests] for column in range(3)))
    ((_, batch),) = in_batches(inputs, size=len(inputs))
    with torch.no_grad():
        output = reader.read(batch)
    text = batch.allowed.clone()
    text[:, 0] = False
    arrays = {
        "ids": batch.ids.short(),
        "mask": batch.mask.byte(),
        "types": batch.types.byte(),
        "text": text.byte(),
        "span": torch.stack([output.start, output.end], dim=2).half(),
        "judged": torch.stack([output.answered, output.relevant], dim=1).half(),
    }
    return {f"check.{name}": value.contiguous() for name, value in arrays.items()}


def main() -> None:
    """Run the command line."""
    parser = path_parser(__doc__, "checkpoint", "out")
    parser.add_argument("--mean", type=Path, nargs="*", default=(), help="average with these checkpoints")
    parser.add_argument("--shares", type=float, nargs="*", default=(), help="share of each checkpoint in the mean")
    options = parser.parse_args()
    digest = export([options.checkpoint, *options.mean], options.out, options.shares)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes, SHA-256 {digest}")


if __name__ == "__main__":
    main()
