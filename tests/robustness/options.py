"""The command line and the report of the long forms."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.robustness.process import import_lazy_modules

# How many violations are printed; the file written by `--out` has all of them.
_SHOWN = 10


def main(run: Callable[..., Mapping[str, Any]]) -> int:
    """Call `run` with its parameters from the command line, print what it returns, and write it to `--out`.

    Returns:
        1 if there are violations, else 0.
    """
    parser = argparse.ArgumentParser(description=run.__doc__)
    for name, parameter in inspect.signature(run, eval_str=True).parameters.items():
        option, default = f"--{name.replace('_', '-')}", parameter.default
        if parameter.annotation is bool:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=parameter.annotation, default=default, help=f"default: {default}")
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    arguments = vars(parser.parse_args())
    out = arguments.pop("out")
    import_lazy_modules()
    result = run(**arguments)
    width = max(map(len, result)) + 1
    for name, value in result.items():
        print(f"{name:<{width}}{len(value) if name == 'violations' else value}", flush=True)
    for violation in result["violations"][:_SHOWN]:
        print(f"    {violation}")
    if out is not None:
        out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(bool(result["violations"]))
