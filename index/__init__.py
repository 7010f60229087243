"""Index passages on disk as vectors and terms, and search them. Importing it loads neither a model nor FAISS."""

# ruff: noqa: F401 - type checkers need the public names

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from index.commit.change import BuildMode
    from index.compiled.bert import BertBuilder
    from index.compiled.compiled_copy import CompiledCopy, CopyCheck, Hint
    from index.compiled.forks import Forked, Unloadable, keep_for_ever, take_part
    from index.compiled.runtime import CompileError, is_int8_faster
    from index.dense.scope import Among, Scope
    from index.dense.search import Candidate
    from index.encoder.cross_encoder import CrossEncoderModel, load_cross_encoder
    from index.encoder.devices import Device, require_gpu
    from index.encoder.load import load_encoder, prepare_for_questions
    from index.encoder.model_files import DEFAULT_MODEL, ModelFiles, find
    from index.encoder.protocol import Encoder, TokenVectors, require_same_encoder
    from index.encoder.tokenizer import ModelTokenizer, TokenIds, shared_tokenizer
    from index.integrity.salvage import salvaged_model
    from index.lexical.analyzer import Word, terms, word_terms, words
    from index.lexical.query_terms import STOP_WORDS, analyse
    from index.protocol import Index
    from index.snapshot import Snapshot
    from index.storage.database import DATABASE
    from index.storage.disk import append_private
    from index.storage.files import config_folder, write_output
    from index.storage.locking import NO_PROBLEM, wait_for_writer
    from index.storage.metadata import Info, Verified
    from index.storage.rows import Link, StoredDocument, StoredPassage
    from index.storage.sealed import read_sealed, write_derived
    from index.storage.vectors import PassageColumns, Vectors
    from index.stores import choose_store, is_built, open_index, open_store, store_of, verify_index, verify_store
    from index.update.copy import copy_index
    from index.update.diff import (
        Diff,
        find_changes,
        not_selected,
        patterns_to_blame,
        require_most_kept,
        unknown_files,
    )
    from index.update.report import BuildReport, Choice, Note, Progress, ProgressCallback, Request
    from index.update.update import merge_log, preview_update, rebuild_derived, rebuild_index, record_same, update_index
    from index.workers.workers import WorkerPlan, open_workers

# The public names by module; each is imported on first use, so that a question pays only for what it needs.
_NAMES = {
    "commit.change": "BuildMode",
    "dense.scope": "Among Scope",
    "dense.search": "Candidate",
    "encoder.cross_encoder": "CrossEncoderModel load_cross_encoder",
    "encoder.devices": "Device require_gpu",
    "encoder.load": "load_encoder prepare_for_questions",
    "encoder.model_files": "DEFAULT_MODEL ModelFiles find",
    "compiled.bert": "BertBuilder",
    "compiled.compiled_copy": "CompiledCopy CopyCheck Hint",
    "compiled.forks": "Forked Unloadable keep_for_ever take_part",
    "compiled.runtime": "CompileError is_int8_faster",
    "encoder.protocol": "Encoder TokenVectors require_same_encoder",
    "encoder.tokenizer": "ModelTokenizer TokenIds shared_tokenizer",
    "integrity.salvage": "salvaged_model",
    "lexical.analyzer": "Word terms word_terms words",
    "lexical.query_terms": "STOP_WORDS analyse",
    "protocol": "Index",
    "snapshot": "Snapshot",
    "storage.database": "DATABASE",
    "storage.disk": "append_private",
    "storage.files": "config_folder write_output",
    "storage.locking": "NO_PROBLEM wait_for_writer",
    "storage.metadata": "Info Verified",
    "storage.rows": "Link StoredDocument StoredPassage",
    "storage.sealed": "read_sealed write_derived",
    "storage.vectors": "PassageColumns Vectors",
    "stores": "choose_store is_built open_index open_store store_of verify_index verify_store",
    "update.copy": "copy_index",
    "update.diff": "Diff find_changes not_selected patterns_to_blame require_most_kept unknown_files",
    "update.report": "BuildReport Choice Note Progress ProgressCallback Request",
    "update.update": "merge_log preview_update rebuild_derived rebuild_index record_same update_index",
    "workers.workers": "WorkerPlan open_workers",
}
_HOMES = {name: f"index.{module}" for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
