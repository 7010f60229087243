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
from tests.corpus.readers.outcome import is_bad
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.files import FILES
from tests.documents import check_passages, count_words
from tests.robustness import options

SECONDS = 5
_PIECES = (
    *(b"\0", b"\xff" * 8, b"<" * 50, b"(" * 200, b"{" * 200, b"[" * 3000, b"]]>"),
    *(b"\\begin{", b"-1", b"99999999999", b"\r", b"\xed\xa0\x80"),
)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Make a few random changes: flip bits, set bytes, delete, repeat, overwrite or insert pieces, cut off the end."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        if not found:
            break
        at, other = chance.randrange(len(found)), chance.randrange(len(found))
        size = chance.choice((1, 4, 40, 400))
        match chance.randrange(7):
            case 0:
                found[at] ^= 1 << chance.randrange(8)
            case 1:
                found[at] = chance.randrange(256)
            case 2:
                del found[at : at + size]
            case 3:
                found[at:at] = found[other : other + size]
            case 4:
                found[at : at + size] = found[other : other + size]
            case 5:
                found[at:at] = chance.choice(_PIECES)
            case _:
                if chance.random() < 0.3:
                    del found[at:]
    return bytes(found)


def mutate_inside(data: bytes, chance: random.Random) -> bytes:
    """Mutate one part of an archive that itself stays valid."""
    parts = archives.parts_of(data)
    name = chance.choice(list(parts))
    return archives.changed(data, name, mutate(parts[name], chance))


def run(path: str, count: int, *, seed: int, sandbox: Sandbox) -> Counter[str]:
    """Read `count` damaged copies of a file and count the outcomes; those that can be read must give valid passages."""
    chance = random.Random(f"{path} {seed}")  # noqa: S311 - must be repeatable
    outcomes: Counter[str] = Counter()
    for _ in range(count):
        inside = FILES[path].startswith(b"PK") and chance.random() < 0.7
        data = (mutate_inside if inside else mutate)(FILES[path], chance)
        try:
            document = parse(path, data, sandbox=sandbox)
        except Unreadable as error:
            outcomes[error.reason] += 1
        else:
            outcomes["read"] += 1
            check_passages(document, count_tokens=count_words, max_tokens=60)
    return outcomes


def run_all(files: int = 2000, seed: int = 0, only: str = "") -> dict[str, Any]:
    """Read this many damaged copies of each file, or of the one with this name."""
    with Sandbox(seconds=SECONDS) as sandbox:
        found = {path: run(path, files, seed=seed, sandbox=sandbox) for path in FILES if only in ("", path)}
    bad = [f"{path}: {reason}" for path, reasons in found.items() for reason in reasons if is_bad(reason)]
    return {path: dict(reasons.most_common()) for path, reasons in found.items()} | {"violations": bad}


if __name__ == "__main__":
    sys.exit(options.main(run_all))
