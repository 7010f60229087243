"""Measure a reader on data that it was not trained on.

    python -m tests.benchmarks.reader.evaluate WORK run-1/final.pt [--out FILE]

- squad-dev-v2, the 15 reserved articles: the best answer in the product's passages of the right paragraph. EM and F1
  are the official ones of SQuAD 2.
- squad-train-v1, the articles held out: the answering passage among those that our retriever ranks high.
- legalbench-contractnli, the reserved contracts: the answering passage among all those of its contract.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from qa.answer.confidence import READ, Features
from qa.evaluation import metrics
from tests.benchmarks.common import read_lines, result_parser, write_result

from .batches import Input, encode, in_batches
from .examples import passages_of
from .model import Reader, best_spans, load_reader
from .sources import DATA, trained_articles, trained_contracts

# The weights of the reader's logits in the product's confidence, which was not fitted on any data used here.
WEIGHTS = dict(zip((field.name for field in fields(Features)), READ.weights, strict=True))
# Tokens of the longest answer, and number of spans compared.
LONGEST, SPANS = 30, 20


@dataclass(frozen=True, slots=True)
class Reading:
    """The reader's output for one question and passage.

    Attributes:
        answer: The likeliest answer; spans that SQuAD's script takes for the same are added up.
        chars: The characters of its best span in the text.
        share: Its share of the probability of the best spans.
        span: Logit of the best span minus that of no answer, the mean of start and end.
        answered: Logit that the passage answers the question.
        relevant: Logit that it is the passage to read.
    """

    answer: str
    chars: tuple[int, int]
    share: float
    span: float
    answered: float
    relevant: float

    @property
    def both(self) -> float:
        """The logits `answered` and `relevant` as in the product's confidence."""
        return WEIGHTS["answered"] * self.answered + WEIGHTS["relevant"] * self.relevant

    @property
    def decision(self) -> float:
        """Whether to answer: less likely if the answer competes with others, as it may be a wrong one."""
        return self.both + math.log(self.share)


@torch.no_grad()  # type: ignore[untyped-decorator]
def read(reader: Reader, requests: Sequence[tuple[str, str, str]]) -> list[Reading]:
    """Read requests: a question, a context and a text each."""
    inputs = encode(*([row[column] for row in requests] for column in range(3)))
    device = next(reader.parameters()).device
    readings: list[Reading | None] = [None] * len(requests)
    for places, batch in in_batches(inputs, size=32):
        output = reader.read(batch.to(device))
        spans, scores = best_spans(output.start, output.end, longest=LONGEST, count=SPANS)
        for row, at in enumerate(places):
            answer, chars, share = _likeliest(requests[at][2], inputs[at], spans[row].tolist(), scores[row])
            logits = (float(scores[row, 0]) / 2, float(output.answered[row]), float(output.relevant[row]))
            readings[at] = Reading(answer, chars, share, *logits)
    return [reading for reading in readings if reading is not None]


def _likeliest(
    text: str, encoded: Input, spans: list[list[int]], scores: torch.Tensor
) -> tuple[str, tuple[int, int], float]:
    """The likeliest answer, the characters of its best span, and its share of the spans' probability."""
    places: dict[str, tuple[int, int]] = {}
    shares: Counter[str] = Counter()
    ends = encoded.spans
    for span, probability in zip(spans, torch.softmax(scores / 2, 0).tolist(), strict=True):
        first, last = (token - encoded.text for token in span)
        chars = (ends[first][0], ends[last][1]) if 0 <= first <= last < len(ends) else (0, 0)
        same = normalised(text[slice(*chars)])
        places.setdefault(same, chars)
        shares[same] += probability
    same, share = shares.most_common(1)[0]
    return text[slice(*places[same])], places[same], min(share, 1.0)


def auroc(positive: npt.NDArray[np.float64], negative: npt.NDArray[np.float64]) -> float:
    """Area under the ROC curve; NaN if there are no positives or no negatives."""
    area = metrics.auroc(positive, negative)
    return float("nan") if area is None else area


