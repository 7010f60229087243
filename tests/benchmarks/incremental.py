"""What an update costs: a folder indexed, then indexed again after each of a few changes.

    python -m tests.benchmarks.incremental CORPUS

Works on a copy. Prints a JSON object a line: what was done, how many texts were embedded, seconds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from corpus.text.sentences import sentence_spans
from qa import Retriever, build_index


def edit_one_sentence(file: Path) -> str:
    """Add a clause to a sentence in the middle of a file; returns the new sentence."""
    text = file.read_bytes().decode("utf-8")
    spans = [(start, end) for start, end in sentence_spans(text) if text[start:end].endswith(".")]
    start, end = spans[len(spans) // 2]
    sentence = text[start : end - 1] + ", as a later hand has added."
    file.write_bytes((text[:start] + sentence + text[end:]).encode("utf-8"))
    return sentence


def step(root: Path, what: str) -> None:
    """Bring the index up to date and print what that took."""
    report = build_index(root)
    figures = {
        "step": what,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "passages": report.passages,
        "embedded": report.embedded,
        "reused": report.reused,
        "seconds": round(report.seconds, 3),
    }
    json.dump(figures, sys.stdout)
    sys.stdout.write("\n")


def main() -> None:
    """Run the measurement that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "corpus"
        shutil.copytree(given.corpus, root, ignore=shutil.ignore_patterns(".qa"))
        files = sorted(path for path in root.rglob("*") if path.is_file())
        first, second = files[len(files) // 2], files[len(files) // 3]
        step(root, "first build")
        step(root, "nothing changed")
        sentence = edit_one_sentence(first)
        step(root, "one sentence edited")
        renamed = first.with_name("renamed-" + first.name)
        first.rename(renamed)
        step(root, "one file renamed")
        with Retriever.open(root) as retriever:
            gone = second.relative_to(root).as_posix()
            questions = [passage.text[:200] for passage in retriever.snapshot.passages_of(gone)]
        second.unlink()
        step(root, "one file deleted")
        with Retriever.open(root) as retriever:
            cited = {hit.source.path for text in questions for hit in retriever.search(text, k=20)}
            edited = retriever.search(sentence, k=1)[0].source.path
        json.dump({"deleted_file_cited": gone in cited, "asked": len(questions), "edited_found_in": edited}, sys.stdout)
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
