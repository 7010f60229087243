"""Damaged files of every format: none may hang, crash or stop a build.

`python -m tests.corpus.readers.fuzz --files 2000` reads 2000 of each format.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

from corpus.errors import Unreadable
from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from tests.corpus.readers.outcome import is_reader_failure
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.files import FILES
from tests.documents import check_passages, count_words
from tests.robustness import options

SECONDS = 5
_PIECES = (
    *(b"\0", b"\xff" * 8, b"<" * 50, b"(" * 200, b"{" * 200, b"[" * 3000, b"]]>"),
    *(b"\\begin{", b"-1", b"99999999999", b"\r", b"\xed\xa0\x80"),
)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Make a few random changes: flip bits, set bytes, delete, repeat, overwrite or insert pieces, cut off the end."""
    mutated = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if not mutated:
            break
        at, source = rng.randrange(len(mutated)), rng.randrange(len(mutated))
        size = rng.choice((1, 4, 40, 400))
        match rng.randrange(7):
            case 0:
                mutated[at] ^= 1 << rng.randrange(8)
            case 1:
                mutated[at] = rng.randrange(256)
            case 2:
                del mutated[at : at + size]
            case 3:
                mutated[at:at] = mutated[source : source + size]
            case 4:
                mutated[at : at + size] = mutated[source : source + size]
            case 5:
                mutated[at:at] = rng.choice(_PIECES)
            case _:
                if rng.random() < 0.3:
                    del mutated[at:]
    return bytes(mutated)


def mutate_inside(data: bytes, rng: random.Random) -> bytes:
    """Mutate one part of an archive that itself stays valid."""
    parts = archives.parts_of(data)
    name = rng.choice(list(parts))
    return archives.changed(data, name, mutate(parts[name], rng))


def run(path: str, count: int, *, seed: int, sandbox: Sandbox) -> Counter[str]:
    """Read `count` damaged copies of a file and count the outcomes; copies that are read must give valid passages."""
    rng = random.Random(f"{path} {seed}")  # noqa: S311 - must be repeatable
    outcomes: Counter[str] = Counter()
    for _ in range(count):
        inside = FILES[path].startswith(b"PK") and rng.random() < 0.7
        data = (mutate_inside if inside else mutate)(FILES[path], rng)
        try:
            document = parse(path, data, sandbox=sandbox)
        except Unreadable as error:
            outcomes[error.reason] += 1
        else:
            outcomes["read"] += 1
            check_passages(document, count_tokens=count_words, max_tokens=60)
    return outcomes


def run_all(files: int = 2000, seed: int = 0, only: str = "") -> dict[str, Any]:
    """Read this many damaged copies of each file, or `only` of the file with this name."""
    with Sandbox(seconds=SECONDS) as sandbox:
        outcomes = {path: run(path, files, seed=seed, sandbox=sandbox) for path in FILES if only in ("", path)}
    bad = [f"{path}: {reason}" for path, reasons in outcomes.items() for reason in reasons if is_reader_failure(reason)]
    return {path: dict(reasons.most_common()) for path, reasons in outcomes.items()} | {"violations": bad}


if __name__ == "__main__":
    sys.exit(options.main(run_all))
