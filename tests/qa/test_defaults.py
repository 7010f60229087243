"""Defaults of ranking, highlighting and confidence: changing any of them by a tenth changes a number recorded here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from index import Snapshot
from index.lexical import bm25
from qa.answer import confidence, extract
from qa.answer.confidence import Features, LogisticModel, probability
from qa.answer.results import Mode
from qa.retrieval import distinct, hybrid
from qa.retrieval.hybrid import Pool
from qa.retrieval.query import Query, analyse_question
from qa.stopwatch import Stopwatch
from qa.structure import candidate_spans
from tests.encoders import BagEncoder
from tests.qa.indexes import build
from tests.qa.passages import mail, stored

# What a stage computes, in numbers and names.
Found = dict[str, object]
FOX = ("fox", "red fox runs", "red fox fox", "hen and fox in a longer line of words")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One document of 430 passages, two whose passages are 100 and 101 characters apart, one of near-duplicates."""
    folder, files = tmp_path_factory.mktemp("defaults"), {}
    names = ("zq" + "".join("bcdfghjklm"[int(digit)] for digit in f"{number:03}") for number in range(430))
    many = (f"## {name}\n\n" + "red " * (n % 20 + 1) + "hen " * (n // 20 + 1) for n, name in enumerate(names))
    foxes = (f"## {name}\n\n{words}" for name, words in zip("abcd", FOX, strict=True))
    files["many.md"] = "\n\n".join(("# many", *many, *foxes))
    for gap in (100, 101):
        between = f"\n\n## b\n\n{'m' * (gap - 10)}\n\n"
        files[f"gap{gap}.md"] = f"# gap\n\n## z\n\nowl owl{between}## c\n\nowl and more"
    ten, two = "one two three four five six seven eight nine ten", "eleven twelve"
    near = (f"## {name}\n\n{words}" for name, words in zip("abc", (ten, ten[:-4], f"{ten} {two}"), strict=True))
    files["near.md"] = "\n\n".join(("# near", *near))
    build(folder, files)
    note = "---\nfirst: {0}1\nsecond: {0}2\n---\n# {0}\n\nowl"
    build(folder.parent / "stated", {f"{name}.md": note.format(name) for name in "abcd"})
    return folder


def fused(root: Path) -> Found:
    """The first two pools of a question, and the scores by keyword of passages with matching neighbours."""
    with Snapshot(root / ".qa") as snapshot:
        first, second = islice(hybrid.pools(snapshot, query(snapshot, "red fox"), Stopwatch()), 2)
        neighbours = next(hybrid.pools(snapshot, query(snapshot, "owl", Mode.KEYWORD), Stopwatch()))
    pools = {
        f"pool of {pool.depth}": [len(pool.ids), *rounded(pool.scores[[1, 2, 50]]), *rounded(pool.scores.sum())]
        for pool in (first, second)
    }
    return {**pools, "beside": rounded(neighbours.scores)}


def keyword_scores(root: Path) -> Found:
    """BM25 scores of a rare word and of a frequent one."""
    with Snapshot(root / ".qa") as snapshot:
        return {word: rounded([hit.score for hit in snapshot.keyword(word, 3)]) for word in ("fox", "red")}


def deduplicated(root: Path) -> Found:
    """Levels of near-duplicates in one pool and in several, and of front matter."""
    with Snapshot(root / ".qa") as snapshot:
        a, b, c = (passage.id for passage in snapshot.passages_of("near.md"))
        last = snapshot.passages_of("gap100.md")[0].id

        def order(*pools: tuple[int, tuple[int, ...]]) -> str:
            scores = np.ones(9)
            ranked = distinct.distinct(snapshot, (Pool(depth, ids, scores, scores) for depth, ids in pools), 9, "")
            return " ".join(f"{hit.passage.heading[-1]}{hit.level}" for hit in ranked)

        return {
            "in one pool": order((100, (a, b, c))),
            "in several": order((1599, (a, b)), (1600, (a, b, c)), (6400, (a, b, c, last))),
            "front matter": front_matter(root.parent / "stated"),
            "words an original may lack": [quotation_first(words, lacking) for words, lacking in ((10, 1), (19, 2))],
        }


def front_matter(root: Path) -> str:
    """The levels of the front matter of four notes."""
    with Snapshot(root / ".qa") as snapshot:
        ids = tuple(snapshot.passages_of(f"{name}.md")[0].id for name in "abcd")
        ranked = distinct.distinct(snapshot, [Pool(1600, ids, np.ones(4), np.ones(4))], 4, "")
        return " ".join(str(hit.level) for hit in ranked)


def quotation_first(words: int, lacking: int) -> bool:
    """Whether a quotation of so many words stays before a passage that lacks some of them."""
    text = " ".join("abcdefghijklmnopqrs"[:words])
    quotation, other = mail(f"> {text}", 0), mail(text[2 * lacking :], 1)
    ranked = distinct.originals_first([distinct.RankedPassage(passage, 1.0, 0.0) for passage in (quotation, other)], 2)
    return ranked[0].passage.id == 0


def spans(_: Path) -> Found:
    """Parts of long sentences, and lines before a block."""
    long = [end - start for start, end in candidate_spans.candidate_spans(stored("word " * 200))]
    return {"long": long, "before": [len(candidate_spans.line_before("x" * size, 0, size)) for size in (190, 210)]}


def highlighted(_: Path) -> Found:
    """Highlighted sentences, items and explanations."""
    close = dict(zip(("A one.", "B two.", "C three.", "D four."), (1.0, 0.95, 0.9, 0.85), strict=True))
    closer = dict(zip(close, (1.0, 0.99, 0.98, 0.97), strict=True))
    items = "Foxes:\n" + "".join(f"- item {number}\n" for number in range(14))

    def highlights(text: str, score: Callable[[str], float]) -> list[str]:
        extracted = extract.extract(stored(text), lambda start, end: score(text[start:end]), "").highlights
        return [light.text for light in extracted]

    return {
        "close": highlights(" ".join(close), close.__getitem__),
        "closer": highlights(" ".join(closer), closer.__getitem__),
        "list": highlights(items, lambda text: text.endswith(":"))[0].count("\n"),
        "whole": [
            len(highlights(f"Foxes:\n- {'hen ' * size}\n- mice", lambda text: text[-1] == ":")) for size in (93, 97)
        ],
        "explanations": [
            len(extract.extract(stored("Why cold?" + " It is so." * count), lambda *_: 1.0, "Why cold?").answer)
            for count in (38, 42)
        ],
    }


def confidences(_: Path) -> Found:
    """Probabilities, and the lowest that counts as found."""
    single_features = np.eye(7, dtype=int).tolist()
    cases = [Features(*values) for values in (*single_features, [0] * 7)]
    models = {
        "read": confidence.READ,
        "yes or no": confidence.READ_YES_NO,
        "reranked": confidence.RERANKED,
        "quick": confidence.QUICK,
    }
    probabilities = {name: rounded([probability(values, model) for values in cases]) for name, model in models.items()}
    lookups = [confidence.adjust_for_lookup(0.5, is_found=True, is_nowhere=nowhere) for nowhere in (False, True)]
    return {**probabilities, "lookups": lookups, "another": confidence.OTHER_SUBJECT, "threshold": confidence.THRESHOLD}


def query(snapshot: Snapshot, question: str, mode: Mode = Mode.HYBRID) -> Query:
    return analyse_question(
        question, snapshot, BagEncoder(), mode=mode, documents=None, rerank=False, clock=Stopwatch()
    )


def rounded(values: object) -> list[float]:
    """Values to nine significant digits."""
    return [float(f"{value:.9g}") for value in np.atleast_1d(np.asarray(values, dtype=np.float64)).tolist()]


STAGES: dict[ModuleType, Callable[[Path], Found]] = {
    hybrid: fused,
    bm25: keyword_scores,
    distinct: deduplicated,
    candidate_spans: spans,
    extract: highlighted,
    confidence: confidences,
}
EXPECTED: dict[ModuleType, Found] = {
    hybrid: {
        "pool of 100": [124, 0.799236084, 0.615990008, 0.396360879, 48.5026313],
        "pool of 400": [406, 0.819169413, 0.662317032, 0.411474965, 109.984607],
        "beside": [1.0, 0.864868066, 0.86148582, 0.692570902],
    },
    bm25: {
        "fox": [7.90393519, 6.81541192, 6.50082714],
        "red": [2.07600166e-06, 2.07353566e-06, 2.07250259e-06],
    },
    distinct: {
        "in one pool": "a0 c0 b1",
        "in several": "a0 c1 b2 z4",
        "front matter": "0 0 1 1",
        "words an original may lack": [False, True],
    },
    candidate_spans: {"long": [399, 399, 199], "before": [190, 0]},
    extract: {
        "close": ["A one.", "B two."],
        "closer": ["A one.", "B two.", "C three."],
        "list": 10,
        "whole": [1, 3],
        "explanations": [379, 9],
    },
    confidence: {
        "read": [
            0.0574865057,
            0.0574865057,
            0.0172931566,
            0.112345864,
            0.0475163083,
            0.112945602,
            0.43757738,
            0.0574865057,
        ],
        "yes or no": [
            0.479012339,
            0.479012339,
            0.479012339,
            0.502749972,
            0.523981585,
            0.479012339,
            0.479012339,
            0.479012339,
        ],
        "reranked": [
            0.0659274018,
            0.771358858,
            0.0188354398,
            0.0377968441,
            0.0377968441,
            0.0377968441,
            0.0377968441,
            0.0377968441,
        ],
        "quick": [
            0.921289663,
            0.390550216,
            0.0560409559,
            0.153943564,
            0.153943564,
            0.153943564,
            0.153943564,
            0.153943564,
        ],
        "lookups": [0.8, 0.05],
        "another": 0.2,
        "threshold": 0.5,
    },
}
# Sizes of reads and caches and the storage format, on which no score depends.
WITHOUT_EFFECT = {"_READ_AHEAD", "_MAX_CACHED_TERMS", "_BLOCKS_AT_ONCE", "HASHES"}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
def test_defaults_give_the_recorded_numbers(root: Path, stage: ModuleType) -> None:
    assert STAGES[stage](root) == EXPECTED[stage]


def changed(value: object) -> Iterator[object]:
    """A default lowered and raised by a tenth; the weights of a model one at a time."""
    for factor in (0.9, 1.1):
        if isinstance(value, LogisticModel):
            for at, weight in enumerate(value.weights):
                weights: Any = (*value.weights[:at], weight * factor, *value.weights[at + 1 :])
                yield from [replace(value, weights=weights)] if weight else []
            yield replace(value, bias=value.bias * factor)
        elif isinstance(value, int):
            yield round(value * factor) if value >= 10 else value + round(factor * 10) - 10
        elif isinstance(value, float):
            yield value * factor


DEFAULTS = [
    (stage, name)
    for stage in STAGES
    for name, value in vars(stage).items()
    if name.isupper() and name not in WITHOUT_EFFECT and list(changed(value))
]


@pytest.mark.parametrize(("stage", "name"), DEFAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_changing_a_default_by_a_tenth_changes_a_number(
    root: Path, stage: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in changed(getattr(stage, name)):
        monkeypatch.setattr(stage, name, value)
        assert STAGES[stage](root) != EXPECTED[stage], value
