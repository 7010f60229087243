"""The steps of `qa eval`: what is to be measured, on which collection, and against what."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import NoIndexError, UsageError
from index import Progress
from qa.answer.results import Mode
from qa.cli import session
from qa.collection.settings import Settings as FolderSettings
from qa.collection.settings import read as read_settings
from qa.evaluation.beir import is_record_set, prepare
from qa.evaluation.evaluate import (
    Compared,
    Outcome,
    Settings,
    compare,
    evaluate,
    read_questions,
    read_rows,
    run_name,
    settings_from,
)
from qa.evaluation.judge import Row
from qa.evaluation.questions import Asked
from qa.evaluation.ranking import require_ir_measures

if TYPE_CHECKING:
    from qa.retrieval.retriever import Retriever


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run and compared.

    Attributes:
        settings: Those of the run.
        second: Those of a second run, or None.
        earlier: What became of the questions of an earlier run, or ().
        file: Where that was read from.
    """

    settings: Settings
    second: Settings | None = None
    earlier: tuple[Row, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Questions, and the folder to index first; None for the collection that the command line means."""

    questions: tuple[Asked, ...]
    corpus: Path | None


def what_is_set(questions: Path, *, corpus: Path | None, index: Path | None) -> FolderSettings:
    """What is set for the collection that is to be asked; nothing is for that of a BEIR folder.

    Raises:
        UsageError: As `qa.collection.settings.read`.
    """
    if is_record_set(questions):
        return FolderSettings()
    try:
        return read_settings(session.root_to_ask(corpus, index))
    except NoIndexError:
        return FolderSettings()  # that there is none is said when it is opened


def settings(found: FolderSettings, *, k: int | None, mode: Mode | None, rerank: bool | None) -> Settings:
    """How to ask: by the options given, else as it is set for the collection, else as by default."""
    usual = Settings()
    closely = found.rerank if rerank is None else rerank
    return Settings(
        mode=mode or found.mode or usual.mode,
        rerank=usual.rerank if closely is None else closely,
        k=k or found.k or usual.k,
    )


def plan(settings: Settings, comparing: str | None) -> Plan:
    """Read what to compare with: settings of a second run, or the file of an earlier one.

    Raises:
        UsageError: It cannot be meant, or ir-measures is not installed.
    """
    require_ir_measures()
    if comparing is None:
        return Plan(settings)
    if comparing.endswith(".json") or Path(comparing).is_file():
        return Plan(settings, earlier=read_rows(Path(comparing)), file=comparing)
    return Plan(settings, second=settings_from(comparing, settings))


@contextmanager
def collection(questions: Path, *, corpus: Path | None, work: Path | None, named: bool) -> Iterator[Measured]:
    """Read the questions; the records of a BEIR folder are laid out as documents, in `work` or for this time only.

    Args:
        questions: JSON lines, or a BEIR folder.
        corpus: A folder to index, or None.
        work: Where the documents of a BEIR folder go, or None.
        named: Whether the command line says which index to use, or how.

    Raises:
        UsageError: As `read_questions` and `prepare`, or an option goes with the other kind.
    """
    if not is_record_set(questions):
        if work is not None:
            raise UsageError("--work goes with a folder that has corpus.jsonl, queries.jsonl and qrels.tsv")
        yield Measured(read_questions(questions), corpus)
        return
    if named or corpus is not None:
        raise UsageError(f"{questions} brings its own collection; leave out --corpus, --index and --no-update")
    if work is not None:
        found = prepare(questions, work)
        yield Measured(found.questions, found.root)
        return
    with tempfile.TemporaryDirectory(prefix="qa-eval-", ignore_cleanup_errors=True) as place:
        found = prepare(questions, Path(place))
        yield Measured(found.questions, found.root)


def run(
    retriever: Retriever,
    questions: Sequence[Asked],
    wanted: Plan,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Ask the questions, a second time where the plan says so, and compare."""
    runs = 1 if wanted.second is None else 2
    found = evaluate(retriever, questions, wanted.settings, progress=_part(progress, 0, runs))
    name = run_name(wanted.settings)
    if wanted.second is not None:
        second = evaluate(retriever, questions, wanted.second, progress=_part(progress, 1, runs))
        return Outcome(found, Compared(compare(found.rows, second.rows), (name, run_name(wanted.second)), second))
    if wanted.earlier:
        return Outcome(found, Compared(compare(wanted.earlier, found.rows), (wanted.file, name), None))
    return Outcome(found, None)


def _part(progress: Callable[[Progress], None] | None, number: int, parts: int) -> Callable[[Progress], None] | None:
    """Progress of one of several runs as that of the whole."""
    if progress is None:
        return None
    return lambda now: progress(Progress(number * now.total + now.done, parts * now.total))
