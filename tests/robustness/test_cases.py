"""README.md lists every hostile case, with tests that exist."""

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
    tests = [(case, test, _TEST.fullmatch(test)) for case, tests in rows() for test in tests]
    assert [test for *test, match in tests if not match or match["name"] not in functions(match["file"])] == []


def test_every_case_is_in_the_table() -> None:
    """Each case appears once and in order, in a row that matches the pattern."""
    assert [case for case, _ in rows()] == list(range(1, 79))
