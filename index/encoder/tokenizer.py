"""A model's tokenizer: counts, ids, and the characters that each token covers. Loads no weights."""

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
    """One text as input of the model, prompt and special tokens included."""

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
        # A passage that is too long must be noticed, and batches are padded later.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @cached_property
    def max_tokens(self) -> int:
        """How many tokens of a passage fit besides the prompt and the special tokens."""
        prompt = self.parameters.passage_prompt
        # One token to spare, as the prompt's last word may merge differently with the text's first.
        taken = self.count([prompt])[0] + 1 if prompt else 0
        special: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return self.parameters.max_length - special - taken

    def prompt_length(self, prompt: str) -> int:
        """Count the leading prompt and special tokens as poolings that leave the prompt out do."""
        special = self._tokenizer.encode(prompt).special_tokens_mask
        return len(special) - int(bool(special and special[-1]))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without special tokens or truncation."""
        # Faster, as it leaves out the offsets.
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def unknown_token_ratio(self, text: str) -> float:
        """Return the share of a text's letters that are single-letter or unknown tokens, not parts of known words.

        Lone Latin letters do not count, as rare words of any language have them; nor do ideographs, which are words.
        """
        letters = sum(map(str.isalpha, text))
        if text.isascii() or not letters:
            return 0.0
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        unknown = 0
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            covered = [char for char in text[start:end] if char.isalpha()]
            around = text[max(start - 1, 0) : start] + text[end : end + 1]
            is_lone = len(covered) == 1 and not covered[0].isascii() and any(map(str.isalpha, around))
            if token in self._unknown_ids or (is_lone and not unicodedata.name(covered[0], "").startswith("CJK")):
                unknown += len(covered)
        # Several tokens may cover one letter.
        return min(1.0, unknown / letters)

    @cached_property
    def _unknown_ids(self) -> frozenset[int]:
        """The ids of a letter that has no token."""
        return frozenset(self._tokenizer.encode(_CUNEIFORM, add_special_tokens=False).ids)

    def tokenise(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """Tokenise texts, each after a prompt; nothing is truncated."""
        tokenised = []
        for encoding in self._tokenizer.encode_batch([prompt + text for text in texts], add_special_tokens=True):
            offsets = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
            own = np.array(encoding.special_tokens_mask, dtype=np.int32) == 0
            kept = np.flatnonzero(own & (offsets[:, 1] > len(prompt)))
            spans = np.maximum(offsets[kept] - len(prompt), 0)
            tokenised.append(TokenIds(list(encoding.ids), list(encoding.type_ids), kept.tolist(), spans))
        return tokenised

    def encode(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """Tokenise without `kept` and `spans`, in half the time of `tokenise`."""
        encodings = self._tokenizer.encode_batch_fast([prompt + text for text in texts], add_special_tokens=True)
        return [TokenIds(list(encoding.ids), list(encoding.type_ids), [], _NO_SPANS) for encoding in encodings]

    def truncate(self, text: str, *, prompt: str) -> TokenIds:
        """Tokenise one text after a prompt, cut to the model's maximum length; closing tokens stay."""
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
