"""Whether the way to an index shows in its answers.

    python -m tests.benchmarks.determinism CORPUS QUESTIONS.jsonl [--questions N] [--steps N]

Builds the index of a folder twice, in two places, and a third time through a random sequence of edits,
deletions, renames and additions that ends in the same files; then asks all three the same questions.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from qa import Retriever, build_index


def wander(root: Path, original: Path, steps: int, rng: random.Random) -> int:
    """Change files at random, updating after each change, then put everything back; returns texts embedded."""
    embedded = 0
    for _ in range(steps):
        files = sorted(path for path in root.rglob("*") if path.is_file() and ".qa" not in path.parts)
        file = rng.choice(files)
        action = rng.choice(["edit", "delete", "rename", "swap"]) if len(files) > 3 else "edit"
        if action == "edit":
            text = file.read_bytes().decode("utf-8")
            at = rng.randrange(len(text))
            file.write_bytes((text[:at] + " Something else stood here once. " + text[at:]).encode("utf-8"))
        elif action == "delete":
            file.unlink()
        elif action == "rename":
            file.rename(file.with_name("moved-" + file.name))
        else:
            other = rng.choice(files)
            data = file.read_bytes()
            file.write_bytes(other.read_bytes())
            other.write_bytes(data)
        embedded += build_index(root).embedded
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".qa" not in path.parts:
            path.unlink()
    shutil.copytree(original, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".qa"))
    return embedded + build_index(root).embedded


def answers(root: Path, questions: list[str]) -> list[dict[str, Any]]:
    """What the index answers, without what may differ: times, and how many commits it has seen."""
    found = []
    with Retriever.open(root) as retriever:
        for question in questions:
            entry = retriever.ask(question, k=10).as_json()
            del entry["timings_ms"], entry["index"]["generation"]
            found.append(entry)
    return found


def main() -> None:
    """Run the comparison that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--questions", dest="count", type=int, default=200)
    parser.add_argument("--steps", type=int, default=25)
    given = parser.parse_args()
    rng = random.Random(2)  # noqa: S311 - reproducible, not secret
    lines = given.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in rng.sample(lines, min(given.count, len(lines)))]
    with tempfile.TemporaryDirectory() as place:
        roots = [Path(place) / name for name in ("first", "second/deeper", "wandered")]
        for root in roots:
            shutil.copytree(given.corpus, root, ignore=shutil.ignore_patterns(".qa"))
        embedded = [build_index(root).embedded for root in roots[:2]]
        embedded.append(wander(roots[2], given.corpus, given.steps, rng))
        first, *others = (answers(root, questions) for root in roots)
    figures = {
        "questions": len(questions),
        "different_in_second": sum(a != b for a, b in zip(first, others[0], strict=True)),
        "different_in_wandered": sum(a != b for a, b in zip(first, others[1], strict=True)),
        "steps": given.steps,
        "embedded": embedded,
    }
    json.dump(figures, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
