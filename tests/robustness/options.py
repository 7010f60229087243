"""What the long forms have in common: how they are told what to do, and how they report."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# So many violations are printed; all of them are in the file.
_SHOWN = 10


def parser(description: str) -> argparse.ArgumentParser:
    """Knows `--seed` and `--out` already."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--seed", type=int, default=0, help="of what is left to chance")
    found.add_argument("--out", type=Path, help="write the result as JSON")
    return found


def write(found: object, out: Path | None) -> None:
    """Write a result, if a file was named."""
    if out is not None:
        out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def tell(found: Mapping[str, Any], out: Path | None, *, violations: str = "violations") -> int:
    """Print a result, a line each, and write it; violations are counted, and the first of them shown.

    Returns:
        1 where there are violations, else 0.
    """
    width = max(map(len, found)) + 1
    for name, value in found.items():
        print(f"{name:<{width}}{len(value) if name == violations else value}", flush=True)
    for one in found[violations][:_SHOWN]:
        print(f"    {one}")
    write(found, out)
    return int(bool(found[violations]))
