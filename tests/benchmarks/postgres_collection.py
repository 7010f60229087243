"""A collection of any size in a PostgreSQL server of its own, made of one that was embedded by the real model."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np

from index import Encoder, load_encoder, open_index
from index.storage.vectors import Vectors
from index.stores import use_store
from qa import build_index
from tests.postgres_server import Server, kept_server

# Passages in a file.
_FILES = 100
_NAME = "size"
# As an operator would set them; what is lost in a power cut does not matter here.
_SETTINGS = ("shared_buffers=1GB",)


class MixedVectors:
    """The real model, but for known texts, whose vectors are mixed of those of real passages."""

    def __init__(self, model: Encoder, known: dict[str, Vectors]) -> None:
        self._model = model
        self._known = known

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, by the model where their vectors are not known."""
        bodies = [text.rpartition("\n")[2] for text in texts]
        rest = [text for text, body in zip(texts, bodies, strict=True) if body not in self._known]
        embedded = iter(self._model.encode_passages(rest) if rest else ())
        found = [self._known[body] if body in self._known else next(embedded) for body in bodies]
        return np.array(found, dtype=np.float32).reshape(len(texts), self._model.dimension)


@contextmanager
def prepared(at: Path) -> Iterator[tuple[Server, str]]:
    """Yield the server that keeps its data in a folder, and the address of its collection."""
    os.environ["XDG_CONFIG_HOME"] = str(at / "config")
    with kept_server(at, *_SETTINGS) as server:
        yield server, f"{server.url}#{_NAME}"


def documents(at: Path, address: str) -> Path:
    """Return the folder of its documents, which remembers where the server is now."""
    use_store(at / "docs" / ".qa", address)
    return at / "docs"


def prepare(base: Path, at: Path, passages: int) -> None:
    """Make the collection: passages are two sentences each of those of `base`, an indexed folder.

    The vector is that of the first sentence's passage, mixed with the second's and some noise, so that near are those
    that share a sentence or a passage, as with real ones, and nothing has to be embedded.
    """
    with open_index(base / ".qa") as index:
        columns = index.columns()
        rows = index.passages(columns.passages.tolist())
        vectors = index.vectors(columns.vectors.tolist()).astype(np.float32)
        model = load_encoder(index.info.model)
    sentences = [
        (one.strip(), number) for number, row in enumerate(rows) for one in row.text.split(". ") if 40 < len(one) < 200
    ]
    sentences = [(text, number) for text, number in sentences if "\n" not in text and "#" not in text]
    dice, noise = random.Random(0), np.random.default_rng(0)  # noqa: S311 - the same each time
    known: dict[str, Vectors] = {}
    for number in range(passages // _FILES):
        folder = at / "docs" / f"f{number % 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        parts = []
        for i in range(_FILES):
            (one, first), (other, second) = dice.sample(sentences, 2)
            share = dice.uniform(0.5, 0.9)
            mixed = share * vectors[first] + (1 - share) * vectors[second]
            mixed = mixed + 0.3 * noise.standard_normal(len(mixed)) / np.sqrt(len(mixed))
            body = f"{one}. {other}."
            known[body] = (mixed / np.linalg.norm(mixed)).astype(np.float32)
            parts.append(f"## Section {i}\n\n{body}\n")
        (folder / f"{number}.md").write_text("\n".join(parts))
    with prepared(at) as (_, address):
        build_index(documents(at, address), encoder=cast("Encoder", MixedVectors(model, known)))


def questions(squad: Path, count: int) -> list[str]:
    """Return some questions of SQuAD, the same ones each time."""
    texts = [json.loads(line)["text"] for line in (squad / "queries.jsonl").read_text().splitlines()]
    return random.Random(1).sample(texts, count)  # noqa: S311 - the same each time
