"""Index a folder, ask it questions with known evidence, and score what comes back.

    python -m tests.benchmarks.evaluate CORPUS QUESTIONS.jsonl [--sample N] [--results FILE] [--out FILE]

QUESTIONS is as `qa eval` reads it. The corpus is copied first, so nothing is written beside it. Figures are
fractions of the answerable questions; beside `qa eval`, every citation is compared with its file.
"""

from __future__ import annotations

import json
from pathlib import Path

from qa import Retriever, build_index
from qa.evaluation.questions import sample
from tests.benchmarks.common import copied, question_parser, tell
from tests.scoring import ask, read_questions, score


def main() -> None:
    """Run the measurement that the command line describes."""
    parser = question_parser(__doc__)
    parser.add_argument("--results", type=Path, help="write what the tool said, a JSON object a line")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--no-rerank", action="store_true")
    given = parser.parse_args()
    with copied(given.corpus) as root:
        report = build_index(root)
        questions = sample(read_questions(given.questions, root), given.sample)
        with Retriever.open(root) as retriever:
            answers = ask(retriever, questions, k=given.k, rerank=not given.no_rerank)
        figures = score(answers, root)
    if given.results:
        lines = (json.dumps(each.result.as_json(), ensure_ascii=False) + "\n" for each in answers)
        given.results.write_text("".join(lines), encoding="utf-8")
    tell(
        {
            "corpus": given.corpus.name,
            "documents": report.documents,
            "passages": report.passages,
            "build_seconds": round(report.seconds, 1),
            "questions": len(questions),
            "ms_a_question": round(sum(each.ms for each in answers) / len(answers), 1),
            **figures,
        },
        given.out,
    )


if __name__ == "__main__":
    main()
