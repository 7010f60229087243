"""What is written down of the whole index, changed under a checksum that fits (cases 30 and 31)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.robustness.foreign import answers, checked
from tests.robustness.reseal import set_meta
from tests.robustness.samples import Sample
from tests.robustness.trials import Outcome

META: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "one document more": ("documents", lambda value: value + 1),
    "one file more": ("files", lambda value: value + 1),
    "one passage more": ("passages", lambda value: value + 1),
    "no passages": ("passages", lambda _: 0),
    "a negative number of passages": ("passages", lambda _: -5),
    "one vector more": ("vectors", lambda value: value + 1),
    "a huge dimension": ("dimension", lambda _: 2**40),
    "no dimension": ("dimension", lambda _: 0),
    "a negative dimension": ("dimension", lambda _: -64),
    "another dimension": ("dimension", lambda _: 32),
    "no segments": ("segments", lambda _: []),
    "a segment twice": ("segments", lambda value: [*value, value[0]]),
    "a segment with more vectors": ("segments", lambda value: [value[0] | {"held": value[0]["held"] + 1}, *value[1:]]),
    "a segment with a huge number": ("segments", lambda value: [value[0] | {"held": 2**62}, *value[1:]]),
    "a segment with more dead": ("segments", lambda value: [value[0] | {"dead": value[0]["dead"] + 1}, *value[1:]]),
    "a segment elsewhere": ("segments", lambda value: [value[0] | {"name": "../../secret.txt"}, *value[1:]]),
    "a segment at an absolute path": ("segments", lambda value: [value[0] | {"name": "/etc/passwd"}, *value[1:]]),
    "a segment with a NUL": ("segments", lambda value: [value[0] | {"name": "a\0b"}, *value[1:]]),
    "a segment without a name": ("segments", lambda value: [value[0] | {"name": ""}, *value[1:]]),
    "a segment that is the folder": ("segments", lambda value: [value[0] | {"name": "."}, *value[1:]]),
    "a segment with a number for a name": ("segments", lambda value: [value[0] | {"name": 7}, *value[1:]]),
    "a segment with a field too many": ("segments", lambda value: [value[0] | {"more": 7}, *value[1:]]),
    "segments that are a number": ("segments", lambda _: 7),
    "a passage count in words": ("passages", lambda _: "many"),
    "a document count that is a list": ("documents", lambda _: [1]),
    "a file count in words": ("files", lambda _: "all"),
    "a dimension in words": ("dimension", lambda _: "sixty-four"),
    "a fingerprint that is a number": ("fingerprint", lambda _: 7),
    "a model that is a list": ("model", lambda _: ["bag"]),
    "patterns that are a number": ("include", lambda _: 7),
    "patterns that are numbers": ("include", lambda _: [7, 8]),
    "one skipped file more": ("skipped", lambda value: value + 1),
    "skipped files in words": ("skipped", lambda _: "one"),
    "a negative number of skipped files": ("skipped", lambda _: -1),
    "a generation in words": ("generation", lambda _: "first"),
}


@pytest.mark.parametrize("name", META)
def test_foreign_values_of_the_whole_index_are_noticed(sample: Sample, name: str) -> None:
    key, change = META[name]
    set_meta(sample.folder / "index.db", key, change)
    outcome, detail, _ = answers(sample)
    harmless = name in ("a model that is a list", "patterns that are numbers", "patterns that are a number")
    assert outcome in (Outcome.RIGHT, Outcome.REFUSED), detail
    assert harmless or checked(sample) != ""
