"""Source code: functions and classes as headings, the text exactly as in the file.

Python is parsed by `ast`, and other languages by tree-sitter with the extra `code`, or else divided at blank lines.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from corpus.formats import format_of
from corpus.readers.assemble.gaps import fill_gaps
from corpus.readers.source.grammars import Definition, find_definitions
from corpus.text.encodings import decode_lines
from corpus.text.lines import LineMap
from corpus.types import Block, BlockKind, Extracted

# Lines up to a blank one; backtracking into long runs of blanks would take quadratic time.
_LINES = re.compile(r"^(?:[^\S\n]*+\S[^\n]*(?:\n|\Z))+", re.MULTILINE)


def read(path: str, data: bytes) -> Extracted:
    """Read a source file; see `corpus.readers`."""
    text, note = decode_lines(data)
    file_format = format_of(path)
    media_type = file_format.media_type if file_format is not None else "text/plain"
    if media_type == "text/x-python":
        definitions = list(_python_definitions(text))
    else:
        # A header is C or C++; the grammar of C++ reads both.
        definitions = find_definitions(text, "text/x-c++" if path.lower().endswith(".h") else media_type)
    return Extracted(text, PurePosixPath(path).name, _blocks(text, definitions), (), media_type, note)


def _blocks(text: str, definitions: Sequence[Definition]) -> tuple[Block, ...]:
    """Cut the text where definitions begin and end; the names of enclosing definitions are the heading of a block."""
    edges = sorted({0, len(text), *(edge for start, end, _ in definitions for edge in (start, end))})
    upcoming = sorted(definitions, key=lambda item: (item[0], -item[1]))
    blocks: list[Block] = []
    enclosing: list[Definition] = []
    next_index = 0
    for start, end in itertools.pairwise(edges):
        while next_index < len(upcoming) and upcoming[next_index][0] <= start:
            enclosing.append(upcoming[next_index])
            next_index += 1
        while enclosing and enclosing[-1][1] <= start:
            enclosing.pop()
        heading = enclosing[-1][2] if enclosing else ()
        blocks.extend(Block(BlockKind.CODE, *piece.span(), heading) for piece in _LINES.finditer(text, start, end))
    return fill_gaps(text, blocks)


def _python_definitions(text: str) -> Iterator[Definition]:
    # The parser ends lines also at a form feed or a lone carriage return, so its line numbers would differ from ours.
    if "\x0c" in text or "\r" in text.replace("\r\n", ""):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two if it is nested too deeply
        return
    lines = LineMap(text)
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while pending:
        node, names = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                last = min(child.end_lineno or child.lineno, len(lines))
                child_names = (*names, child.name)
                yield lines.span(first)[0], lines.span(last)[1], child_names
                pending.append((child, child_names))
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                pending.append((child, names))
