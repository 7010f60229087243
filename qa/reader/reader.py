"""Read a question with passages: tokens in, readings out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from index import STOP_WORDS, Hint, ModelTokenizer, TokenIds, Unloadable, find, shared_tokenizer
from qa.reader.network import INPUTS, reader_copy
from qa.reader.readable import original_spans, readable
from qa.reader.reading import Floats, Reading

# Limits in training: tokens of question and passage together, and of the question alone.
_MAX_TOKENS = 320
_MAX_QUESTION = 128
# Titles and headings may take one in this many of the tokens.
_CONTEXT_SHARE = 4
# Least share of stop words among lower-case words in English text, and of lower-case words in prose.
_ENGLISH = 0.13
_PROSE = 0.3
# Share of different words, of so many letters or more, that are whole tokens: English has more, other languages less.
_KNOWN = 0.5
_SHORTEST = 4
_WORD = re.compile(r"\w+")
# The name of a field, before its value.
_FIELD = re.compile(r"^[^\n:]{1,40}:[ \t]", re.MULTILINE)
# Batch size of the network, and the multiple to which lengths are padded.
_ROWS = 4
_STEP = 16
# Maximum characters between a passage and the one before it: headings, not left-out text.
LARGEST_GAP = 100
# The last sentence or line says what a passage continues; more distracts from the passage.
_LONGEST_PRECEDING = 200
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")


class ReaderInput(NamedTuple):
    """A question with one passage: [CLS] question [SEP] context text [SEP].

    Attributes:
        ids: Token ids.
        context: The first token after the question.
        text: The first token of the text.
        spans: `(t, 2) int32`, the characters of the text that each of its tokens covers; (-1, -1) for the inserted
            name of a column.
    """

    ids: list[int]
    context: int
    text: int
    spans: npt.NDArray[np.int32]


class Reader:
    """Runs the reader's network on a question and passages; safe to use from several threads.

    With `ahead` the network starts loading in the background, if it has been prepared on this machine.
    """

    def __init__(self, *, ahead: bool = False) -> None:
        self._base = find()
        self._copy = copy = reader_copy(self._base)
        if ahead:
            self._copy.begin_loading(Hint.LATENCY)
        self._request = Unloadable(lambda: copy.load(Hint.LATENCY).create_infer_request())

    def prepare(self) -> None:
        """Prepare the network for this machine, unless that has been done; raises what `read` does."""
        if not self._copy.exists():
            self._request.run(lambda _: None)

    def read(self, requests: Sequence[tuple[str, str, str]]) -> list[Reading]:
        """Read passages, each a question, a context (title › headings) and a text.

        A question is truncated to 128 tokens, question and passage together to 320.

        Raises:
            CompileError: The network cannot be prepared on this machine.
            ModelError: Its files are missing or damaged.
        """
        inputs = self._inputs(requests)
        order = sorted(range(len(inputs)), key=lambda i: len(inputs[i].ids))
        readings: dict[int, Reading] = {}
        for at in range(0, len(order), _ROWS):
            batch = order[at : at + _ROWS]
            readings.update(zip(batch, self._run([inputs[i] for i in batch]), strict=True))
        return [readings[i] for i in range(len(inputs))]

    def is_english(self, texts: Iterable[str]) -> bool:
        """Whether texts are in English, the one language that the reader knows.

        Stop words tell English from other languages; for terse notes, the share of their words in the vocabulary does.
        Rows of names and numbers have no language, so they count as English, whatever their columns are called.

        Raises:
            ModelError: The vocabulary is missing or damaged.
        """
        words = [word for text in texts for word in _WORD.findall(_FIELD.sub("", text))]
        lower = [word for word in words if word[0].isalpha() and not word[0].isupper()]
        if len(lower) < _PROSE * len(words) or sum(word in STOP_WORDS for word in lower) >= _ENGLISH * len(lower):
            return True
        distinct = [word for word in set(lower) if len(word) >= _SHORTEST]
        return self._tokenizer.count(distinct).count(1) > _KNOWN * len(distinct)

    def _inputs(self, requests: Sequence[tuple[str, str, str]]) -> list[ReaderInput]:
        readables = [readable(text, context) for _, context, text in requests]
        texts: list[str] = []
        for (question, context, _), (text, _) in zip(requests, readables, strict=True):
            texts += [" ".join(question.split()), context, text]
        parts = [_without_special(tokens) for tokens in self._tokenizer.tokenise(texts, prompt="")]
        cls, sep = self._tokenizer.tokenise([""], prompt="")[0].ids
        inputs = []
        for (question_ids, _), (context_ids, _), (text_ids, spans), (_, origin) in zip(
            parts[::3], parts[1::3], parts[2::3], readables, strict=True
        ):
            head = [cls, *question_ids[:_MAX_QUESTION], sep]
            prefix = [*head, *context_ids[: _MAX_TOKENS // _CONTEXT_SHARE]]
            room = _MAX_TOKENS - len(prefix) - 1
            ids, text_spans = [*prefix, *text_ids[:room], sep], original_spans(spans[:room], origin)
            inputs.append(ReaderInput(ids, len(head), len(prefix), text_spans))
        return inputs

    def _run(self, inputs: Sequence[ReaderInput]) -> list[Reading]:
        arrays = _arrays(inputs)

        def infer(request: Any) -> list[Floats]:
            results = request.infer(arrays, share_inputs=True)
            return [np.array(results[i], dtype=np.float32) for i in range(2)]

        logits, judged = self._request.run(infer)
        return [_reading(item, logits[row], judged[row]) for row, item in enumerate(inputs)]

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return shared_tokenizer(self._base)


@cache
def shared_reader() -> Reader:
    """Return the reader of this process, which all collections share, and start loading it."""
    return Reader(ahead=True)


def _without_special(tokens: TokenIds) -> tuple[list[int], npt.NDArray[np.int32]]:
    """Return a text's tokens without the special ones, and their spans."""
    return [tokens.ids[i] for i in tokens.kept], tokens.spans


def _arrays(inputs: Sequence[ReaderInput]) -> dict[str, npt.NDArray[np.int64]]:
    """Return the inputs of the network, padded to one length."""
    width = -(-max(len(item.ids) for item in inputs) // _STEP) * _STEP
    arrays = {name: np.zeros((len(inputs), width), dtype=np.int64) for name in INPUTS}
    for row, item in enumerate(inputs):
        length = len(item.ids)
        arrays["ids"][row, :length] = item.ids
        arrays["mask"][row, :length] = 1
        arrays["types"][row, item.context : length] = 1
        arrays["text"][row, item.text : length - 1] = 1
    return arrays


def _reading(item: ReaderInput, logits: Floats, judged: Floats) -> Reading:
    """Make a reading of one row: `(t, 2)` logits of start and end, `(2,)` of answered and relevant."""
    text = logits[item.text : item.text + len(item.spans)]
    return Reading(float(judged[0]), float(judged[1]), text[:, 0], text[:, 1], float(logits[0].sum()), item.spans)


def with_preceding(context: str, text: str) -> str:
    """Append the last sentence of the text before a passage to its context (title › headings).

    It tells what "it" or a list item is about.
    """
    last = _SENTENCE_END.split(text.strip())[-1]
    return " › ".join(filter(None, (context, " ".join(last.split())[-_LONGEST_PRECEDING:])))
