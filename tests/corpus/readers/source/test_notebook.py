"""Notebooks are read with the output of their cells."""

from __future__ import annotations

import json
from typing import Any

from corpus.readers.source.notebook import read


def text_of(*outputs: Any) -> str:
    cell = {"cell_type": "code", "source": "f()", "outputs": list(outputs)}
    return read("a.ipynb", json.dumps({"cells": [cell]}).encode()).text


def test_the_text_a_cell_printed_is_marked_as_output() -> None:
    """It comes from streams, results and errors; images, warnings and colours are left out."""
    text = text_of(
        {"output_type": "stream", "name": "stdout", "text": ["1 gauge\n", "2 weirs\n"]},
        {"output_type": "stream", "name": "stderr", "text": "DeprecationWarning"},
        {"output_type": "display_data", "data": {"image/png": "aGE=", "text/plain": "<Figure size 640x480>"}},
        {"output_type": "execute_result", "data": {"text/plain": ["\x1b[31m42\x1b[0m"], "text/html": "<b>42</b>"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "too deep", "traceback": ["…"]},
    )
    assert text == "f()\n\nOutput:\n1 gauge\n2 weirs\n42\nValueError: too deep"


def test_list_items_lose_only_their_bullets() -> None:
    cell = {"cell_type": "markdown", "source": "# Levels\n\n- -5 dB\n* **Bold** words\n"}
    text = read("a.ipynb", json.dumps({"cells": [cell]}).encode()).text
    assert text == "Levels\n\n- -5 dB\n- **Bold** words"


def test_a_long_output_is_shortened() -> None:
    lines = text_of({"output_type": "stream", "text": "rain\n" * 1000}).split("\n")
    assert (len(lines), lines[-2:]) == (44, ["rain", "…"])
    assert len(text_of({"output_type": "stream", "text": "x" * 100_000})) < 4100
    assert text_of(None, {"data": 3}, {"text": None}) == "f()\n\nOutput:\nNone"
