"""Files in, documents and passages out; knows no model and no index. See FORMATS.md."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corpus.chunking.splitter import encoder_text, join_context, split, splitter_version
    from corpus.discovery.filenames import INDEX_FOLDER, SETTINGS_FILE, from_os_name, to_os_name
    from corpus.discovery.safe_read import read_bytes
    from corpus.discovery.scope import lies_in, outermost
    from corpus.discovery.walk import FoundFile, SkippedFile, walk
    from corpus.loading.load import digest, load, read_file
    from corpus.loading.prefetch import LoadedFile, load_all
    from corpus.loading.sandbox import Sandbox
    from corpus.text.lines import LineMap
    from corpus.text.path_words import path_words
    from corpus.text.sentences import sentence_spans

# Where each name lives; its module is imported on first use, so that a question pays only for what it uses.
_NAMES = {
    "corpus.chunking.splitter": ("encoder_text", "join_context", "split", "splitter_version"),
    "corpus.discovery.filenames": ("INDEX_FOLDER", "SETTINGS_FILE", "from_os_name", "to_os_name"),
    "corpus.discovery.safe_read": ("read_bytes",),
    "corpus.discovery.scope": ("lies_in", "outermost"),
    "corpus.discovery.walk": ("FoundFile", "SkippedFile", "walk"),
    "corpus.loading.load": ("digest", "load", "read_file"),
    "corpus.loading.prefetch": ("LoadedFile", "load_all"),
    "corpus.loading.sandbox": ("Sandbox",),
    "corpus.text.lines": ("LineMap",),
    "corpus.text.path_words": ("path_words",),
    "corpus.text.sentences": ("sentence_spans",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "INDEX_FOLDER",
    "SETTINGS_FILE",
    "FoundFile",
    "LineMap",
    "LoadedFile",
    "Sandbox",
    "SkippedFile",
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
