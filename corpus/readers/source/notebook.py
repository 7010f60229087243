"""Jupyter notebooks: each cell is a page, with Markdown as blocks, or verbatim code and its output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.plaintext.markdown import read_markdown
from corpus.text.encodings import decode
from corpus.types import BlockKind, Extracted

# Limits on a cell's output; more is a log or data.
_MAX_LINES, _MAX_CHARACTERS = 40, 4000
_STYLES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read(path: str, data: bytes) -> Extracted:
    """Read a notebook; see `corpus.readers`."""
    text, note = decode(data)
    try:
        notebook = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise Unreadable("damaged: not valid JSON") from error
    builder = DocumentBuilder()
    for cell in _cells(notebook):
        builder.page()
        source = _join(cell.get("source", ""))
        if cell.get("cell_type") == "markdown":
            _add_markdown(builder, source)
        else:
            builder.block(source, BlockKind.CODE if cell.get("cell_type") == "code" else BlockKind.PARAGRAPH)
            if output := _truncate("".join(_outputs(cell))):
                builder.block(f"Output:\n{output}", BlockKind.CODE)
    return builder.build("application/x-ipynb+json", note=note)


def _cells(notebook: Any) -> list[dict[str, Any]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("content does not match its name: not a notebook")
    return cells


def _join(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the printed text and the result of a cell; images and standard error are left out."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict) or output.get("name") == "stderr":
            continue
        # Printed text is directly in the output, without "data".
        data: dict[str, Any] = nested if isinstance(nested := output.get("data"), dict) else output
        if any(key.startswith("image") for key in data):
            continue
        text = _join(data.get("text/plain", data.get("text", "")))
        error = ": ".join(str(output[key]) for key in ("ename", "evalue") if output.get(key))
        yield "".join(f"{part.rstrip()}\n" for part in (text, error) if part.strip())


def _truncate(text: str) -> str:
    text = _STYLES.sub("", text[: 2 * _MAX_CHARACTERS]).rstrip()
    head = "\n".join(text.split("\n")[:_MAX_LINES])[:_MAX_CHARACTERS]
    return head if head == text else f"{head}\n…"


def _add_markdown(builder: DocumentBuilder, source: str) -> None:
    _, blocks = read_markdown(source)
    for block in blocks:
        text = source[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            marks = len(text) - len(text.lstrip("#"))
            builder.heading(marks or len(block.heading), block.heading[-1] if block.heading else text.strip("# "))
        elif block.kind is BlockKind.ITEM:
            builder.block(re.sub(r"^[-*+]\s+", "", text), BlockKind.ITEM, block.depth)
        else:
            builder.block(text, block.kind)
