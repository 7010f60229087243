"""Imports the protocol's SDK in half the usual time, as hosts wait for a server's first answer.

The SDK's packages import more than a server on stdio needs, above all clients, so they are registered without running
their `__init__`. And pydantic builds each of the SDK's hundreds of message types only when it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_PACKAGES = ("mcp", "mcp.server", "mcp.client")


@contextmanager
def quick_imports() -> Iterator[None]:
    """Within the block, import the SDK's modules without running its packages; restore everything afterwards."""
    from pydantic import BaseModel, ConfigDict  # noqa: PLC0415 - the SDK brings it

    registered = [name for name in _PACKAGES if name not in sys.modules and _register(name)]
    settings = BaseModel.model_config
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = settings
        for name in registered:
            del sys.modules[name]


def _register(name: str) -> bool:
    """Register a package in `sys.modules` without running it; return whether that was possible."""
    parent, _, _ = name.rpartition(".")
    if parent and parent not in sys.modules:
        return False
    spec = PathFinder.find_spec(name, sys.modules[parent].__path__ if parent else None)
    if spec is None or spec.submodule_search_locations is None:
        return False
    sys.modules[name] = module_from_spec(spec)
    return True
