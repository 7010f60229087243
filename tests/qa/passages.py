"""Passages, questions and readings without an index behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from index.encoder.protocol import Encoder
from index.storage.rows import StoredDocument, StoredPassage, passage_key, text_digest
from qa.retrieval.late_interaction import Question, Reading, read_passages


def stored(text: str, *, path: str = "x.txt", context: str = "", start: int = 0, body: int = 0) -> StoredPassage:
    """A passage as the index gives it back; its text proper begins at `body`."""
    document = StoredDocument(1, path, "0" * 64, 0, 0, 0, "text/plain", "", 1)
    digest = text_digest(text)
    key = passage_key(path, start, start + len(text), digest)
    end = start + len(text)
    return StoredPassage(1, key, document, 1, start, end, body, (1, 1), None, (), context, text, digest)


def asked(text: str, encoder: Encoder, weights: Sequence[float] | None = None) -> Question:
    """A question whose tokens count the same, or as `weights` says."""
    tokens = encoder.encode_query_tokens(text)
    count = len(tokens.spans)
    return Question(tokens, np.full(count, 1 / max(count, 1)) if weights is None else np.array(weights), {})


def read(question: Question, passage: StoredPassage, encoder: Encoder) -> Reading:
    """A passage as the encoder reads it for a question."""
    (reading,) = read_passages(question, [passage], encoder)
    return reading
