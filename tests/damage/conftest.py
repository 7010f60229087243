"""A small index that tests may write into."""

from __future__ import annotations

from functools import partial

import pytest

from tests.damage.nursery import value_of
from tests.damage.samples import Sample, make


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return value_of(partial(make, "plain", tmp_path_factory.mktemp("foreign") / "corpus", documents=12))


@pytest.fixture
def sample(made: Sample) -> Sample:
    """As it was made, whatever the test before did to it."""
    made.lay_out()
    return made
