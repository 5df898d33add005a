"""Which checks a test file, labelled cases and HumanEval tests define, and what is refused."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

from pathlib import Path

import pytest

from afterword.errors import BadTests, InputError, NoTests
from afterword.evaluators.function_tests import Suite

FILE = Path("visible_tests.py")


def ids(text: str) -> tuple[str, ...]:
    return Suite.from_source(text, entry_point="f", file=FILE).check_ids


def test_functions_are_checks_in_file_order() -> None:
    text = "from solution import f\ndef test_b(): assert f()\ndef helper(): assert f()\ndef test_a(): assert f()\n"
    assert ids(text) == ("test_b", "test_a")


def test_methods_of_test_classes_and_their_bases_are_checks() -> None:
    text = """
class Base:
    def test_base(self): assert True
class TestIt(Base):
    def test_own(self): assert True
class Other:
    def test_not(self): assert True
"""
    assert ids(text) == ("TestIt::test_base", "TestIt::test_own")


def test_unittest_methods_run_in_the_order_of_their_names() -> None:
    text = """
import unittest
class It(unittest.TestCase):
    def test_b(self): pass
    def test_a(self): pass
"""
    assert ids(text) == ("It::test_a", "It::test_b")


def test_asserts_at_module_level_are_checks_with_their_line() -> None:
    text = "from solution import f\nassert f(1)\nx = 2\nassert f(x); assert f(3)\nfor i in range(3):\n    assert f(i)\n"
    assert ids(text) == ("module:L2", "module:L4", "module:L4.2", "module:L5")


def test_calls_of_asserting_helpers_at_module_level_are_checks() -> None:
    text = """
from solution import f
def same(a, b):
    assert a == b
def also(a):
    same(a, 1)
for x in [1, 2]:
    same(f(x), x)
also(f(1))
print(f(1))
"""
    assert ids(text) == ("module:L7", "module:L9")


def test_the_main_block_is_not_run() -> None:
    assert ids('def test_a(): assert 1\nif __name__ == "__main__":\n    assert False\n') == ("test_a",)


def test_a_test_defined_twice_counts_once() -> None:
    assert ids("def test_a(): assert 0\ndef test_a(): assert 1\n") == ("test_a",)


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "from solution import f\n", "def helper():\n    assert 1\n"])
def test_no_check_is_an_error(text: str) -> None:
    with pytest.raises(NoTests, match="define no check") as info:
        ids(text)
    assert info.value.file == FILE
    assert info.value.reason == "no_tests"


def test_a_syntax_error_names_the_line() -> None:
    with pytest.raises(BadTests, match=r"visible_tests.py:2: the tests do not compile") as info:
        ids("x = 1\ndef test_a(:\n")
    assert (info.value.line, info.value.reason) == (2, "bad_tests")


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("def test_a(capsys): pass", "the fixture 'capsys'"),
        ("def test_a(monkeypatch): pass", "the fixture 'monkeypatch'"),
        ("class TestA:\n    def test_a(self, tmp_path): pass", "the fixture 'tmp_path'"),
        ("import pytest\n@pytest.mark.skip\ndef test_a(): pass", "pytest.mark.skip"),
        ("import pytest\n@pytest.mark.xfail\ndef test_a(): pass", "pytest.mark.xfail"),
        ("import pytest\ndef test_a(): pytest.skip('x')", "pytest.skip"),
        ("from pytest import importorskip\ndef test_a(): pass", "pytest.importorskip"),
        ("import pytest\n@pytest.fixture(params=[1])\ndef x(request): pass\ndef test_a(x): pass", "a fixture with params"),
        ("import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('')\n    def test_a(self): pass", "unittest.skip"),
        ("import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.skipTest('')", "self.skipTest"),
        ("from unittest.mock import patch\ndef test_a(): pass", "unittest.mock.patch"),
        ("from hypothesis import given\ndef test_a(): pass", "the module hypothesis"),
        ("from contextlib import redirect_stdout\ndef test_a():\n    with redirect_stdout(None): pass", "redirect_stdout"),
        ("import sys\ndef test_a():\n    sys.stdin = 1", "an assignment to sys.stdin"),
        ("async def test_a(): pass", "the asynchronous test test_a"),
        ("from . import x\ndef test_a(): pass", "a relative import"),
        ("def pytest_runtest_setup(): pass\ndef test_a(): pass", "the hook pytest_runtest_setup"),
        ("class TestA:\n    def __init__(self): pass\n    def test_a(self): pass", "a test class with __init__"),
        ("pytestmark = []\ndef test_a(): pass", "pytestmark"),
        ("import pytest\n@pytest.mark.parametrize('x', [c for c in 'ab'])\ndef test_a(x): pass", "the values"),
    ],
)  # fmt: skip
def test_an_unsupported_feature_is_named_with_its_line(text: str, feature: str) -> None:
    with pytest.raises(BadTests, match=r"visible_tests\.py:\d+: the tests use .* not supported") as info:
        ids(text)
    assert feature in info.value.message


def test_humaneval_has_one_check_for_each_top_level_assert() -> None:
    text = """
METADATA = {}
def check(candidate):
    assert candidate(1) == 2
    x = 3
    for i in range(3):
        assert candidate(i) == i + 1
    assert candidate(x) == 4, "text"
