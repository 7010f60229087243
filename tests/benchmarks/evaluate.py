"""Index a folder, ask it questions with known evidence, and score what comes back.

    python -m tests.benchmarks.evaluate CORPUS QUESTIONS.jsonl [--sample N] [--results FILE]

QUESTIONS is as `qa eval` reads it. The corpus is copied first, so nothing is written beside it. Figures are
fractions of the answerable questions; beside `qa eval`, every citation is compared with its file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from qa import Retriever, build_index
from qa.evaluation.questions import sample
from tests.scoring import ask, read_questions, score


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
        questions = sample(read_questions(given.questions, root), given.sample)
        with Retriever.open(root) as retriever:
            answers = ask(retriever, questions, k=given.k, rerank=not given.no_rerank)
        figures = score(answers, root)
    if given.results:
        lines = (json.dumps(each.result.as_json(), ensure_ascii=False) + "\n" for each in answers)
        given.results.write_text("".join(lines), encoding="utf-8")
    json.dump(
        {
            "corpus": given.corpus.name,
            "documents": report.documents,
            "passages": report.passages,
            "build_seconds": round(report.seconds, 1),
            "questions": len(questions),
            "ms_a_question": round(sum(each.ms for each in answers) / len(answers), 1),
            **figures,
        },
        sys.stdout,
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
