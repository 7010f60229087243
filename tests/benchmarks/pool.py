"""Texts of the development sets with their vectors, embedded once: what the scale measurements are made of.

    python -m tests.benchmarks.pool DATA OUT

DATA holds one folder a set, each with `corpus.jsonl` ({"text"}) or `files/`. Every sentence and every paragraph that
the default model can read whole is embedded, each text once. OUT gets `texts.jsonl` and `vectors.npy`
(`(n, 384) float32`, unit L2 norm), in the same order; questions go to `questions.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from corpus.text.sentences import sentence_spans
from index.encoder.load import load_encoder

_CHUNK = 1024
# Shorter ones are headings, labels and splinters; hardly anybody asks for them.
_SHORTEST = 30


def paragraphs(data: Path) -> Iterator[str]:
    """The paragraphs of all sets in English, set by set."""
    for folder in sorted(data.iterdir()):
        if folder.name.startswith("xquad-") and folder.name != "xquad-en":
            continue
        corpus = folder / "corpus.jsonl"
        if corpus.is_file():
            with corpus.open(encoding="utf-8") as lines:
                yield from (json.loads(line)["text"] for line in lines)
        else:
            for file in sorted((folder / "files").rglob("*")):
                if file.suffix in {".txt", ".md"}:
                    yield from file.read_text(encoding="utf-8").split("\n\n")


def texts(data: Path) -> list[str]:
    """Every sentence and every paragraph, white space evened out, each once."""
    found: dict[str, None] = {}
    for paragraph in paragraphs(data):
        pieces = [paragraph, *(paragraph[start:end] for start, end in sentence_spans(paragraph))]
        found.update(dict.fromkeys(" ".join(piece.split()) for piece in pieces))
    return [text for text in found if len(text) >= _SHORTEST]


def questions(data: Path) -> list[str]:
    """The questions of all sets in English that have 10 to 15 words, each once."""
    found: dict[str, None] = {}
    for folder in sorted(data.iterdir()):
        file = folder / "queries.jsonl"
        if file.is_file() and (folder.name == "xquad-en" or not folder.name.startswith("xquad-")):
            with file.open(encoding="utf-8") as lines:
                found.update(dict.fromkeys(json.loads(line)["text"].strip() for line in lines))
    return [text for text in found if 10 <= len(text.split()) <= 15]


def main() -> None:
    """Embed what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
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
    with (given.out / "texts.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(text, ensure_ascii=False) + "\n" for text in chosen)
    asked = questions(given.data)
    random.Random(0).shuffle(asked)  # noqa: S311 - not for secrets
    with (given.out / "questions.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"question": text}, ensure_ascii=False) + "\n" for text in asked)


if __name__ == "__main__":
    main()
