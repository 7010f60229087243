"""What `qa eval` says: a table for people, one object for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from qa.evaluation.evaluate import Comparison, Difference, Evaluation, Missing, Outcome, Settings, run_name
from qa.evaluation.figures import Figures, Risk
from qa.evaluation.questions import Asked
from qa.retrieval.query import LONGEST_QUESTION
from qa.terminal.answers import BOLD, DIM, Look, few
from qa.terminal.reports import count
from qa.terminal.text import clean_name, plain

_MEANINGS = {
    "hit": "an answering passage is among the first k",
    "recall": "share of what answers among the first k",
    "file": "the file of the answer is among the first k",
    "MRR": "one divided by the place of the first that answers",
    "nDCG": "gain: the grade, discount: log2(place + 1)",
    "covered": "answered within so many characters shown",
    "highlight": "the first sentence highlighted answers",
}
# Measures that are better the lower they are.
_COSTS = {"ece"}
_NAMED = 3


def outcome(found: Outcome, look: Look) -> str:
    """Write out a run, and how it compares."""
    compared = found.compared
    text = evaluation(found.run, look)
    return text if compared is None else text + "\n" + comparison(compared.comparison, compared.names, look)


def outcome_json(found: Outcome) -> dict[str, Any]:
    """The object that `qa eval --json` prints: version 1."""
    compared = found.compared
    beside = None if compared is None else comparison_json(compared.comparison, compared.names, compared.second)
    return evaluation_json(found.run) | {"compare": beside}


def evaluation(found: Evaluation, look: Look) -> str:
    """Write out what a run showed."""
    figures = found.figures
    answerable = sum(row.answerable for row in found.rows)
    head = (
        f"{count(len(found.rows), 'question')} to {count(found.index.documents, 'document')} "
        f"({count(found.index.passages, 'passage')}): {run_name(found.settings)}, "
        f"{count(found.settings.k, 'passage')} each. {answerable:,} have an answer there, "
        f"{len(found.rows) - answerable:,} have none."
    )
    blocks = [[look.fit(plain(head))], _ranking(figures, look), _confidence(figures, look), _verdicts(figures, look)]
    blocks.append(
        [f"Time a question: median {figures.median_ms:,.1f} ms, 95 % within {figures.p95_ms:,.1f} ms (warm)."]
    )
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def cautions(found: Evaluation, questions: Sequence[Asked]) -> str:
    """Write out what makes the figures say less than they seem to; "" where there is nothing."""
    cut = sum(asked.cut > 0 for asked in questions)
    lines = [
        f"{count(cut, 'question')} cut to {LONGEST_QUESTION:,} characters." if cut else "",
        _missing(found.left_out, "left out: nothing that answers is in the collection"),
        _missing(found.partly, "judged without what is not in the collection"),
    ]
    if found.changed:
        lines.append(f"{count(found.changed, 'question')}: shown text of files that changed since they were indexed.")
    return "\n".join(filter(None, lines))


def _missing(several: Sequence[Missing], what: str) -> str:
    named = few([clean_name(f"{each.id} ({each.reason})") for each in several], _NAMED)
    return f"{count(len(several), 'question')} {what}: {named}" if several else ""


def _ranking(figures: Figures, look: Look) -> list[str]:
    """Measures: those with several cut-offs in one line."""
    rows: dict[str, dict[int, float]] = {}
    for measure in figures.measures:
        name, _, depth = measure.name.partition("@")
        rows.setdefault(name, {})[int(depth)] = measure.value
    if not rows:
        return []
    columns = sorted(rows["hit"])
    lines = [look.style(f"{'Ranking':<16}" + "".join(f"{f'@{k}':>7}" for k in columns), BOLD)]
    for name, values in rows.items():
        if name in {"hit", "file", "recall"}:
            label, cells = f"{name}@k", "".join(f"{values[k]:7.3f}" for k in columns)
        else:
            ((cutoff, value),) = values.items()
            label, cells = f"{name}@{cutoff}", f"{value:7.3f}".ljust(7 * len(columns))
        lines.append(f"{label:<16}{cells}  {look.style(_MEANINGS[name], DIM)}")
    return lines


def _confidence(figures: Figures, look: Look) -> list[str]:
    told = "-" if figures.auroc is None else f"{figures.auroc:.3f}"
    lines = [
        look.style("Confidence", BOLD),
        f"{'calibration':<16}{figures.ece:7.3f}  {look.style('expected error (ECE), ten bins of equal size', DIM)}",
        f"{'Brier score':<16}{figures.brier:7.3f}  {look.style('mean squared distance from what came true', DIM)}",
        f"{'AUROC':<16}{told:>7}  {look.style('of questions with an answer above those with none', DIM)}",
        "",
        look.style(f"{'answer from':<16}" + "".join(f"{risk.threshold:7.1f}" for risk in figures.risk), BOLD),
        f"{'answered':<16}" + "".join(f"{risk.answered:7.3f}" for risk in figures.risk),
        f"{'right of these':<16}" + "".join(map(_right, figures.risk)),
    ]
    return [line.rstrip() for line in lines]


def _right(risk: Risk) -> str:
    return f"{'-':>7}" if risk.right is None else f"{risk.right:7.3f}"


def _verdicts(figures: Figures, look: Look) -> list[str]:
    given = figures.verdicts
    return [
        look.style(f"{'':<16}{'found':>9}  {'not found':>9}", BOLD),
        f"{'with an answer':<16}{given.answerable_found:9,}  {given.answerable_not_found:9,}",
        f"{'with none':<16}{given.unanswerable_found:9,}  {given.unanswerable_not_found:9,}",
    ]


def comparison(found: Comparison, names: tuple[str, str], look: Look) -> str:
    """Write out how two runs differ; `names` says in words which they are."""
    head = (
        f"First: {clean_name(names[0])}. Second: {clean_name(names[1])}. {count(found.questions, 'question')} in both"
    )
    alone = found.only_first + found.only_second
    head += f"; {alone:,} in only one of them." if alone else "."
    lines = [look.fit(plain(head)), ""]
    lines.append(look.style(f"{'':<14}{'first':>7}{'second':>8}{'change':>8}  {'95 % interval':<17}{'p':>6}", BOLD))
    lines.extend(_difference(each) for each in found.differences)
    lines += ["", look.fit(plain("Of twenty measures about one looks different by chance alone."))]
    return "\n".join(lines) + "\n"


def _difference(each: Difference) -> str:
    interval = f"{each.low:+.3f} to {each.high:+.3f}"
    p = f"{each.p:.3f}" if each.p >= 0.001 else "<.001"
    figures = f"{each.name:<14}{each.first:7.3f}{each.second:8.3f}{each.difference:+8.3f}  {interval:<17}{p:>6}"
    return f"{figures}  {_told(each)}"


def _told(each: Difference) -> str:
    if not each.is_told:
        return "no difference can be told"
    return "better" if (each.difference > 0) != (each.name in _COSTS) else "worse"


def evaluation_json(found: Evaluation) -> dict[str, Any]:
    """A run as an object."""
    figures = found.figures
    return {
        "version": 1,
        "settings": _settings(found.settings),
        "index": asdict(found.index),
        "questions": len(found.rows),
        "answerable": sum(row.answerable for row in found.rows),
        "left_out": [asdict(each) for each in found.left_out],
        "partly": [asdict(each) for each in found.partly],
        "changed": found.changed,
        "measures": {
            each.name: {"value": round(each.value, 4), "questions": each.questions} for each in figures.measures
        },
        "confidence": {
            "ece": round(figures.ece, 4),
            "brier": round(figures.brier, 4),
            "auroc": None if figures.auroc is None else round(figures.auroc, 4),
            "bins": [_rounded(asdict(each)) for each in figures.bins],
            "risk": [_rounded(asdict(each)) for each in figures.risk],
        },
        "verdicts": asdict(figures.verdicts),
        "latency_ms": {"median": round(figures.median_ms, 1), "p95": round(figures.p95_ms, 1)},
        "per_question": [
            {**asdict(row), "ms": round(row.ms, 2), "values": _rounded(row.values, 6)} for row in found.rows
        ],
    }


def comparison_json(found: Comparison, names: tuple[str, str], second: Evaluation | None) -> dict[str, Any]:
    """What `--compare` adds to that object; `second` where it was run now."""
    return {
        "first": names[0],
        "second": names[1],
        "questions": found.questions,
        "only_first": found.only_first,
        "only_second": found.only_second,
        "measures": [
            {**_rounded(asdict(each)), "difference": round(each.difference, 4), "told": each.is_told}
            for each in found.differences
        ],
        "second_run": None if second is None else evaluation_json(second),
    }


def _settings(settings: Settings) -> dict[str, Any]:
    return {"mode": settings.mode.value, "rerank": settings.rerank, "k": settings.k}


def _rounded(values: dict[str, Any], digits: int = 4) -> dict[str, Any]:
    return {name: round(value, digits) if isinstance(value, float) else value for name, value in values.items()}
