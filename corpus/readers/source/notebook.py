"""Jupyter notebooks: each cell is a page, Markdown in blocks, code as it is, without outputs."""

from __future__ import annotations

import json
from typing import Any

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.plaintext.markdown import read_markdown
from corpus.text.encodings import decode
from corpus.types import BlockKind, Extracted


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
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        if cell.get("cell_type") == "markdown":
            _add_markdown(builder, source)
        else:
            builder.block(source, BlockKind.CODE if cell.get("cell_type") == "code" else BlockKind.PARAGRAPH)
    return builder.build("application/x-ipynb+json", note=note)


def _cells(notebook: Any) -> list[dict[str, Any]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    # Before version 4 they were parts of worksheets.
    if cells is None and isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):
        cells = [cell for sheet in notebook["worksheets"] for cell in sheet.get("cells", [])]
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("content does not match its name: not a notebook")
    return cells


def _add_markdown(builder: DocumentBuilder, source: str) -> None:
    _, blocks = read_markdown(source)
    for block in blocks:
        text = source[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            marks = len(text) - len(text.lstrip("#"))
            builder.heading(marks or len(block.heading), block.heading[-1] if block.heading else text.strip("# "))
        elif block.kind is BlockKind.ITEM:
            builder.block(text.lstrip("-*+ "), BlockKind.ITEM, block.depth)
        else:
            builder.block(text, block.kind)
