"""The process that reads files for `sandbox`: bytes come in on standard input, JSON goes out on standard output.

A request is two lengths (big-endian, 4 bytes each), a JSON object and the file; an answer is a length and a JSON
object.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

# Run by its path, it finds the package that it belongs to.
if __name__ == "__main__":
    # In place of its own folder, where a module could hide one of the standard library.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.errors import Unreadable
from corpus.formats import confirm
from corpus.readers import reader_for
from corpus.types import Extracted

_MIB = 1024 * 1024
# Made and not freed, between two searches for those that hold one another.
_OBJECTS = 100_000


def serve(requests: BinaryIO, answers: BinaryIO, *, seconds: int, memory: int) -> None:
    """Answer until the other side closes, or until one file took all the memory there may be."""
    while len(head := requests.read(8)) == 8:
        sizes = struct.unpack(">II", head)
        asked = json.loads(requests.read(sizes[0]))
        data = requests.read(sizes[1])
        _allow(seconds)
        answer = _answer(asked, data, memory)
        del data
        text = json.dumps(answer).encode()
        answers.write(struct.pack(">I", len(text)) + text)
        answers.flush()
        if answer.get("died"):
            return


def _answer(asked: dict[str, Any], data: bytes, memory: int) -> dict[str, Any]:
    try:
        if asked["do"] == "boxes":
            from corpus.readers.pdf.boxes import boxes  # noqa: PLC0415

            return {"boxes": boxes(data, asked["wanted"])}
        return _packed(reader_for(confirm(asked["path"], data).reader)(asked["path"], data))
    except Unreadable as error:
        return {"unreadable": error.reason}
    except MemoryError:
        return {"unreadable": f"needs more than {memory // _MIB:,} MiB of memory to read", "died": True}
    except RecursionError:
        return {"unreadable": "nested too deeply"}
    # Whatever a parser raises over a file is that file's trouble.
    except Exception as error:
        return {"unreadable": f"damaged ({type(error).__name__})"}


def _packed(found: Extracted) -> dict[str, Any]:
    headings: dict[tuple[str, ...], int] = {}
    blocks = [
        (block.kind, block.start, block.end, headings.setdefault(block.heading, len(headings)), block.depth)
        for block in found.blocks
    ]
    return {
        "text": found.text,
        "title": found.title,
        "headings": list(headings),
        "blocks": blocks,
        "pages": found.pages,
        "media_type": found.media_type,
        "note": found.note,
        "records": [(record.start, record.title) for record in found.records],
    }


def _allow(seconds: int) -> None:
    """Give the next file its time: the system counts that of the whole process."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on every system

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds + 1, hard))


def _limit_memory(memory: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def main() -> None:
    """Serve on the standard streams, with the limits given as arguments: seconds, bytes."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C goes to all processes of a terminal; this one ends when the other lets go of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A library that prints must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    _limit_memory(memory)
    # A tree of millions of elements is looked through for cycles less often: it took a quarter of the time.
    gc.set_threshold(_OBJECTS)
    with open(0, "rb") as requests, contextlib.suppress(BrokenPipeError):
        serve(requests, answers, seconds=seconds, memory=memory)


if __name__ == "__main__":
    main()
