"""Passages and queries built without an index."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from index.encoder.protocol import Encoder
from index.storage.rows import StoredDocument, StoredPassage, passage_key, text_digest
from qa.answer.extract import Extract, extract
from qa.answer.results import Mode
from qa.reader.reading import Reading
from qa.retrieval.late_interaction import TokenMatch, match_tokens, span_score
from qa.retrieval.query import Query, QueryTokens
from tests.encoders import BagEncoder

ENCODER = BagEncoder(max_tokens=100_000)


def stored(text: str, *, path: str = "x.txt", context: str = "", start: int = 0, body: int = 0) -> StoredPassage:
    """A passage as the index returns it; the text after its headings begins at `body`."""
    document = StoredDocument(1, path, "0" * 64, 0, 0, 0, "text/plain", "", 1)
    digest = text_digest(text)
    key, end = passage_key(path, digest, start), start + len(text)
    return StoredPassage(1, key, document, 1, start, end, body, (1, 1), None, None, (), context, text, digest)


def query(text: str, encoder: Encoder, weights: Sequence[float] | None = None, *, mode: Mode = Mode.HYBRID) -> Query:
    """A query whose tokens are weighted equally, or by `weights`."""
    encoded = encoder.encode_query_tokens(text)
    count = len(encoded.spans)
    tokens = QueryTokens(encoded, np.full(count, 1 / max(count, 1)) if weights is None else np.array(weights))
    return Query(text, text, text, (), {}, {}, encoder.encode_query(text), tokens, mode, None)


def match(question: Query, passage: StoredPassage, encoder: Encoder) -> TokenMatch:
    """Match a passage with a query."""
    (token_match,) = matches(question, [passage], encoder)
    return token_match


def matches(question: Query, passages: Sequence[StoredPassage], encoder: Encoder) -> list[TokenMatch]:
    """Match passages with a query."""
    assert question.tokens is not None
    return match_tokens(question.tokens, passages, encoder, [""] * len(passages))


def extracted(question: str, text: str, *, start: int = 0, body: int = 0, context: str = "") -> Extract:
    """The extract of a passage for a question whose words have equal weights."""
    passage, asked_query = stored(text, start=start, body=body, context=context), query(question, ENCODER)
    return extract(passage, partial(span_score, asked_query, match(asked_query, passage, ENCODER)), question)


def reading(
    text: str, *, answer: str = "", sure: float = 5.0, answered: float = 0.0, relevant: float = 0.0, none: float = 0.0
) -> Reading:
    """The reader's output for a text; `sure` is the logit of the answer's start and end."""
    spans = np.array([word.span() for word in re.finditer(r"\w+|[^\w\s]", text)], dtype=np.int32).reshape(-1, 2)
    at = text.index(answer)
    starts, ends = (spans[:, 0] == at, spans[:, 1] == at + len(answer)) if answer else (spans[:, 0] < 0,) * 2
    logits = [sure * np.asarray(mask, dtype=np.float32) for mask in (starts, ends)]
    return Reading(answered, relevant, logits[0], logits[1], none, spans)


def mail(text: str, number: int) -> StoredPassage:
    """A passage of a message, quoted if the text begins with ">"."""
    passage = stored(text.removeprefix("> "), path="a.eml")
    heading = ("Oars", "Quoted: Ida wrote" if text.startswith(">") else "Ida to Tom")
    document = replace(passage.document, media_type="message/rfc822")
    return replace(passage, id=number, document=document, heading=heading)
