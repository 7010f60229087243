"""Jupyter notebooks: cells as pages, Markdown taken apart, code as it is, outputs left out."""

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
        book = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise Unreadable("damaged: no JSON") from error
    cells = _cells(book)
    builder = DocumentBuilder()
    for cell in cells:
        builder.page()
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        if cell.get("cell_type") == "markdown":
            _markdown(builder, source)
        elif cell.get("cell_type") == "code":
            builder.block(source, BlockKind.CODE)
        else:
            builder.block(source)
    return builder.build("application/x-ipynb+json", note=note)


def _cells(book: Any) -> list[dict[str, Any]]:
    cells = book.get("cells") if isinstance(book, dict) else None
    if cells is None and isinstance(book, dict) and isinstance(book.get("worksheets"), list):
        cells = [cell for sheet in book["worksheets"] for cell in sheet.get("cells", [])]
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("not what its name says: no notebook")
    return cells


def _markdown(builder: DocumentBuilder, source: str) -> None:
    _, blocks = read_markdown(source)
    for block in blocks:
        text = source[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            mark = text[: len(text) - len(text.lstrip("#"))]
            builder.heading(len(mark) or len(block.heading), block.heading[-1] if block.heading else text.strip("# "))
        elif block.kind is BlockKind.ITEM:
            builder.block(text.lstrip("-*+ "), BlockKind.ITEM, block.depth)
        else:
            builder.block(text, block.kind)
