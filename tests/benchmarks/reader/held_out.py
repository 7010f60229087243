"""Questions on the articles that the reader was not trained on, more than half of them without an answer.

    python -m tests.benchmarks.reader.held_out WORK OUT

writes OUT/files and OUT/questions.jsonl in the format of `qa eval`, for `tests.benchmarks.fit_confidence`: answerable
questions, near misses made by rules, and questions on articles that are left out of the files.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.benchmarks.common import path_parser, read_lines, write_lines

from .sources import DATA, GUESSED, article_of, article_text, held_out_articles, squad_paragraphs

ANSWERABLE, NEAR, ABSENT = 250, 300, 300
_NEAR_KINDS = {"near-entity", "near-negated", "near-word"}


def main() -> None:
    """Run the command line."""
    options = path_parser(__doc__, "work", "out").parse_args()
    random = Random(11)  # noqa: S311 - not for secrets
    articles = squad_paragraphs()
    held_out = held_out_articles(articles)
    # Of every third article the text is left out, but its questions are asked.
    kept = {article for number, article in enumerate(sorted(held_out)) if number % 3}
    (options.out / "files").mkdir(parents=True, exist_ok=True)
    starts: dict[str, int] = {}
    for article in kept:
        text, begins = article_text(articles[article])
        (options.out / "files" / f"{article}.md").write_text(text, encoding="utf-8")
        starts.update(begins)
    questions = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-train-v1/queries.jsonl")}
    answered: list[dict[str, Any]] = []
    absent: list[dict[str, Any]] = []
    for row in read_lines(DATA / "squad-train-v1/answers.jsonl"):
        article = article_of(row["doc"])
        asked = {"id": row["_id"], "question": questions[row["_id"]], "file": f"{article}.md"}
        if article in kept and row["start_source"] != GUESSED:
            start = starts[row["doc"]] + row["start"]
            answered.append({**asked, "start": start, "end": start + len(row["answers"][0]), "answerable": True})
        elif article in held_out:
            absent.append({**asked, "answerable": False})
    near = [
        {"id": f"near-{number}", "question": row["question"], "file": "", "answerable": False}
        for number, row in enumerate(read_lines(options.work / "dev.jsonl"))
        if row["kind"] in _NEAR_KINDS
    ]
    chosen = [
        one
        for rows, count in ((answered, ANSWERABLE), (near, NEAR), (absent, ABSENT))
        for one in random.sample(rows, min(count, len(rows)))
    ]
    random.shuffle(chosen)
    write_lines(options.out / "questions.jsonl", chosen)


if __name__ == "__main__":
    main()
