"""Embed the texts of the development datasets once, for the collections of `tests.benchmarks.scale`.

    python -m tests.benchmarks.pool DATA OUT

DATA holds one folder per dataset, with `corpus.jsonl` ({"text"}) or `files/`. Every distinct sentence and paragraph
that the default model can read whole is embedded. OUT gets `texts.jsonl` and `vectors.npy` (`(n, 384) float32`, unit
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
# Shorter texts are headings, labels and fragments, which hardly anybody asks for.
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
    found: dict[str, None] = {}
    for paragraph in paragraphs(data):
        pieces = [paragraph, *(paragraph[start:end] for start, end in sentence_spans(paragraph))]
        found.update(dict.fromkeys(" ".join(piece.split()) for piece in pieces))
    return [text for text in found if len(text) >= _SHORTEST]


def questions(data: Path) -> list[str]:
    """The distinct questions of 10 to 15 words in all English datasets."""
    found: dict[str, None] = {}
    for folder in sorted(data.iterdir()):
        file = folder / "queries.jsonl"
        if file.is_file() and (folder.name == "xquad-en" or not folder.name.startswith("xquad-")):
            found.update(dict.fromkeys(row["text"].strip() for row in read_lines(file)))
    return [text for text in found if 10 <= len(text.split()) <= 15]


def main() -> None:
    """Run the command line."""
    given = path_parser(__doc__, "data", "out").parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder()
    candidates = texts(given.data)
    counts = encoder.count_tokens(candidates)
    chosen = [text for text, count in zip(candidates, counts, strict=True) if count <= encoder.max_tokens]
    order = sorted(range(len(chosen)), key=lambda place: -len(chosen[place]))
    vectors = np.empty((len(chosen), encoder.dimension), dtype=np.float32)
    begun = time.monotonic()
    for start in range(0, len(order), _CHUNK):
        places = order[start : start + _CHUNK]
        vectors[places] = encoder.encode_passages([chosen[place] for place in places])
        sys.stderr.write(f"\r{start + len(places):,} of {len(order):,}, {time.monotonic() - begun:,.0f} s ")
    sys.stderr.write("\n")
    np.save(given.out / "vectors.npy", vectors)
    write_lines(given.out / "texts.jsonl", chosen)
    asked = questions(given.data)
    random.Random(0).shuffle(asked)  # noqa: S311 - not for secrets
    write_lines(given.out / "questions.jsonl", ({"question": text} for text in asked))


if __name__ == "__main__":
    main()
