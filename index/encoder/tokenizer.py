"""A model's tokenizer: counts, ids, and the characters that each token covers. Loads no weights."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from index.encoder.model_files import ModelFiles
from index.encoder.sentence_transformer import load_parameters

# A letter that is in no vocabulary.
_CUNEIFORM = "\N{CUNEIFORM SIGN A}"
_NO_SPANS = np.empty((0, 2), dtype=np.int32)


@dataclass(frozen=True, slots=True)
class TokenIds:
    """A text as input of the model, with prompt and special tokens."""

    ids: list[int]  # token ids
    types: list[int]  # segment of each token
    kept: list[int]  # positions of the tokens that are not prompt or special; empty if not requested
    spans: npt.NDArray[np.int32]  # `(len(kept), 2) int32`, the characters that each of these covers, end exclusive


@lru_cache(maxsize=2)
def shared_tokenizer(model: ModelFiles) -> ModelTokenizer:
    """Return the tokenizer of a model, the same for its encoder and the reader; raises ModelError."""
    return ModelTokenizer(model)


class ModelTokenizer:
    """Turns texts into token ids, exactly as the model's own pipeline does, or raises ModelError."""

    def __init__(self, model: ModelFiles) -> None:
        from tokenizers import Tokenizer

        self.parameters, data = load_parameters(model)
        self._tokenizer = Tokenizer.from_buffer(data)
        # Passages that are too long are an error, and batches are padded later.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @cached_property
    def max_tokens(self) -> int:
        """The maximum number of tokens in a passage, not counting the prompt and special tokens."""
        prompt = self.parameters.passage_prompt
        # One token to spare, as the prompt's last word may merge differently with the text's first.
        prompt_tokens = self.count([prompt])[0] + 1 if prompt else 0
        special: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return self.parameters.max_length - special - prompt_tokens

    def prompt_length(self, prompt: str) -> int:
        """Count the leading prompt and special tokens, as poolings do that leave out the prompt."""
        special = self._tokenizer.encode(prompt).special_tokens_mask
        return len(special) - int(bool(special and special[-1]))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, without special tokens or truncation."""
        # Faster, as it does not compute offsets.
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def unknown_token_ratio(self, text: str) -> float:
        """Return the share of a text's letters that are single-letter or unknown tokens, not parts of known words.

        Single Latin letters do not count, as rare words of any language have them, nor do ideographs, which are words.
        """
        total = sum(map(str.isalpha, text))
        if text.isascii() or not total:
            return 0.0
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        unknown = 0
        for token, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            letters = [char for char in text[start:end] if char.isalpha()]
            neighbours = text[max(start - 1, 0) : start] + text[end : end + 1]
            is_single = len(letters) == 1 and not letters[0].isascii() and any(map(str.isalpha, neighbours))
            if token in self._unknown_ids or (is_single and not unicodedata.name(letters[0], "").startswith("CJK")):
                unknown += len(letters)
        # Several tokens may cover one letter.
        return min(1.0, unknown / total)

    @cached_property
    def _unknown_ids(self) -> frozenset[int]:
        """The token ids of a letter that is not in the vocabulary."""
        return frozenset(self._tokenizer.encode(_CUNEIFORM, add_special_tokens=False).ids)

    def tokenise(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """Tokenise texts, each after a prompt; nothing is truncated."""
        tokenised = []
        for encoding in self._tokenizer.encode_batch([prompt + text for text in texts], add_special_tokens=True):
            offsets = np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2)
            is_ordinary = np.array(encoding.special_tokens_mask, dtype=np.int32) == 0
            kept = np.flatnonzero(is_ordinary & (offsets[:, 1] > len(prompt)))
            spans = np.maximum(offsets[kept] - len(prompt), 0)
            tokenised.append(TokenIds(list(encoding.ids), list(encoding.type_ids), kept.tolist(), spans))
        return tokenised

    def encode(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """Tokenise like `tokenise` but without `kept` and `spans`, in half the time."""
        encodings = self._tokenizer.encode_batch_fast([prompt + text for text in texts], add_special_tokens=True)
        return [TokenIds(list(encoding.ids), list(encoding.type_ids), [], _NO_SPANS) for encoding in encodings]

    def truncate(self, text: str, *, prompt: str) -> TokenIds:
        """Tokenise a text after a prompt, truncated to the model's maximum length; the final special tokens stay."""
        (tokenised,) = self.tokenise([text], prompt=prompt)
        excess = len(tokenised.ids) - self.parameters.max_length
        if excess <= 0:
            return tokenised
        tail = tokenised.kept[-1] + 1 if tokenised.kept else len(tokenised.ids)
        head = tail - excess
        count = sum(position < head for position in tokenised.kept)
        return TokenIds(
            tokenised.ids[:head] + tokenised.ids[tail:],
            tokenised.types[:head] + tokenised.types[tail:],
            tokenised.kept[:count],
            tokenised.spans[:count],
        )
