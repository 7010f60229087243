"""The public names of `corpus`."""

from __future__ import annotations

import re

import pytest

import corpus
from tests.paths import REPOSITORY

USERS = "\n".join(
    path.read_text(encoding="utf-8") for package in ("index", "qa") for path in (REPOSITORY / package).rglob("*.py")
)


@pytest.mark.parametrize("name", dir(corpus))
def test_every_name_can_be_imported_and_is_used(name: str) -> None:
    assert getattr(corpus, name) is not None
    assert re.search(rf"from corpus import (?:[^\n(]*|\([^)]*)\b{name}\b", USERS)