def normalised(text: str) -> str:
    """Normalise like SQuAD's official script: lower case, without punctuation, articles and extra blanks."""
    text = "".join(char for char in text.lower() if char not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact(answer: str, gold: str) -> float:
    """1 if both are the same after normalisation."""
    return float(normalised(answer) == normalised(gold))


def f1(answer: str, gold: str) -> float:
    """Word overlap of SQuAD 2: no answer matches only no answer."""
    a, b = normalised(answer).split(), normalised(gold).split()
    if not a or not b:
        return float(a == b)
    shared = sum((Counter(a) & Counter(b)).values())
    return 2 * shared / (len(a) + len(b))


def squad(reader: Reader, work: Path) -> dict[str, float]:
    """EM and F1 of all and of the answerable questions, and AUROC, on the 15 reserved articles."""
    reserved = set(trained_articles()[1])
    files = {row["id"]: row["file"] for row in read_lines(DATA / "squad-dev-v2/questions.jsonl")}
    questions = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-dev-v2/queries.jsonl")}
    paragraphs = {row["_id"]: row for row in read_lines(DATA / "squad-dev-v2/corpus.jsonl")}
    passages = passages_of(work, "squad-dev")
    rows = [row for row in read_lines(DATA / "squad-dev-v2/answers.jsonl") if files[row["_id"]] in reserved]
    requests, numbers = [], []
    for number, row in enumerate(rows):
        paragraph = paragraphs[row["doc"]]
        parts = [part for part in passages[files[row["_id"]]] if part["text"].strip() in paragraph["text"]]
        if not parts:
            parts = [{"context": paragraph["title"], "text": paragraph["text"]}]
        for part in parts:
            requests.append((" ".join(questions[row["_id"]].split()), part["context"], part["text"]))
            numbers.append(number)
    readings: dict[int, list[Reading]] = defaultdict(list)
    for number, reading in zip(numbers, read(reader, requests), strict=True):
        readings[number].append(reading)
    best = [max(readings[number], key=lambda reading: reading.decision) for number in range(len(rows))]
    answerable = np.array([row["answerable"] for row in rows])
    golds = [row["answers"] or [""] for row in rows]
    pairs = [(reading.answer, answers) for reading, answers in zip(best, golds, strict=True)]
    overlap, match = (
        np.array([max(measure(answer, gold) for gold in answers) for answer, answers in pairs])
        for measure in (f1, exact)
    )
    result = {
        "questions": float(len(rows)),
        "answerable_em": float(match[answerable].mean()),
        "answerable_f1": float(overlap[answerable].mean()),
    }
    for name in ("answered", "span", "both"):
        score = np.array([getattr(reading, name) for reading in best])
        result[f"auroc_{name}"] = auroc(score[answerable], score[~answerable])
    score = np.array([reading.decision for reading in best])
    # The threshold with the best F1, as in the official script: an upper bound.
    thresholds = np.quantile(score, np.linspace(0, 1, 201))
    threshold = max(thresholds, key=lambda t: np.where(answerable, overlap * (score > t), score <= t).mean())
    chosen = score > threshold
    return result | {
        "em": float(np.where(answerable, match * chosen, ~chosen).mean()),
        "f1": float(np.where(answerable, overlap * chosen, ~chosen).mean()),
        "threshold": float(threshold),
    }


def held_out(reader: Reader, work: Path, count: int = 2500) -> dict[str, float]:
    """How often the answering passage ranks above hard negatives, and AUROC by the kind of negative."""
    rows = read_lines(work / "dev.jsonl")[:count]
    readings = read(reader, [(row["question"], row["context"], row["text"]) for row in rows])
    groups: dict[str, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        if row["relevant"] >= 0:
            groups[row["group"]].append(at)
    result: dict[str, float] = {}
    for name in ("relevant", "answered", "both"):
        firsts = [
            rows[max(places, key=lambda at: getattr(readings[at], name))]["relevant"]
            for places in groups.values()
            if len(places) > 1
        ]
        result[f"first_{name}"] = float(np.mean(firsts))
    pairs = list(zip(readings, rows, strict=True))
    right = np.array([reading.both for reading, row in pairs if row["answered"]])
    for kind in sorted({row["kind"] for row in rows if not row["answered"]}):
        negatives = np.array([reading.both for reading, row in pairs if row["kind"] == kind])
        result[f"auroc_{kind}"] = auroc(right, negatives)
    overlaps = [f1(reading.answer, row["text"][row["start"] : row["end"]]) for reading, row in pairs if row["answered"]]
    result["f1"] = float(np.mean(overlaps))
    return result


def contracts(reader: Reader, work: Path) -> dict[str, float]:
    """How often an answering passage ranks first in its contract, and how often the span overlaps the evidence."""
    reserved = set(trained_contracts()[1])
    passages = passages_of(work, "contracts")
    rows = [row for row in read_lines(DATA / "legalbench-contractnli/questions.jsonl") if row["file"] in reserved]
    requests = [(row["question"], part["context"], part["text"]) for row in rows for part in passages[row["file"]]]
    readings = iter(read(reader, requests))
    first, spans = [], []
    for row in rows:
        pairs = [(part, next(readings)) for part in passages[row["file"]]]
        part, reading = max(pairs, key=lambda pair: pair[1].relevant)
        first.append(any(s["start"] < part["end"] and part["start"] < s["end"] for s in row["spans"]))
        start, end = part["start"] + reading.chars[0], part["start"] + reading.chars[1]
        spans.append(any(s["start"] < end and start < s["end"] for s in row["spans"]))
    return {"questions": float(len(rows)), "first_in_contract": float(np.mean(first)), "span": float(np.mean(spans))}


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__, "work")
    parser.add_argument("weights", type=Path, help="checkpoint or exported weights, relative to WORK")
    options = parser.parse_args()
    reader = load_reader(options.work / options.weights)
    measures = (squad, held_out, contracts)
    reader.dtype = torch.bfloat16
    write_result({measure.__name__: measure(reader, options.work) for measure in measures}, options.out)


if __name__ == "__main__":
    main()
