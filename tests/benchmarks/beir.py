"""Convert a dataset in BEIR format (https://github.com/beir-cellar/beir) to documents and questions for `qa eval`.

    python -m tests.benchmarks.beir SET WORK && qa eval WORK/questions.jsonl --corpus WORK/documents

SET has corpus.jsonl ({"_id", "title", "text"}), queries.jsonl ({"_id", "text"}) and qrels.tsv (query, record, grade,
with a header). Each record becomes a file; queries without a grade above 0 are left out.
"""

from __future__ import annotations

import csv
import hashlib
import re
from pathlib import Path

from tests.benchmarks.common import path_parser, read_lines, write_lines


def convert(folder: Path, work: Path) -> None:
    """Write `documents/` and `questions.jsonl` into a new folder `work`."""
    documents = work / "documents"
    documents.mkdir(parents=True)
    names = {}
    for record in read_lines(folder / "corpus.jsonl"):
        title = " ".join((record.get("title") or "").split())
        names[record["_id"]] = name = _file_name(record["_id"], ".md" if title else ".txt")
        head = f"# {title}\n\n" if title else ""
        (documents / name).write_bytes(f"{head}{record['text']}\n".encode("utf-8", "replace"))
    relevant: dict[str, dict[str, int]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        for query, record_id, grade in list(csv.reader(file, delimiter="\t"))[1:]:
            if int(grade) > 0:
                relevant.setdefault(query, {})[names.get(record_id, record_id)] = int(grade)
    questions = (
        {"id": query["_id"], "question": query["text"], "relevant": relevant[query["_id"]]}
        for query in read_lines(folder / "queries.jsonl")
        if query["_id"] in relevant
    )
    write_lines(work / "questions.jsonl", questions)


def _file_name(record_id: str, suffix: str) -> str:
    """The id if it is a safe file name; otherwise a safe version of it, with a digest to keep it unique."""
    safe_id = re.sub(r"[^0-9a-z_-]", "_", record_id)[:80]
    digest = hashlib.sha256(record_id.encode()).hexdigest()[:12]
    return f"{safe_id}{suffix}" if safe_id == record_id else f"{safe_id}-{digest}{suffix}"


def main() -> None:
    """Run the command line."""
    options = path_parser(__doc__, "set", "work").parse_args()
    convert(options.set, options.work)


if __name__ == "__main__":
    main()
