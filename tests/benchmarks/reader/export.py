"""Write the weights that ship: six layers and heads in half precision, without the embedding tables.

    python -m tests.benchmarks.reader.export WORK/run-1/final.pt reader.safetensors

The embedding tables are those of the encoder, whose hash stands in the file's metadata (`reader`, JSON).
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from .batches import MAX_LENGTH, MAX_QUESTION
from .model import base_hash, load_reader

MOST_BYTES = 22_000_000
LICENCE = "CC BY-SA 4.0 (made from SQuAD, CC BY-SA 4.0, and ContractNLI, CC BY 4.0)"


def export(checkpoint: Path, out: Path) -> str:
    """Write the weights; the SHA-256 of the file."""
    trained = load_reader(checkpoint).trained()
    tensors = {
        name.replace("bert.encoder.layer.", "layers."): value.to(torch.float16).contiguous()
        for name, value in trained.items()
    }
    if not all(torch.isfinite(value).all() for value in tensors.values()):
        raise SystemExit("a weight is too large for half precision")
    described = {
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
    save_file(tensors, out, metadata={"reader": json.dumps(described, ensure_ascii=False)})
    size = out.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{out} has {size:,} bytes, more than {MOST_BYTES:,}")
    return hashlib.sha256(out.read_bytes()).hexdigest()


def main() -> None:
    """Export one checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    digest = export(options.checkpoint, options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes, SHA-256 {digest}")


if __name__ == "__main__":
    main()
