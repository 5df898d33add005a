"""Ids of parametrized tests, compared with those that pytest itself gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from afterword.evaluators.function_tests import Suite

TESTS = """
import pytest

def helper(): pass

CASES = [(1, "one"), (2, "two")]

@pytest.mark.parametrize("n, word", CASES)
def test_named(n, word): assert True

@pytest.mark.parametrize("x", [1, 1.5, True, None, "text", "", "a b", "é", "tab\\t", b"\\xff", 1j, -3, 10**20])
def test_values(x): assert True

@pytest.mark.parametrize("x", [[1], {"a": 1}, (1,), lambda: 0, ValueError, len, helper])
def test_others(x): assert True

@pytest.mark.parametrize("x", ["same", "same", "1", "1", 1, "same0"])
def test_repeated(x): assert True

@pytest.mark.parametrize(("a", "b"), [[1, 2], (3, "x" * 200)])
def test_two(a, b): assert True

@pytest.mark.parametrize("x", [0, 1])
@pytest.mark.parametrize("y", ["a", "b"])
def test_stacked(x, y): assert True

@pytest.mark.parametrize("x", [1, 2, 3], ids=["first", None, "third"])
def test_ids(x): assert True

@pytest.mark.parametrize("a,b", [pytest.param(1, 2, id="given"), pytest.param(3, 4), (5, 6)])
def test_param(a, b): assert True

@pytest.mark.parametrize("x", range(3))
def test_range(x): assert True

@pytest.mark.parametrize("c", [0.1])
class TestIn:
    @pytest.mark.parametrize("x", ["p", "q"])
    def test_method(self, c, x): assert True
    def test_plain(self, c): assert True
"""


def test_ids_are_those_of_pytest(tmp_path: Path) -> None:
    file = tmp_path / "test_ids.py"
    file.write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", str(file)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60)
    theirs = [line.split("::", 1)[1] for line in listing.stdout.splitlines() if "::" in line]
    assert len(theirs) > 30
    assert list(Suite.from_source(TESTS, entry_point="f").check_ids) == theirs
