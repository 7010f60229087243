"""Embed the texts of the development datasets once, for the collections of `tests.benchmarks.scale`.

    python -m tests.benchmarks.pool DATA OUT

DATA holds one folder per dataset, with `corpus.jsonl` ({"text"}) or `files/`. Every distinct sentence and paragraph
that fits into the default model is embedded. OUT gets `texts.jsonl` and `vectors.npy` (`(n, 384) float32`, unit
L2 norm) in the same order, and `questions.jsonl`.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from corpus.text.sentences import sentence_spans
from index.encoder.load import load_encoder
from tests.benchmarks.common import path_parser, read_lines, write_lines

_CHUNK = 1024
# Shorter texts are headings, labels and fragments, about which hardly anybody asks.
_SHORTEST = 30


def paragraphs(data: Path) -> Iterator[str]:
    """The paragraphs of all English datasets, one dataset after another."""
    for folder in sorted(data.iterdir()):
        if folder.name.startswith("xquad-") and folder.name != "xquad-en":
            continue
        corpus = folder / "corpus.jsonl"
        if corpus.is_file():
            yield from (row["text"] for row in read_lines(corpus))
        else:
            for file in sorted((folder / "files").rglob("*")):
                if file.suffix in {".txt", ".md"}:
                    yield from file.read_text(encoding="utf-8").split("\n\n")


def texts(data: Path) -> list[str]:
    """Every distinct sentence and paragraph, with white space normalised."""
    distinct: dict[str, None] = {}
    for paragraph in paragraphs(data):
        pieces = [paragraph, *(paragraph[start:end] for start, end in sentence_spans(paragraph))]
        distinct.update(dict.fromkeys(" ".join(piece.split()) for piece in pieces))
    return [text for text in distinct if len(text) >= _SHORTEST]


def questions(data: Path) -> list[str]:
    """The distinct questions of 10 to 15 words in all English datasets."""
    distinct: dict[str, None] = {}
    for folder in sorted(data.iterdir()):
        file = folder / "queries.jsonl"
        if file.is_file() and (folder.name == "xquad-en" or not folder.name.startswith("xquad-")):
            distinct.update(dict.fromkeys(row["text"].strip() for row in read_lines(file)))
    return [text for text in distinct if 10 <= len(text.split()) <= 15]


def main() -> None:
    """Run the command line."""
    options = path_parser(__doc__, "data", "out").parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder()
    candidates = texts(options.data)
    counts = encoder.count_tokens(candidates)
    chosen = [text for text, count in zip(candidates, counts, strict=True) if count <= encoder.max_tokens]
    order = sorted(range(len(chosen)), key=lambda number: -len(chosen[number]))
    vectors = np.empty((len(chosen), encoder.dimension), dtype=np.float32)
    started = time.monotonic()
    for start in range(0, len(order), _CHUNK):
        numbers = order[start : start + _CHUNK]
        vectors[numbers] = encoder.encode_passages([chosen[number] for number in numbers])
        sys.stderr.write(f"\r{start + len(numbers):,} of {len(order):,}, {time.monotonic() - started:,.0f} s ")
    sys.stderr.write("\n")
    np.save(options.out / "vectors.npy", vectors)
    write_lines(options.out / "texts.jsonl", chosen)
    shuffled = questions(options.data)
    random.Random(0).shuffle(shuffled)  # noqa: S311 - not for secrets
    write_lines(options.out / "questions.jsonl", ({"question": text} for text in shuffled))


if __name__ == "__main__":
    main()
