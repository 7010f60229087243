"""A model's tokenizer: what fits into it, and which characters each token covers. Loads no weights."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from index.encoder.model_files import ModelFiles
from index.encoder.sentence_transformer import load_parameters

# A letter that no vocabulary has.
_CUNEIFORM = "\N{CUNEIFORM SIGN A}"
_NO_SPANS = np.empty((0, 2), dtype=np.int32)


@dataclass(frozen=True, slots=True)
class TokenIds:
    """One text as the model is given it, prompt and special tokens included."""

    ids: list[int]  # token ids
    types: list[int]  # segment of each token
    kept: list[int]  # positions of the text's own tokens; empty if not asked for
    spans: npt.NDArray[np.int32]  # `(len(kept), 2) int32`, the characters each of these covers, end exclusive


class ModelTokenizer:
    """Turns texts into token ids, exactly as the model's own pipeline does, or raises ModelError."""

    def __init__(self, model: ModelFiles) -> None:
        from tokenizers import Tokenizer

        self.parameters, data = load_parameters(model)
        self._tokenizer = Tokenizer.from_buffer(data)
        # What is too long is an error to be noticed, and batches are padded later.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @cached_property
    def max_tokens(self) -> int:
        """Tokens of a passage that fit behind the prompt and between the special tokens."""
        prompt = self.parameters.passage_prompt
        # The prompt's last word may merge with the text's first one differently: one token to spare.
        taken = self.count([prompt])[0] + 1 if prompt else 0
        special: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return self.parameters.max_length - special - taken

    def prompt_length(self, prompt: str) -> int:
        """Leading tokens that are prompt or special, as poolings that leave the prompt out count them."""
        special = self._tokenizer.encode(prompt).special_tokens_mask
        return len(special) - int(bool(special and special[-1]))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens not counted, nothing truncated."""
        # Without offsets, which takes less time.
        return [len(found.ids) for found in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def unknown_token_ratio(self, text: str) -> float:
        """Share of a text's letters that the vocabulary has no words for: tokens of one letter, or the unknown token.

        Latin letters are tokens by themselves in rare words of any language, and an ideograph is a word.
        """
        letters = sum(map(str.isalpha, text))
        if text.isascii() or not letters:
            return 0.0
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        unknown = 0
        for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            covered = [char for char in text[start:end] if char.isalpha()]
            around = text[max(start - 1, 0) : start] + text[end : end + 1]
            alone = len(covered) == 1 and not covered[0].isascii() and any(map(str.isalpha, around))
            if number in self._unknown_ids or (alone and not unicodedata.name(covered[0], "").startswith("CJK")):
                unknown += len(covered)
        # Several tokens may cover one letter.
        return min(1.0, unknown / letters)

    @cached_property
    def _unknown_ids(self) -> frozenset[int]:
        """What a letter becomes that there is no token for."""
        return frozenset(self._tokenizer.encode(_CUNEIFORM, add_special_tokens=False).ids)

    def tokenise(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """Tokenise texts behind a prompt; nothing is truncated."""
        found = []
        for encoding in self._tokenizer.encode_batch([prompt + text for text in texts], add_special_tokens=True):
            offsets = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
            own = np.array(encoding.special_tokens_mask, dtype=np.int32) == 0
            kept = np.flatnonzero(own & (offsets[:, 1] > len(prompt)))
            spans = np.maximum(offsets[kept] - len(prompt), 0)
            found.append(TokenIds(list(encoding.ids), list(encoding.type_ids), kept.tolist(), spans))
        return found

    def encode(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """As `tokenise`, without `kept` and `spans`, which takes half the time."""
        encodings = self._tokenizer.encode_batch_fast([prompt + text for text in texts], add_special_tokens=True)
        return [TokenIds(list(encoding.ids), list(encoding.type_ids), [], _NO_SPANS) for encoding in encodings]

    def truncate(self, text: str, *, prompt: str) -> TokenIds:
        """Tokenise one text behind a prompt and cut it to the model's maximum length; closing tokens stay."""
        (whole,) = self.tokenise([text], prompt=prompt)
        excess = len(whole.ids) - self.parameters.max_length
        if excess <= 0:
            return whole
        tail = whole.kept[-1] + 1 if whole.kept else len(whole.ids)
        head = tail - excess
        count = sum(position < head for position in whole.kept)
        return TokenIds(
            whole.ids[:head] + whole.ids[tail:],
            whole.types[:head] + whole.types[tail:],
            whole.kept[:count],
            whole.spans[:count],
        )
