"""A language model of 200 kB for llama.cpp that gives one fixed answer to any prompt.

Each token has one successor: the token's embedding is the output row of its successor, and the layer between adds
nothing. The file is GGUF 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_WIDTH = 64
_CONTEXT = 8192
_ALIGNMENT = 32
_START, _END, _GO = 0, 1, 2
# Kinds of tokens, and of values.
_NORMAL, _CONTROL, _BYTE = 1, 3, 6
_UINT32, _INT32, _FLOAT32, _STRING, _ARRAY = 4, 5, 6, 8, 9
_NUMBERS = {_UINT32: "<I", _INT32: "<i", _FLOAT32: "<f"}


def write_model(path: Path, words: Sequence[str]) -> None:
    """Write a model that answers with these words, which must all differ, and then ends."""
    tokens = ["<s>", "</s>", "<go>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [_CONTROL] * 3 + [_BYTE] * 256 + [_NORMAL] * len(words)
    chain = [_GO, *range(len(tokens), len(tokens) + len(words)), _END]
    tokens += [word.replace(" ", "▁") for word in words]
    settings = {
        "general.architecture": (_STRING, "llama"),
        "llama.context_length": (_UINT32, _CONTEXT),
        "llama.embedding_length": (_UINT32, _WIDTH),
        "llama.block_count": (_UINT32, 1),
        "llama.feed_forward_length": (_UINT32, _WIDTH),
        "llama.attention.head_count": (_UINT32, 1),
        "llama.attention.layer_norm_rms_epsilon": (_FLOAT32, 1e-5),
        "tokenizer.ggml.model": (_STRING, "llama"),
        "tokenizer.ggml.tokens": (_STRING, tokens),
        "tokenizer.ggml.scores": (_FLOAT32, [0.0] * len(tokens)),
        "tokenizer.ggml.token_type": (_INT32, kinds),
        "tokenizer.ggml.bos_token_id": (_UINT32, _START),
        "tokenizer.ggml.eos_token_id": (_UINT32, _END),
        "tokenizer.chat_template": (_STRING, "{% for message in messages %}{{ message.content }}{% endfor %}<go>"),
    }
    embeddings = np.random.default_rng(0).standard_normal((len(tokens), _WIDTH)).astype(np.float32)
    choices = np.zeros_like(embeddings)
    choices[chain[1:]] = embeddings[chain[:-1]]
    path.write_bytes(_file(settings, {**_layer(), "token_embd.weight": embeddings, "output.weight": choices}))


def _layer() -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    """Return a layer that adds nothing."""
    square = np.zeros((_WIDTH, _WIDTH), np.float32)
    parts = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    ones = np.ones(_WIDTH, np.float32)
    norms = ("output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight")
    return {f"blk.0.{part}.weight": square for part in parts} | dict.fromkeys(norms, ones)


def _file(
    settings: Mapping[str, tuple[int, Any]], tensors: Mapping[str, np.ndarray[Any, np.dtype[np.float32]]]
) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(settings))
    head += b"".join(_text(name) + _value(kind, value) for name, (kind, value) in settings.items())
    data = b""
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += tensor.tobytes()
        data += b"\0" * (-len(data) % _ALIGNMENT)
    return head + b"\0" * (-len(head) % _ALIGNMENT) + data


def _value(kind: int, value: Any) -> bytes:
    if not isinstance(value, list):
        return struct.pack("<I", kind) + _plain(kind, value)
    return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(_plain(kind, item) for item in value)


def _plain(kind: int, value: Any) -> bytes:
    return _text(value) if kind == _STRING else struct.pack(_NUMBERS[kind], value)


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()
