"""The table of cases names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.paths import REPOSITORY

_ROW = re.compile(r"^\| (?P<case>\d+) \| (?P<words>[^|]+) \| (?P<tests>[^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<name>test_\w+)")


def rows() -> list[tuple[int, list[str]]]:
    table = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    return [(int(row["case"]), row["tests"].split(", ")) for row in _ROW.finditer(table)]


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


def test_the_cases_stand_in_order_and_are_many() -> None:
    """Each once; a row that does not fit the pattern would be missed."""
    cases = [case for case, _ in rows()]
    table = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    assert cases == sorted(set(cases))
    assert len(cases) == sum(re.match(r"\| *\d", line) is not None for line in table.splitlines())
    assert {*range(1, 65), *range(69, 79)} <= set(cases)
