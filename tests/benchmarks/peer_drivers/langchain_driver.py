"""Run LangChain with FAISS for `tests.benchmarks.peers`, in LangChain's own virtual environment; see `passages.drive`.

All settings are LangChain's own: sentence-transformers through `HuggingFaceEmbeddings`, exact search by Euclidean
distance, the texts pickled next to the vectors.
"""

from __future__ import annotations

from collections.abc import Callable

from passages import drive, read_passages  # type: ignore[import-not-found]


def index(store: str, model: str, passages: str) -> None:
    """Embed the passages and save them."""
    from langchain_community.vectorstores import FAISS  # type: ignore[import-not-found]
    from langchain_huggingface import HuggingFaceEmbeddings  # type: ignore[import-not-found]

    rows = list(read_passages(passages))
    embeddings = HuggingFaceEmbeddings(model_name=model)
    database = FAISS.from_texts([row["text"] for row in rows], embeddings, ids=[row["id"] for row in rows])
    database.save_local(store)


def open_store(store: str, model: str) -> Callable[[str], list[str]]:
    """Load the saved passages, ready for questions."""
    from langchain_community.vectorstores import FAISS
    from langchain_huggingface import HuggingFaceEmbeddings

    embeddings = HuggingFaceEmbeddings(model_name=model)
    database = FAISS.load_local(store, embeddings, allow_dangerous_deserialization=True)
    return lambda question: [document.id for document in database.similarity_search(question, k=5)]


if __name__ == "__main__":
    drive(index, open_store)
