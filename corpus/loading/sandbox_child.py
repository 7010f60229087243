"""The process in which `sandbox` reads files: requests on standard input, answers on standard output.

A request is two lengths (big-endian, 4 bytes each), a JSON object and the file; an answer is a length and JSON. Before
it, a length of zero reports progress after each part of a file that may take long.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gc
import json
import os
import signal
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

# The script is run by its path, so it has to add that of its package.
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.errors import Unreadable
from corpus.formats import MIB, detect_format
from corpus.readers import reader_for
from corpus.readers.pdf import ocr
from corpus.types import Extracted

# New objects between two garbage collections; by default they take a quarter of the time for a large tree.
_GC_THRESHOLD = 100_000


def serve(requests: BinaryIO, answers: BinaryIO, *, seconds: int, memory: int) -> None:
    """Answer requests until the pipe closes or a file exhausts the memory."""

    def report_progress() -> None:
        _limit_time(seconds)
        answers.write(bytes(4))
        answers.flush()

    ocr.progress = report_progress
    while len(head := requests.read(8)) == 8:
        sizes = struct.unpack(">II", head)
        request = json.loads(requests.read(sizes[0]))
        data = requests.read(sizes[1])
        _limit_time(seconds)
        answer, is_exhausted = _answer(request, data, memory)
        del data
        answers.write(struct.pack(">I", len(answer)))
        answers.write(answer)
        answers.flush()
        if is_exhausted:
            return


def _answer(request: dict[str, Any], data: bytes, memory: int) -> tuple[bytes, bool]:
    """Return the answer in JSON, and whether the memory is exhausted."""
    reason = f"needs more than {memory // MIB:,} MiB of memory to read"
    refusal = {"unreadable": reason, "unknown": True, "died": True}
    try:
        # Encoding the answer takes memory too.
        return json.dumps(_perform(request, data)).encode(), False
    except MemoryError:
        # Nothing can be allocated here, as the error keeps the objects that fill the memory.
        pass
    except Unreadable as error:
        refusal = {"unreadable": error.reason, "unknown": error.unknown}
    except RecursionError:
        refusal = {"unreadable": "nested too deeply", "unknown": False}
    # A parser may raise anything on a damaged file.
    except Exception as error:
        refusal = {"unreadable": f"damaged ({type(error).__name__})", "unknown": False}
    return json.dumps(refusal).encode(), "died" in refusal


def _perform(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    if request["do"] == "boxes":
        from corpus.readers.pdf.boxes import find_boxes  # noqa: PLC0415

        return {"boxes": find_boxes(data, request["wanted"])}
    if request["do"] == "draw":
        from corpus.readers.pdf.picture import draw  # noqa: PLC0415

        picture = dataclasses.asdict(draw(data, request["page"]))
        return picture | {"png": base64.b64encode(picture["png"]).decode()}
    return _pack(reader_for(detect_format(request["path"], data).reader)(request["path"], data))


def _pack(extracted: Extracted) -> dict[str, Any]:
    headings: dict[tuple[str, ...], int] = {}
    blocks = [
        (block.kind, block.start, block.end, headings.setdefault(block.heading, len(headings)), block.depth)
        for block in extracted.blocks
    ]
    records = [(record.start, record.title) for record in extracted.records]
    fields = {field.name: getattr(extracted, field.name) for field in dataclasses.fields(extracted)}
    return fields | {"headings": list(headings), "blocks": blocks, "records": records}


def _limit_time(seconds: int) -> None:
    """Limit the CPU time for the next file; the system counts that of the whole process."""
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
    """Serve on the standard streams; the arguments are limits in seconds and bytes."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C is sent to all processes of a terminal; this one ends when its pipe closes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.close(devnull)
    _limit_memory(memory)
    gc.set_threshold(_GC_THRESHOLD)
    with open(0, "rb") as requests, contextlib.suppress(BrokenPipeError):
        serve(requests, answers, seconds=seconds, memory=memory)


if __name__ == "__main__":
    main()
