"""One reading process for all tests of readers, with lower limits than a build has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from corpus.loading.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seconds=10, memory=512 * 1024 * 1024) as one:
        yield one
