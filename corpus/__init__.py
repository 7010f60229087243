"""Read files and split them into passages; independent of models and indexes. See FORMATS.md."""

# ruff: noqa: F401 - public names imported for type checkers only

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corpus.chunking.splitter import (
        encoder_text,
        join_context,
        mixed_version,
        split,
        splitter_version,
        types_split_otherwise,
    )
    from corpus.discovery.filenames import INDEX_FOLDER, SETTINGS_FILE, from_os_name, to_os_name
    from corpus.discovery.generated_files import names_only_generated
    from corpus.discovery.gitignore import literal_pattern
    from corpus.discovery.limits import lies_in, outermost
    from corpus.discovery.safe_read import read_bytes
    from corpus.discovery.walk import FoundFile, SkippedFile, walk
    from corpus.loading.load import digest, load, read_file
    from corpus.loading.prefetch import LoadedFile, load_all
    from corpus.loading.sandbox import Sandbox
    from corpus.text.aligned import aligned_table
    from corpus.text.bars import has_box_table, is_rule, plain_bars
    from corpus.text.code_lines import code_spans, is_code
    from corpus.text.headings import DAY, SIGN_OFF
    from corpus.text.lazy_pattern import lazy_pattern
    from corpus.text.lines import FileLines, LineMap, is_line_list
    from corpus.text.path_words import path_words
    from corpus.text.sentences import sentence_spans

# The public names by module; a module is imported on first use, so that a question pays only for what it uses.
_NAMES = {
    "chunking.splitter": "encoder_text join_context mixed_version split splitter_version types_split_otherwise",
    "discovery.generated_files": "names_only_generated",
    "discovery.filenames": "INDEX_FOLDER SETTINGS_FILE from_os_name to_os_name",
    "discovery.gitignore": "literal_pattern",
    "discovery.safe_read": "read_bytes",
    "discovery.limits": "lies_in outermost",
    "discovery.walk": "FoundFile SkippedFile walk",
    "loading.load": "digest load read_file",
    "loading.prefetch": "LoadedFile load_all",
    "loading.sandbox": "Sandbox",
    "text.aligned": "aligned_table",
    "text.bars": "has_box_table is_rule plain_bars",
    "text.code_lines": "code_spans is_code",
    "text.headings": "DAY SIGN_OFF",
    "text.lazy_pattern": "lazy_pattern",
    "text.lines": "FileLines LineMap is_line_list",
    "text.path_words": "path_words",
    "text.sentences": "sentence_spans",
}
_HOMES = {name: f"corpus.{module}" for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
