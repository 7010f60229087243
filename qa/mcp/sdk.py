"""The SDK of the protocol, imported in half the time that it takes by itself.

A host waits for a server's first answer. What the SDK's packages import on top of what a server on stdio needs, above
all clients, is left out by entering the packages without running them; and of the hundreds of messages that the SDK
knows, each is made ready by pydantic when it is first sent or received.
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
    """Import modules of the SDK without what its packages import; afterwards all is as ever."""
    from pydantic import BaseModel, ConfigDict  # noqa: PLC0415 - the SDK brings it

    entered = [name for name in _PACKAGES if name not in sys.modules and _enter(name)]
    settings = BaseModel.model_config
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = settings
        for name in entered:
            del sys.modules[name]


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
