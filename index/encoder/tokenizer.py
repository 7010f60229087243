"""A model's settings and tokenizer, read without its weights: what fits, and which characters a token stands for."""

# ruff: noqa: PLC0415 - heavy libraries are imported where they are used, never with this package

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import ModelError
from index.encoder.model_files import ModelFiles

_DEFAULT_LENGTH = 512
# Tokenizers without a limit state one of about 10**30.
_NO_LIMIT = 1_000_000
# Families whose positions begin behind the padding token's id, which is 1, so two of them are not usable.
_LATE_POSITIONS = ("camembert", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl", "xmod")
_POOLING_FLAGS = "pooling_mode_"
# A letter that nobody has written for two thousand years.
_CUNEIFORM = "\N{CUNEIFORM SIGN A}"
_NO_SPANS = np.empty((0, 2), dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Prompts:
    """What the model wants in front of a text."""

    query: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a model's JSON files say.

    Attributes:
        max_length: ModelTokenizer the model reads, special tokens and prompt included.
        positions: ModelTokenizer it has room for, which may be more.
        dimension: Length of a text's vector.
        hidden: Length of a token's vector.
        pad: Id of the padding token.
        lower_case: Whether texts are lower-cased before the tokenizer sees them.
        prompts: What goes in front of a text.
    """

    max_length: int
    positions: int
    dimension: int
    hidden: int
    pad: int
    lower_case: bool
    prompts: Prompts


@dataclass(frozen=True, slots=True)
class TokenIds:
    """One text as the model reads it, prompt and special tokens included.

    Attributes:
        ids: Token ids.
        types: Segment of each token.
        kept: Positions that are the text's own; none where they were not asked for.
        spans: `(len(kept), 2) int32`, characters of the text each of these stands for, end exclusive.
    """

    ids: list[int]
    types: list[int]
    kept: list[int]
    spans: npt.NDArray[np.int32]


class ModelTokenizer:
    """Turns texts into token ids, exactly as the model's own pipeline does.

    Raises:
        ModelError: The settings or the tokenizer cannot be read.
    """

    def __init__(self, model: ModelFiles) -> None:
        self.settings = read_settings(model)
        self._tokenizer = _open_tokenizer(model, lower_case=self.settings.lower_case)
        self._special: int = self._tokenizer.num_special_tokens_to_add(is_pair=False)

    @property
    def max_tokens(self) -> int:
        """ModelTokenizer of a passage that fit behind the prompt and between the special tokens."""
        prompt = self.settings.prompts.passage
        # A prompt's last word may merge with the text's first one differently: one token to spare.
        taken = self.count([prompt])[0] + 1 if prompt else 0
        return self.settings.max_length - self._special - taken

    def prompt_length(self, prompt: str) -> int:
        """Leading tokens that are prompt or special, as poolings that leave the prompt out count them."""
        encoding = self._tokenizer.encode(prompt)
        specials = list(encoding.special_tokens_mask)
        return len(specials) - (1 if specials and specials[-1] else 0)

    def count(self, texts: Sequence[str]) -> list[int]:
        """ModelTokenizer of each text, special tokens not counted, nothing truncated."""
        # Without places in the text, which takes less time.
        return [len(found.ids) for found in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def unknown_token_ratio(self, text: str) -> float:
        """Share of a text's letters that there are no words for: taken one by one, or for unknown.

        Latin letters are taken one by one in rare words of any language, and an ideograph is a word.
        """
        letters = sum(map(str.isalpha, text))
        if text.isascii() or not letters:
            return 0.0
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        lost = 0
        for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            several = [char for char in text[start:end] if char.isalpha()]
            around = text[max(start - 1, 0) : start] + text[end : end + 1]
            alone = len(several) == 1 and not several[0].isascii() and any(map(str.isalpha, around))
            if number in self._unknown or (alone and not _is_ideograph(several[0])):
                lost += len(several)
        # Several tokens may stand for one letter.
        return min(1.0, lost / letters)

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """What a letter becomes that there is no token for."""
        return frozenset(self._tokenizer.encode(_CUNEIFORM, add_special_tokens=False).ids)

    def tokenise(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """Tokenise texts behind a prompt; nothing is truncated."""
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts], add_special_tokens=True)
        return [_token_ids(encoding, len(prompt)) for encoding in encodings]

    def encode(self, texts: Sequence[str], *, prompt: str) -> list[TokenIds]:
        """As `tokenise`, without `kept` and `spans`, which takes half the time."""
        encodings = self._tokenizer.encode_batch_fast([prompt + text for text in texts], add_special_tokens=True)
        return [TokenIds(list(encoding.ids), list(encoding.type_ids), [], _NO_SPANS) for encoding in encodings]

    def truncate(self, text: str, *, prompt: str) -> TokenIds:
        """Tokenise one text behind a prompt and cut it to what the model reads, closing tokens kept."""
        whole = self.tokenise([text], prompt=prompt)[0]
        excess = len(whole.ids) - self.settings.max_length
        if excess <= 0:
            return whole
        closing = len(whole.ids) - 1 - (whole.kept[-1] if whole.kept else 0)
        head = len(whole.ids) - closing - excess
        kept = [position for position in whole.kept if position < head]
        tail = len(whole.ids) - closing
        return TokenIds(
            whole.ids[:head] + whole.ids[tail:],
            whole.types[:head] + whole.types[tail:],
            kept,
            whole.spans[: len(kept)],
        )


def _is_ideograph(char: str) -> bool:
    return unicodedata.name(char, "").startswith("CJK")


def _token_ids(encoding: Any, prompt: int) -> TokenIds:
    offsets = encoding.offsets
    kept = [
        position
        for position, special in enumerate(encoding.special_tokens_mask)
        if not special and offsets[position][1] > prompt
    ]
    spans = np.array([offsets[position] for position in kept], dtype=np.int32).reshape(len(kept), 2)
    return TokenIds(list(encoding.ids), list(encoding.type_ids), kept, np.maximum(spans - prompt, 0))


def _open_tokenizer(model: ModelFiles, *, lower_case: bool) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.normalizers import Lowercase, Sequence

    try:
        folder = _transformer_folder(model.folder)
        file = folder / "tokenizer.json"
        tokenizer = Tokenizer.from_file(str(file)) if file.is_file() else _converted_tokenizer(model, folder)
    except ModelError:
        raise
    except Exception as error:  # the tokenizers library raises bare Exception
        raise ModelError(f"the tokenizer of {model.name} in {model.folder} cannot be read: {error}") from error
    _overrule_normalizer(tokenizer, _json(folder / "tokenizer_config.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if lower_case:
        steps = [Lowercase()] if tokenizer.normalizer is None else [Lowercase(), tokenizer.normalizer]
        tokenizer.normalizer = Sequence(steps)
    return tokenizer


def _overrule_normalizer(tokenizer: Any, config: dict[str, Any]) -> None:
    """As transformers does for BERT and its relatives, whose classes ask their own settings and not tokenizer.json."""
    from tokenizers.normalizers import BertNormalizer

    before = tokenizer.normalizer
    generic = str(config.get("tokenizer_class")).startswith(("PreTrainedTokenizer", "TokenizersBackend"))
    if isinstance(before, BertNormalizer) and not generic:
        tokenizer.normalizer = BertNormalizer(
            clean_text=before.clean_text,
            handle_chinese_chars=config.get("tokenize_chinese_chars", True),
            strip_accents=config.get("strip_accents"),
            lowercase=config.get("do_lower_case", True),
        )


def _converted_tokenizer(model: ModelFiles, folder: Path) -> Any:
    """For models that carry no tokenizer.json: what transformers makes of their older files."""
    from transformers import AutoTokenizer

    found = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    if not getattr(found, "is_fast", False):
        raise ModelError(f"the model {model.name} has no tokenizer.json, and none can be made. Choose another model.")
    return found.backend_tokenizer


def read_settings(model: ModelFiles) -> Settings:
    """Read what a model's JSON files say about its shape.

    Raises:
        ModelError: A file is damaged or does not say it.
    """
    try:
        folder = _transformer_folder(model.folder)
        config = _json(folder / "config.json")
        sentence = _json(folder / "sentence_bert_config.json")
        tokenizer = _json(folder / "tokenizer_config.json")
        hidden = int(config.get("hidden_size") or config.get("dim") or config["d_model"])
        positions = int(config.get("max_position_embeddings") or 0)
        return Settings(
            max_length=_max_length(
                sentence, tokenizer, positions - (2 if config.get("model_type") in _LATE_POSITIONS else 0)
            ),
            positions=positions,
            dimension=_dimension(model.folder, hidden),
            hidden=hidden,
            pad=int(config.get("pad_token_id") or 0),
            lower_case=bool(sentence.get("do_lower_case", False)),
            prompts=_prompts(_json(model.folder / "config_sentence_transformers.json")),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"the settings of {model.name} in {model.folder} cannot be read: {error!r}") from error


def _modules(folder: Path) -> list[dict[str, Any]]:
    listing = folder / "modules.json"
    if not listing.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(listing.read_text(encoding="utf-8"))
    return found


def _transformer_folder(folder: Path) -> Path:
    """Where the first module keeps its files: the root, or a subfolder in models of an older layout."""
    modules = _modules(folder)
    if modules and not str(modules[0]["type"]).endswith(".Transformer"):
        raise ValueError(f"its first module is no transformer but {modules[0]['type']}")
    return folder / str(modules[0]["path"]) if modules else folder


def _json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _max_length(sentence: dict[str, Any], tokenizer: dict[str, Any], positions: int) -> int:
    stated = sentence.get("max_seq_length")
    if stated:
        return min(int(stated), positions) if positions > 0 else int(stated)
    limits = [int(tokenizer.get("model_max_length") or _NO_LIMIT), positions if positions > 0 else _NO_LIMIT]
    shortest = min(limits)
    return shortest if shortest < _NO_LIMIT else _DEFAULT_LENGTH


def _dimension(folder: Path, hidden: int) -> int:
    """Follow the vector through the modules: poolings may join several vectors, dense layers resize them."""
    dimension = hidden
    for module in _modules(folder):
        kind = str(module["type"]).rpartition(".")[2]
        if kind == "Pooling":
            dimension = _pooled(_json(folder / module["path"] / "config.json"), hidden)
        elif kind == "Dense":
            dimension = int(_json(folder / module["path"] / "config.json")["out_features"])
    return dimension


def _pooled(config: dict[str, Any], hidden: int) -> int:
    width = int(config.get("embedding_dimension") or config.get("word_embedding_dimension") or hidden)
    modes = config.get("pooling_mode")
    if modes is None:
        return width * max(1, sum(bool(value) for key, value in config.items() if key.startswith(_POOLING_FLAGS)))
    return width if isinstance(modes, str) else width * len(modes)


def _prompts(config: dict[str, Any]) -> Prompts:
    """As `SentenceTransformer.encode_query` and `encode_document` choose them."""
    stated: dict[str, str | None] = config.get("prompts") or {}
    passage = next((stated[key] for key in ("document", "passage", "corpus") if key in stated), "")
    return Prompts(query=stated.get("query") or "", passage=passage or "")
