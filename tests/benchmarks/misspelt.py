"""What a slip of the finger costs: questions as they are, with one in their rarest word, and that put right or not.

    python -m tests.benchmarks.misspelt CORPUS QUESTIONS.jsonl [--sample N] [--out FILE]

In the word of five letters or more that stands in the fewest passages, one letter is left out, doubled, swapped with
the next or replaced; never the first. The same slips are made in every run.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from unittest.mock import patch

from index.lexical.analyzer import word_terms
from index.lexical.query_terms import STOP_WORDS
from index.protocol import Index
from qa import Retriever, build_index
from qa.evaluation.evidence import Gold
from qa.evaluation.questions import sample
from tests.benchmarks.common import copied, question_parser, tell
from tests.scoring import ask, read_questions, score

_WORD = re.compile(r"[A-Za-z]{5,}")
_SHOWN = ("hit@1", "hit@5", "hit@10")


def slip(question: str, snapshot: Index, dice: random.Random) -> str:
    """A question with one slip, or as it is where no word is long enough."""
    words = [word for word in _WORD.findall(question) if word.lower() not in STOP_WORDS]
    if not words:
        return question
    terms = {word: word_terms(word.lower())[0] for word in words}
    found = snapshot.frequencies(list(terms.values()))
    # A word that no passage has tells nothing.
    word = min(words, key=lambda one: found[terms[one]] or snapshot.info.passages)
    at = dice.randrange(1, len(word) - 2)
    wrong = dice.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + dice.choice(ascii_lowercase) + word[at + 1 :],
        )
    )
    return question.replace(word, wrong, 1)


def measure(root: Path, golds: Sequence[Gold]) -> dict[str, dict[str, float]]:
    """Figures of the questions as they are, with slips put right, and with slips left as they are."""
    dice = random.Random(5)  # noqa: S311 - not for secrets
    with Retriever.open(root) as retriever:
        wrong = [replace(gold, question=slip(gold.question, retriever.snapshot, dice)) for gold in golds]
        runs = {"as asked": ask(retriever, golds), "misspelt": ask(retriever, wrong)}
        with patch("qa.retrieval.query.correct_spelling", lambda question, *_: (question, ())):
            runs["misspelt, nothing put right"] = ask(retriever, wrong)
    scores = {name: score(answers, root) for name, answers in runs.items()}
    return {name: {key: one[key] for key in _SHOWN} for name, one in scores.items()}


def main() -> None:
    """Run the measurement that the command line describes."""
    given = question_parser(__doc__).parse_args()
    with copied(given.corpus) as root:
        build_index(root)
        golds = [one for one in sample(read_questions(given.questions, root), given.sample) if one.answerable]
        tell({"questions": len(golds), **measure(root, golds)}, given.out)


if __name__ == "__main__":
    main()
