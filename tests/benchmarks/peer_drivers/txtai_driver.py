"""Run txtai for `tests.benchmarks.peers`, in txtai's own virtual environment; see `passages.drive`.

All settings are txtai's own: it runs the model through transformers, and stores vectors and ids but no text.
"""

from __future__ import annotations

from collections.abc import Callable

from passages import drive, read_passages  # type: ignore[import-not-found]


def index(store: str, model: str, passages: str) -> None:
    """Embed the passages and save them."""
    from txtai import Embeddings  # type: ignore[import-not-found]

    embeddings = Embeddings(path=model)
    embeddings.index((row["id"], row["text"]) for row in read_passages(passages))
    embeddings.save(store)


def open_store(store: str, _: str) -> Callable[[str], list[str]]:
    """Load the saved passages, ready for questions."""
    from txtai import Embeddings

    embeddings = Embeddings()
    embeddings.load(store)
    return lambda question: [number for number, _ in embeddings.search(question, 5)]


if __name__ == "__main__":
    drive(index, open_store)
