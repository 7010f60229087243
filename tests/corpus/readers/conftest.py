"""One process that reads for all tests of readers, within less than a build allows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from corpus.loading.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seconds=10, memory=512 * 1024 * 1024) as one:
        yield one
