"""Results of the models, computed once per process, as many tests ask the same questions.

Token vectors depend only on the text; readings are kept for each batch of passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from index.encoder.protocol import TokenVectors
from index.encoder.transformer import TransformerEncoder
from qa.reader.reader import Reader
from qa.reader.reading import Reading

_encode, _read = TransformerEncoder.encode_passage_tokens, Reader.read
_encoded: dict[tuple[str, str], TokenVectors] = {}
_readings: dict[tuple[Any, ...], list[Reading]] = {}


def _encode_once(encoder: TransformerEncoder, texts: Sequence[str]) -> list[TokenVectors]:
    model = encoder.fingerprint
    if new := [text for text in dict.fromkeys(texts) if (model, text) not in _encoded]:
        _encoded.update(zip(((model, text) for text in new), _encode(encoder, new), strict=True))
    return [_encoded[model, text] for text in texts]


def _read_once(reader: Reader, inputs: Sequence[tuple[str, str, str]]) -> list[Reading]:
    key = (reader, *inputs)
    if key not in _readings:
        _readings[key] = _read(reader, inputs)
    return list(_readings[key])


# Arguments of `setattr`.
REMEMBERED = ((TransformerEncoder, "encode_passage_tokens", _encode_once), (Reader, "read", _read_once))
# The same as `python -m qa`.
PROGRAM = (
    "from tests.qa.remembered import *\nfor new in REMEMBERED: setattr(*new)\nfrom qa.__main__ import main\nmain()"
)
