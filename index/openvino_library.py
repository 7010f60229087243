"""The only place that imports OpenVINO: without its telemetry, which would call home."""

# ruff: noqa: PLC0415 - OpenVINO is imported where it is used, never with this package

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

_TELEMETRY = "openvino_telemetry"


@contextlib.contextmanager
def openvino() -> Iterator[Any]:
    """Lend the library; inside, its telemetry package cannot be imported, for which it has a stub.

    Raises:
        ImportError: It is not installed, or not for this machine.
    """
    absent = _TELEMETRY not in sys.modules
    if absent:
        sys.modules[_TELEMETRY] = None  # type: ignore[assignment]  # makes it unimportable
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import openvino as library

            yield library
    finally:
        if absent:
            del sys.modules[_TELEMETRY]
