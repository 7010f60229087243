"""README.md has every hostile case and names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.paths import REPOSITORY

README = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| (?P<case>\d+) \| (?P<words>[^|]+) \| (?P<tests>[^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<name>test_\w+)")


def rows() -> list[tuple[int, list[str]]]:
    return [(int(row["case"]), row["tests"].split(", ")) for row in _ROW.finditer(README)]


@cache
def functions(file: str) -> frozenset[str]:
    tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_case_names_tests_that_exist() -> None:
    missing = []
    for case, tests in rows():
        for test in tests:
            found = _TEST.fullmatch(test)
            assert found, (case, test)
            if found["name"] not in functions(found["file"]):
                missing.append((case, test))
    assert missing == []


def test_every_case_is_in_the_table() -> None:
    """Each once and in order; a row that does not fit the pattern would be missed."""
    assert [case for case, _ in rows()] == list(range(1, 79))
