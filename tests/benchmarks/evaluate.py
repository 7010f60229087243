"""Index a folder, ask it questions with known evidence, and score what comes back.

    python -m tests.benchmarks.evaluate CORPUS QUESTIONS.jsonl [--sample N] [--results FILE]

QUESTIONS has a JSON object a line: id, question, answerable, and either evidence [{file, text}] or
file, start, end (with spans and alt_spans where there are several). The corpus is copied first, so
nothing is written beside it. Figures are fractions of the answerable questions.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from qa import Retriever, build_index
from tests.scoring import Gold, read_questions, score


def sampled(questions: list[Gold], count: int | None) -> list[Gold]:
    """A sample that is the same in every run, in the order of the file."""
    if count is None or count >= len(questions):
        return questions
    chosen = set(random.Random(0).sample(range(len(questions)), count))  # noqa: S311 - not for secrets
    return [question for place, question in enumerate(questions) if place in chosen]


def main() -> None:
    """Run the measurement that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--sample", type=int, help="ask only this many, chosen by a fixed seed")
    parser.add_argument("--results", type=Path, help="write what the tool said, a JSON object a line")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--no-rerank", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "corpus"
        shutil.copytree(given.corpus, root, ignore=shutil.ignore_patterns(".qa"))
        report = build_index(root)
        questions = sampled(read_questions(given.questions, root), given.sample)
        began = time.perf_counter()
        with Retriever.open(root) as retriever:
            results = [
                retriever.ask(asked.question, k=given.k, rerank=not given.no_rerank, question_id=asked.id)
                for asked in questions
            ]
        seconds = time.perf_counter() - began
        figures = score(questions, results, root)
    if given.results:
        lines = (json.dumps(result.as_json(), ensure_ascii=False) + "\n" for result in results)
        given.results.write_text("".join(lines), encoding="utf-8")
    json.dump(
        {
            "corpus": given.corpus.name,
            "documents": report.documents,
            "passages": report.passages,
            "build_seconds": round(report.seconds, 1),
            "questions": len(questions),
            "ms_a_question": round(1000 * seconds / len(questions), 1),
            **figures,
        },
        sys.stdout,
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
