"""Files that may not grow: what a full disk is to a process, without one."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def growing_to(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes; a write takes what fits, the next fails with EFBIG."""
    if sys.platform == "win32":
        raise NotImplementedError
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
