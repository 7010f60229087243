"""The SDK of the protocol, imported in half the time that it takes by itself.

A host waits for a server's first answer. What the SDK's packages import on top of what a server on stdio needs, above
all clients, is left out by entering the packages without running them.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_PACKAGES = ("mcp", "mcp.server", "mcp.client")


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import modules of the SDK without what its packages import; afterwards all is as ever."""
    entered = [name for name in _PACKAGES if name not in sys.modules and _enter(name)]
    was_enabled = gc.isenabled()
    gc.disable()  # thousands of classes are made, and none is garbage
    try:
        yield
    finally:
        for name in entered:
            del sys.modules[name]
        if was_enabled:
            gc.enable()


def _enter(name: str) -> bool:
    """Put a package where its modules are found, without running it."""
    above, _, _ = name.rpartition(".")
    if above and above not in sys.modules:
        return False
    spec = PathFinder.find_spec(name, sys.modules[above].__path__ if above else None)
    if spec is None or spec.submodule_search_locations is None:
        return False
    sys.modules[name] = module_from_spec(spec)
    return True
