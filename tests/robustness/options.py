"""The command-line options and reports that the long forms share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# How many violations are printed; the file has all of them.
_SHOWN = 10


def parser(description: str) -> argparse.ArgumentParser:
    """A parser that already has `--seed` and `--out`."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--seed", type=int, default=0, help="of the random choices")
    found.add_argument("--out", type=Path, help="write the result as JSON")
    return found


def write(found: object, out: Path | None) -> None:
    """Write a result, if a file was given."""
    if out is not None:
        out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def tell(found: Mapping[str, Any], out: Path | None, *, violations: str = "violations") -> int:
    """Print a result, with the number of violations and the first few, and write it.

    Returns:
        1 if there are violations, else 0.
    """
    width = max(map(len, found)) + 1
    for name, value in found.items():
        print(f"{name:<{width}}{len(value) if name == violations else value}", flush=True)
    for one in found[violations][:_SHOWN]:
        print(f"    {one}")
    write(found, out)
    return int(bool(found[violations]))
