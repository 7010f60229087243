"""Ask a folder of documents a question; get the passages that answer it, with citations you can check.

    from qa import Retriever, build_index

    build_index("notes/")
    with Retriever.open("notes/") as retriever:
        result = retriever.ask("Who won the test of time award?", k=3)
        print(result)
        for hit in result.passages:
            print(hit.citation, hit.text)

`build_index` builds or updates an index, `Retriever.open` opens one; `ask` answers a question with a `Result`, `search`
returns its passages alone. Every expected error is a `QAError`. See `help(qa.Retriever)` and qa/USAGE.md.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any


def _import_sibling(name: str) -> None:
    """Import a package from the folder of this one, not from a script's folder, which Python searches first."""
    folder = Path(__file__).resolve().parents[1] / name
    if (module := sys.modules.get(name)) is None:
        spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None:
            raise ImportError(f"qa is not completely installed: {folder} is missing")
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
    elif folder not in (Path(entry).resolve() for entry in getattr(module, "__path__", ())):
        imported = getattr(module, "__file__", None) or module
        raise ImportError(
            f"qa includes a package named {name}, but {imported} is already "
            "imported under that name. Rename it, or run qa in a separate process."
        )


_import_sibling("corpus")
_import_sibling("index")

if TYPE_CHECKING:
    from corpus import SkippedFile
    from corpus.errors import (
        CorpusError,
        DamagedIndexError,
        IncompatibleError,
        LockedError,
        ModelError,
        NoIndexError,
        QAError,
        StorageError,
        UsageError,
    )
    from index import BuildMode, BuildReport, Device, Index, Note, Progress
    from qa.answer.results import Answer, Hit, Mode, Result, State
    from qa.collection.build import OnEmpty, OnLocked, build_index
    from qa.explore.results import Similar, SimilarDocument, Subject, Topic, Topics
    from qa.filters import Filter
    from qa.retrieval.retriever import Retriever

    __version__: str

# Where each public name is defined. Modules are imported on first use, so that `qa --help` imports none.
_PUBLIC_NAMES = {
    "corpus": "SkippedFile",
    "corpus.errors": "CorpusError DamagedIndexError IncompatibleError LockedError ModelError "
    "NoIndexError QAError StorageError UsageError",
    "index": "BuildMode BuildReport Device Index Note Progress",
    "qa.answer.results": "Answer Hit Mode Result State",
    "qa.collection.build": "OnEmpty OnLocked build_index",
    "qa.explore.results": "Similar SimilarDocument Subject Topic Topics",
    "qa.filters": "Filter",
    "qa.retrieval.retriever": "Retriever",
}
_MODULE_OF = {name: module for module, names in _PUBLIC_NAMES.items() for name in names.split()}

__all__ = [
    "Answer", "BuildMode", "BuildReport", "CorpusError", "DamagedIndexError", "Device", "Filter", "Hit",
    "IncompatibleError", "Index", "LockedError", "Mode", "ModelError", "NoIndexError", "Note", "OnEmpty", "OnLocked",
    "Progress", "QAError", "Result", "Retriever", "Similar", "SimilarDocument", "SkippedFile", "State", "StorageError",
    "Subject", "Topic", "Topics", "UsageError", "build_index",
]  # fmt: skip


# Hidden from type checkers, which would otherwise accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib import metadata  # noqa: PLC0415 - takes longer than the rest of this import

            try:
                return metadata.version("qa-passages")
            except metadata.PackageNotFoundError:
                return "(not installed; running from source)"
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__", "__doc__"))
