"""The output of `qa eval`: tables, or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from qa.answer.display import count
from qa.answer.results import LONGEST_QUESTION
from qa.evaluation.comparison import Comparison, Difference
from qa.evaluation.evaluate import EvalReport, Evaluation, Missing
from qa.evaluation.metrics import RunMetrics
from qa.evaluation.questions import EvalQuestion
from qa.terminal.answers import BOLD, DIM, TerminalStyle, first_few
from qa.terminal.text import clean_name

_MEANINGS = {
    "hit": "an answering passage is among the first k",
    "recall": "share of the evidence among the first k",
    "file": "the file of the answer is among the first k",
    "MRR": "reciprocal rank of the first answering passage",
    "nDCG": "gain: the grade, discount: log2(rank + 1)",
    "covered": "answered within this many characters shown",
    "highlight": "the first highlighted sentence answers",
}
# Measures for which lower is better.
_COSTS = {"ece"}
_MAX_EXAMPLES = 3


def render_report(report: EvalReport, style: TerminalStyle) -> str:
    """Return a run, and its comparison, as text."""
    text = _render_run(report.run, style)
    if report.comparison is not None:
        text += "\n" + _render_comparison(report.comparison, report.names, style)
    return text


def report_json(report: EvalReport) -> dict[str, Any]:
    """Return the object that `qa eval --json` prints: version 1."""
    comparison = None if report.comparison is None else _comparison_json(report.comparison, report)
    return _evaluation_json(report.run) | {"compare": comparison}


def _render_run(run: Evaluation, style: TerminalStyle) -> str:
    """Return a run as text."""
    metrics = run.metrics
    answerable = sum(score.answerable for score in run.scores)
    head = (
        f"{count(len(run.scores), 'question')} ({answerable:,} answerable) over "
        f"{count(run.index.documents, 'document')} ({count(run.index.passages, 'passage')}): {run.settings}, "
        f"k={run.settings.k}."
    )
    time = f"Time per question, warm: median {metrics.median_ms:,.1f} ms, 95th percentile {metrics.p95_ms:,.1f} ms."
    blocks = [
        *([style.fit(head)], _ranking_table(metrics, style)),
        *(_confidence_table(metrics, style), _verdict_table(metrics, style), [time]),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def render_caveats(run: Evaluation, questions: Sequence[EvalQuestion]) -> str:
    """Return caveats on the metrics, one per line, or ""."""
    cut = sum(question.cut > 0 for question in questions)
    lines = [
        f"{count(cut, 'question')} cut to {LONGEST_QUESTION:,} characters." if cut else "",
        _missing_line(run.left_out, "left out, as the answer is not in the collection"),
        _missing_line(run.partly, "scored although part of the answer is not in the collection"),
    ]
    if run.changed:
        lines.append(f"{count(run.changed, 'question')} were shown text of files that changed since they were indexed.")
    return "\n".join(filter(None, lines))


def _missing_line(questions: Sequence[Missing], reason: str) -> str:
    examples = first_few([clean_name(f"{question.id} ({question.reason})") for question in questions], _MAX_EXAMPLES)
    return f"{count(len(questions), 'question')} {reason}: {examples}" if questions else ""


def _ranking_table(metrics: RunMetrics, style: TerminalStyle) -> list[str]:
    """Return a table with one line per measure, for all its cutoffs."""
    rows: dict[str, dict[int, float]] = {}
    for measure in metrics.measures:
        name, _, depth = measure.name.partition("@")
        rows.setdefault(name, {})[int(depth)] = measure.value
    if not rows:
        return []
    columns = sorted(rows["hit"])
    lines = [style.paint(f"{'Ranking':<16}" + "".join(f"{f'@{k}':>7}" for k in columns), BOLD)]
    for name, values in rows.items():
        if name in {"hit", "file", "recall"}:
            label, columns_text = f"{name}@k", "".join(f"{values[k]:7.3f}" for k in columns)
        else:
            ((cutoff, value),) = values.items()
            label, columns_text = f"{name}@{cutoff}", f"{value:7.3f}".ljust(7 * len(columns))
        lines.append(f"{label:<16}{columns_text}  {style.paint(_MEANINGS[name], DIM)}")
    return lines


def _confidence_table(metrics: RunMetrics, style: TerminalStyle) -> list[str]:
    auroc = "-" if metrics.auroc is None else f"{metrics.auroc:.3f}"
    lines = [
        style.paint("Confidence", BOLD),
        f"{'calibration':<16}{metrics.ece:7.3f}  {style.paint('expected calibration error, ten equal bins', DIM)}",
        f"{'Brier score':<16}{metrics.brier:7.3f}  {style.paint('mean squared error', DIM)}",
        f"{'AUROC':<16}{auroc:>7}  {style.paint('answerable against unanswerable questions', DIM)}",
        "",
        style.paint(f"{'threshold':<16}" + "".join(f"{risk.threshold:7.1f}" for risk in metrics.risk), BOLD),
        f"{'answered':<16}" + "".join(f"{risk.answered:7.3f}" for risk in metrics.risk),
        f"{'of these right':<16}"
        + "".join(f"{'-':>7}" if risk.right is None else f"{risk.right:7.3f}" for risk in metrics.risk),
    ]
    return [line.rstrip() for line in lines]


def _verdict_table(metrics: RunMetrics, style: TerminalStyle) -> list[str]:
    counts = metrics.verdicts
    return [
        style.paint(f"{'':<16}{'found':>9}  {'not found':>9}", BOLD),
        f"{'answerable':<16}{counts.answerable_found:9,}  {counts.answerable_not_found:9,}",
        f"{'unanswerable':<16}{counts.unanswerable_found:9,}  {counts.unanswerable_not_found:9,}",
    ]


def _render_comparison(comparison: Comparison, names: tuple[str, str], style: TerminalStyle) -> str:
    """Return the differences of two runs as text."""
    head = (
        f"First: {clean_name(names[0])}. Second: {clean_name(names[1])}. "
        f"{count(comparison.questions, 'question')} in both"
    )
    unpaired = comparison.only_first + comparison.only_second
    head += f"; {unpaired:,} in only one of them." if unpaired else "."
    lines = [style.fit(head), ""]
    lines.append(style.paint(f"{'':<14}{'first':>7}{'second':>8}{'change':>8}  {'95 % interval':<17}{'p':>6}", BOLD))
    lines.extend(_difference_line(row) for row in comparison.differences)
    lines += ["", style.fit("At p < 0.05, about one measure in twenty differs by chance alone.")]
    return "\n".join(lines) + "\n"


def _difference_line(row: Difference) -> str:
    interval = f"{row.low:+.3f} to {row.high:+.3f}"
    p = f"{row.p:.3f}" if row.p >= 0.001 else "<.001"
    verdict = "better" if (row.difference > 0) != (row.name in _COSTS) else "worse"
    values = f"{row.name:<14}{row.first:7.3f}{row.second:8.3f}{row.difference:+8.3f}  {interval:<17}{p:>6}"
    return f"{values}  {verdict if row.is_significant else 'no significant difference'}"


def _evaluation_json(run: Evaluation) -> dict[str, Any]:
    """Return a run as a JSON object."""
    metrics = asdict(run.metrics)
    return {
        "version": 1,
        "settings": asdict(run.settings),
        "index": asdict(run.index),
        "questions": len(run.scores),
        "answerable": sum(score.answerable for score in run.scores),
        "left_out": [asdict(missing) for missing in run.left_out],
        "partly": [asdict(missing) for missing in run.partly],
        "changed": run.changed,
        "measures": {measure.pop("name"): _rounded(measure) for measure in metrics["measures"]},
        "confidence": _rounded({name: metrics[name] for name in ("ece", "brier", "auroc", "bins", "risk")}),
        "verdicts": metrics["verdicts"],
        "latency_ms": {"median": round(metrics["median_ms"], 1), "p95": round(metrics["p95_ms"], 1)},
        "per_question": [
            asdict(score) | {"ms": round(score.ms, 2), "values": _rounded(score.values, 6)} for score in run.scores
        ],
    }


def _comparison_json(comparison: Comparison, report: EvalReport) -> dict[str, Any]:
    """Return what `--compare` adds to the object."""
    return {
        "first": report.names[0],
        "second": report.names[1],
        "questions": comparison.questions,
        "only_first": comparison.only_first,
        "only_second": comparison.only_second,
        "measures": [
            {**_rounded(asdict(row)), "difference": round(row.difference, 4), "significant": row.is_significant}
            for row in comparison.differences
        ],
        "second_run": None if report.second is None else _evaluation_json(report.second),
    }


def _rounded(value: Any, digits: int = 4) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item, digits) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item, digits) for item in value]
    return round(value, digits) if isinstance(value, float) else value
