"""A collection of any size in a PostgreSQL server of its own, derived from a collection embedded by the real model."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np

from index import Encoder, load_encoder, open_index
from index.storage.vectors import Vectors
from qa import build_index
from tests.benchmarks.common import EncoderWrapper, read_lines
from tests.postgres_server import Server, kept_server, use_store

# Passages per file.
_PASSAGES = 100
_NAME = "size"
# What an operator would set.
_SETTINGS = ("shared_buffers=1GB",)


class KnownVectors(EncoderWrapper):
    """The real model with precomputed vectors of some texts: embedding them takes no time."""

    def __init__(self, model: Encoder, known: dict[str, Vectors]) -> None:
        super().__init__(model)
        self._known = known

    def encode_query(self, text: str) -> Vectors:
        """Return the vector of a question, computed by the model if it is not known."""
        return self._known[text] if text in self._known else self._model.encode_query(text)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, computed by the model if they are not known."""
        bodies = [text.rpartition("\n")[2] for text in texts]
        unknown = [text for text, body in zip(texts, bodies, strict=True) if body not in self._known]
        embedded = iter(self._model.encode_passages(unknown) if unknown else ())
        vectors = [self._known[body] if body in self._known else next(embedded) for body in bodies]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), self._model.dimension)


@contextmanager
def running_collection(at: Path) -> Iterator[tuple[Server, str]]:
    """Yield the server that keeps its data in a folder, and the address of its collection."""
    os.environ["XDG_CONFIG_HOME"] = str(at / "config")
    with kept_server(at, *_SETTINGS) as server:
        yield server, f"{server.url}#{_NAME}"


def documents(at: Path, address: str) -> Path:
    """Return the folder of its documents, after storing the server's current address in it."""
    use_store(at / "docs" / ".qa", address)
    return at / "docs"


def prepare(base: Path, at: Path, passages: int) -> None:
    """Create the collection: each passage consists of two sentences of `base`, an indexed folder.

    Its vector mixes those of the two sentences' passages with some noise, so that, as in reality, passages are near
    if they share a sentence or a source passage, and nothing has to be embedded.
    """
    with open_index(base / ".qa") as index:
        columns = index.columns()
        rows = index.passages(columns.passages.tolist())
        vectors = index.vectors(columns.vectors.tolist()).astype(np.float32)
        model = load_encoder(index.info.model)
    pieces = ((part, number) for number, row in enumerate(rows) for part in row.text.split(". "))
    sentences = [(part.strip(), number) for part, number in pieces if 40 < len(part) < 200]
    sentences = [(text, number) for text, number in sentences if "\n" not in text and "#" not in text]
    dice, noise = random.Random(0), np.random.default_rng(0)  # noqa: S311 - the same each time
    known: dict[str, Vectors] = {}
    for number in range(passages // _PASSAGES):
        folder = at / "docs" / f"f{number % 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        parts = []
        for i in range(_PASSAGES):
            (sentence, first), (next_sentence, second) = dice.sample(sentences, 2)
            share = dice.uniform(0.5, 0.9)
            mixed = share * vectors[first] + (1 - share) * vectors[second]
            mixed = mixed + 0.3 * noise.standard_normal(len(mixed)) / np.sqrt(len(mixed))
            body = f"{sentence}. {next_sentence}."
            known[body] = (mixed / np.linalg.norm(mixed)).astype(np.float32)
            parts.append(f"## Section {i}\n\n{body}\n")
        (folder / f"{number}.md").write_text("\n".join(parts))
    with running_collection(at) as (_, address):
        build_index(documents(at, address), encoder=cast("Encoder", KnownVectors(model, known)))


def questions(squad: Path, count: int) -> list[str]:
    """Return some questions of SQuAD, the same ones each time."""
    texts = [row["text"] for row in read_lines(squad / "queries.jsonl")]
    return random.Random(1).sample(texts, count)  # noqa: S311 - the same each time
