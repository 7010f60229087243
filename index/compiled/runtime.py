"""The only module that imports OpenVINO: without its telemetry, which would call home."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

_TELEMETRY = "openvino_telemetry"
# What converts models; it takes as long to import as all the rest, and only `convert_model` needs it.
_CONVERTER = "openvino.tools.ovc"
# Where Linux tells what a processor can do, the first one within this many bytes.
_PROCESSORS = Path("/proc/cpuinfo")
_ONE_PROCESSOR = 16384


class CompileError(Exception):
    """The model cannot be compiled here, or its copy disagrees with it; torch serves instead."""


@contextlib.contextmanager
def openvino() -> Iterator[Any]:
    """Lend the library, or raise ImportError; inside, its telemetry cannot be imported, for which it has a stub."""
    with _unimportable(_TELEMETRY), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _unimportable(_CONVERTER):
            import openvino as library

        yield library


@cache
def processor_flags() -> frozenset[str]:
    """What Linux tells of the processor's instructions; nothing elsewhere."""
    try:
        with _PROCESSORS.open("rb") as file:
            return frozenset(file.read(_ONE_PROCESSOR).decode("ascii", "replace").split())
    except OSError:
        return frozenset()


def has_amx() -> bool:
    """Whether the processor multiplies matrices in bf16 (AMX); false where the system does not tell.

    OpenVINO calls bf16 a capability of others too, on which it takes nearly twice as long as float32.
    """
    return "amx_bf16" in processor_flags()


def is_int8_faster() -> bool:
    """Whether eight bits are what the processor multiplies fastest: it has VNNI, but no AMX."""
    return not has_amx() and not processor_flags().isdisjoint(("avx512_vnni", "avx_vnni"))


def convert_model(module: Any, example: Any) -> Any:
    """OpenVINO's model of a torch module; inside `openvino()`."""
    from openvino.tools.ovc import convert_model as convert

    return convert(module, example_input=example)


@contextlib.contextmanager
def _unimportable(name: str) -> Iterator[None]:
    absent = name not in sys.modules
    if absent:
        sys.modules[name] = None  # type: ignore[assignment]  # makes it unimportable
    try:
        yield
    finally:
        if absent:
            del sys.modules[name]
