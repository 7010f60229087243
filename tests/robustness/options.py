"""The command line and the report that the long forms share."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.robustness.process import import_what_is_needed

# How many violations are printed; the file has all of them.
_SHOWN = 10


def main(run: Callable[..., Mapping[str, Any]]) -> int:
    """Call `run` with its parameters from the command line, print what it returns, and write it to `--out`.

    Returns:
        1 if there are violations, else 0.
    """
    parser = argparse.ArgumentParser(description=run.__doc__)
    for name, one in inspect.signature(run, eval_str=True).parameters.items():
        option = f"--{name.replace('_', '-')}"
        if one.annotation is bool:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=one.annotation, default=one.default, help=f"default: {one.default}")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    given = vars(parser.parse_args())
    out = given.pop("out")
    import_what_is_needed()
    found = run(**given)
    width = max(map(len, found)) + 1
    for name, value in found.items():
        print(f"{name:<{width}}{len(value) if name == 'violations' else value}", flush=True)
    for one in found["violations"][:_SHOWN]:
        print(f"    {one}")
    if out is not None:
        out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(bool(found["violations"]))