"""
    assert Suite.from_humaneval(text, "f").check_ids == ("check:L4", "check:L6", "check:L8")


def test_humaneval_without_check_is_an_error() -> None:
    with pytest.raises(NoTests, match="check\\(candidate\\)"):
        Suite.from_humaneval("def other(): pass", "f")


def test_calls_on_literals_become_rows_and_need_no_test_code() -> None:
    text = """
from solution import f as g
def test_a():
    "doc"
    assert g(1, [2.5, -3], key={"a": (1, None)}) == {1, 2}
    assert not g(2)
assert 2 * 10**3 == g("x")
assert abs(g(2) - 2.0 / 3.0) < 1e-6, "close"
assert g(3) is None
assert True, "reached"
"""
    program = Suite.from_source(text, entry_point="f").program
    assert program.code is None
    assert [(row.check_id, row.name, row.how, row.expected) for row in program.rows] == [
        ("module:L7", "f", "equal", 2000),
        ("module:L8", "f", "close", 2.0 / 3.0),
        ("module:L9", "f", "is", None),
        ("module:L10", "", "nothing", None),
        ("test_a", "f", "equal", {1, 2}),
        ("test_a", "f", "false", None),
    ]
    assert program.rows[4].args == (1, [2.5, -3])
    assert program.rows[4].kwargs == {"key": {"a": (1, None)}}


@pytest.mark.parametrize(
    "text",
    [
        "from solution import f\nx = 3\nassert f(x) == 1",
        "from solution import f\nassert f(1) == f(2)",
        "from solution import f\nassert sorted(f(1)) == [1]",
        "from solution import f\nassert f(1) < 2",
        "def f(x): return x\nassert f(1) == 1",
        "from solution import f\nassert f(*[1]) == 1",
        "from solution import f\ndef test_a():\n    assert f(1) == 1\n    f(2)",
        "from solution import f\nassert f(10**10**10) == 1",
        "from solution import f\nassert f({[]}) == 1",
    ],
)
def test_anything_else_stays_code(text: str) -> None:
    assert Suite.from_source(text, entry_point="f").program.rows == ()


def test_names_of_the_program_that_the_tests_need() -> None:
    text = "from solution import f, Node\ndef test_a():\n    x = g(Node(1))\n    assert f(x) == sorted(y)\n"
    program = Suite.from_source(text, entry_point="f").program
    assert program.needs == ("f", "Node")
    assert program.offered == ("g", "y")


def test_an_entry_point_with_the_name_of_a_built_in_is_the_programs() -> None:
    suite = Suite.from_source("for x in [[1]]:\n    assert sum(x) == 1\n", entry_point="sum")
    assert suite.program.offered == ("sum",)


def test_cases_are_numbered_from_1() -> None:
    rows: list[dict[str, object]] = [
        {"args": [1], "expected": 2},
        {"kwargs": {"x": 1}, "raises": "ValueError"},
        {"expected": 1.5, "tolerance": 0.1},
    ]
    assert Suite.from_cases(rows, entry_point="f").check_ids == ("case:1", "case:2", "case:3")


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"args": 1, "expected": 1}, "args must be a list, found int"),
        ({"kwargs": [], "expected": 1}, "kwargs must be an object"),
        ({"args": []}, "needs either expected or raises"),
        ({"args": [], "expected": 1, "raises": "E"}, "needs either expected or raises"),
        ({"args": [], "raises": 3}, "raises must be the name"),
        ({"args": [], "expected": 1, "tolerance": -1}, "must not be negative"),
        ({"args": [], "expected": 1, "tolerance": "x"}, "must be a number"),
        ({"args": [], "expectd": 1}, "unknown key 'expectd'"),
    ],
)
def test_a_case_out_of_form_is_named_with_its_line(row: dict[str, object], what: str) -> None:
    good: dict[str, object] = {"args": [], "expected": 1}
    with pytest.raises(InputError, match=r"c\.jsonl:2: case 2: ") as info:
        Suite.from_cases([good, row], entry_point="f", file=Path("c.jsonl"))
    assert what in info.value.message
    assert info.value.line == 2


def test_no_cases_is_an_error() -> None:
    with pytest.raises(NoTests):
        Suite.from_cases([], entry_point="f")


def test_select_keeps_the_order_and_refuses_unknown_checks() -> None:
    suite = Suite.from_cases([{"expected": n} for n in range(4)], entry_point="f")
    assert suite.select(["case:3", "case:1"]).check_ids == ("case:1", "case:3")
    with pytest.raises(InputError, match="no check 'case:9'"):
        suite.select(["case:9"])


def test_the_digest_tells_suites_apart() -> None:
    one = Suite.from_cases([{"expected": 1}, {"expected": 2}], entry_point="f")
    same = Suite.from_cases([{"expected": 1}, {"expected": 2}], entry_point="f")
    assert one.digest == same.digest
    assert one.digest != one.select(["case:1"]).digest
    assert one.digest != Suite.from_cases([{"expected": 1}, {"expected": 3}], entry_point="f").digest


def test_long_data_is_not_walked_but_is_there() -> None:
    text = f"from solution import f\nxs = {list(range(5000))}\ndef test_a():\n    assert f(xs) == len(xs)\n"
    suite = Suite.from_source(text, entry_point="f")
    assert suite.check_ids == ("test_a",)
    assert suite.program.offered == ()
