"""Ask a folder of documents a question; get the passages that answer it, with citations you can check.

    from qa import Retriever, build_index

    build_index("notes/")
    with Retriever.open("notes/") as retriever:
        result = retriever.ask("Who won the test of time award?", k=3)
        print(result)
        for hit in result.passages:
            print(hit.citation, hit.text)

`build_index` builds or updates an index, `Retriever.open` opens one; `ask` answers a question with a `Result`, `search`
returns its passages alone. Whatever goes wrong on purpose is a `QAError`. See `help(qa.Retriever)` and qa/USAGE.md.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any


def _import_beside(name: str) -> None:
    """Import a package from beside this one, and not from a script's own folder, which Python searches first."""
    folder = Path(__file__).resolve().parents[1] / name
    if (module := sys.modules.get(name)) is None:
        spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        if spec is None or spec.loader is None:
            raise ImportError(f"qa is not completely installed: {folder} is missing")
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
    elif folder not in (Path(found).resolve() for found in getattr(module, "__path__", ())):
        other = getattr(module, "__file__", None) or module
        raise ImportError(
            f"qa has a package of its own named {name}, and {other} was "
            "imported under that name before. Rename that one, or use qa in a process of its own."
        )


_import_beside("corpus")
_import_beside("index")

if TYPE_CHECKING:
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
    from index import BuildMode, BuildReport, Device, Progress
    from qa.answer.results import Answer, Hit, Mode, Result, State
    from qa.collection.build import OnEmpty, OnLocked, build_index
    from qa.explore.results import Similar, SimilarDocument, Topic, Topics
    from qa.filters import Filter
    from qa.retrieval.retriever import Retriever

    __version__: str

# Where each public name is defined; its module is imported on first use, so that `qa --help` needs none.
_NAMES = {
    "corpus.errors": "CorpusError DamagedIndexError IncompatibleError LockedError ModelError "
    "NoIndexError QAError StorageError UsageError",
    "index": "BuildMode BuildReport Device Progress",
    "qa.answer.results": "Answer Hit Mode Result State",
    "qa.collection.build": "OnEmpty OnLocked build_index",
    "qa.explore.results": "Similar SimilarDocument Topic Topics",
    "qa.filters": "Filter",
    "qa.retrieval.retriever": "Retriever",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Answer",
    "BuildMode",
    "BuildReport",
    "CorpusError",
    "DamagedIndexError",
    "Device",
    "Filter",
    "Hit",
    "IncompatibleError",
    "LockedError",
    "Mode",
    "ModelError",
    "NoIndexError",
    "OnEmpty",
    "OnLocked",
    "Progress",
    "QAError",
    "Result",
    "Retriever",
    "Similar",
    "SimilarDocument",
    "State",
    "StorageError",
    "Topic",
    "Topics",
    "UsageError",
    "build_index",
]


# So that type checkers know every name, and no others.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib import metadata  # noqa: PLC0415 - takes longer than the rest of this import

            try:
                return metadata.version("qa-passages")
            except metadata.PackageNotFoundError:
                return "(not installed; run from its source)"
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__", "__doc__"))
