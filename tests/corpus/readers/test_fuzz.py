"""Damaged files of every format, the short form of `python -m tests.corpus.readers.fuzz`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from corpus.loading.sandbox import Limits, Sandbox
from tests.corpus.readers import fuzz
from tests.corpus.readers.samples.files import SAMPLES, Sample


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=fuzz.SECONDS)) as one:
        yield one


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_no_damage_hangs_or_crashes_a_reader(sample: Sample, sandbox: Sandbox) -> None:
    tally = fuzz.run(sample, 20, seed=1, sandbox=sandbox)
    assert [reason for reason in tally.reasons if fuzz.is_bad(reason)] == []
    assert tally.read + sum(tally.reasons.values()) == 20
