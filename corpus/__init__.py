"""Files in, documents and passages out. Knows no model and no index; importing it loads no reader."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corpus.chunking.splitter import encoder_text, join_context, split, splitter_version
    from corpus.discovery.filenames import INDEX_FOLDER, SETTINGS_FILE, from_os_name, to_os_name
    from corpus.discovery.safe_read import read_bytes
    from corpus.discovery.scope import lies_in, outermost
    from corpus.discovery.walk import FoundFile, SkippedFile, affects_walk, walk
    from corpus.loading.load import digest, load, read_file
    from corpus.loading.prefetch import LoadedFile, load_all
    from corpus.loading.sandbox import Sandbox
    from corpus.text.lines import LineMap
    from corpus.text.path_words import path_words
    from corpus.text.sentences import sentence_spans

# Where each public name lives. It is imported when first asked for, so that a question pays only for what it uses.
_HOMES = {
    "FoundFile": "corpus.discovery.walk",
    "INDEX_FOLDER": "corpus.discovery.filenames",
    "LineMap": "corpus.text.lines",
    "LoadedFile": "corpus.loading.prefetch",
    "SETTINGS_FILE": "corpus.discovery.filenames",
    "SkippedFile": "corpus.discovery.walk",
    "Sandbox": "corpus.loading.sandbox",
    "to_os_name": "corpus.discovery.filenames",
    "from_os_name": "corpus.discovery.filenames",
    "affects_walk": "corpus.discovery.walk",
    "digest": "corpus.loading.load",
    "encoder_text": "corpus.chunking.splitter",
    "join_context": "corpus.chunking.splitter",
    "lies_in": "corpus.discovery.scope",
    "load": "corpus.loading.load",
    "outermost": "corpus.discovery.scope",
    "path_words": "corpus.text.path_words",
    "load_all": "corpus.loading.prefetch",
    "read_bytes": "corpus.discovery.safe_read",
    "read_file": "corpus.loading.load",
    "sentence_spans": "corpus.text.sentences",
    "split": "corpus.chunking.splitter",
    "splitter_version": "corpus.chunking.splitter",
    "walk": "corpus.discovery.walk",
}

__all__ = [
    "INDEX_FOLDER",
    "SETTINGS_FILE",
    "FoundFile",
    "LineMap",
    "LoadedFile",
    "Sandbox",
    "SkippedFile",
    "affects_walk",
    "digest",
    "encoder_text",
    "from_os_name",
    "join_context",
    "lies_in",
    "load",
    "load_all",
    "outermost",
    "path_words",
    "read_bytes",
    "read_file",
    "sentence_spans",
    "split",
    "splitter_version",
    "to_os_name",
    "walk",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
