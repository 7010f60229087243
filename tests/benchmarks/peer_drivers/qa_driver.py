"""Run qa for `tests.benchmarks.peers` where there is no command for it.

    python qa_driver.py export FOLDER PASSAGES.jsonl
    python qa_driver.py ask FOLDER [--no-rerank]

`export` builds the index of FOLDER and writes id and text of its passages, a JSON object per line; it prints one JSON
object. `ask` reads questions from stdin, a JSON string per line, and answers each with a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from index.encoder import model_files
from qa import Retriever, build_index


def export(folder: Path, passages: Path) -> None:
    """Write the passages for the other tools; print the number of their files, and the model's folder."""
    build_index(folder)
    paths: dict[str, str] = {}
    with Retriever.open(folder) as retriever, passages.open("w", encoding="utf-8") as file:
        documents = [document.path for document in retriever.snapshot.documents()]
        for path in documents:
            for passage in retriever.snapshot.passages_of(path):
                file.write(json.dumps({"id": passage.key, "text": passage.text}, ensure_ascii=False) + "\n")
                paths[passage.key] = path
    printed = {
        "model": str(model_files.find(model_files.DEFAULT_MODEL).folder),
        "files": len(documents),
        "passages": len(paths),
        "paths": paths,
    }
    print(json.dumps(printed))


def main() -> None:
    """Run the command line."""
    action, folder, *arguments = sys.argv[1:]
    if action == "export":
        export(Path(folder), Path(*arguments))
        return
    with Retriever.open(folder) as retriever:
        for question in map(json.loads, sys.stdin):
            ids = [hit.id for hit in retriever.ask(question, k=5, rerank=not arguments).passages]
            print(json.dumps({"ids": ids}), flush=True)


if __name__ == "__main__":
    main()
