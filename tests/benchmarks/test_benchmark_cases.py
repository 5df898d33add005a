"""Hostile cases in the forms of other graders, their tally, and the scratch they run in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.drivers import PEERS
from harness.hostile import Case, as_inputs, as_program, judge_in_scratch, load_cases, scratch_works, tally

TESTS = """from solution import f
import pytest

def test_small():
    assert f(2, -3) == [10**3, None]

def test_close():
    assert f("a", [0.5]) == pytest.approx(0.25)
"""


def case(name: str, tests: str = TESTS, *, passes: bool = False, either: bool = False) -> Case:
    return Case(name, "f", "def f(*a): pass", tests, passes, either)


def test_literal_calls_become_inputs_with_expected_values() -> None:
    request = as_inputs(case("c"))
    assert request is not None
    assert request["inputs"] == ["[2, -3]", "['a', [0.5]]"]
    assert request["expected"] == ["[1000, None]", "0.25"]
    assert request["atol"] == 1e-6


@pytest.mark.parametrize(
    "tests",
    [
        "def test_x():\n    assert abs(f(2) - 1.4) < 1e-6\n",
        "def test_x():\n    data = [3, 1]\n    assert f(data) is None\n",
        "def test_x():\n    assert g(1) == 2\n",
        "def test_x():\n    assert list(f(3)) == [0]\n",
        "def test_x():\n    assert f(x) == 1\n",
        "from solution import f\n",
    ],
)
def test_tests_that_say_more_have_no_inputs_form(tests: str) -> None:
    assert as_inputs(case("c", tests)) is None


def test_tally_keeps_the_kinds_of_mistakes_apart() -> None:
    wrong = tally(
        [
            (case("right fail"), False),
            (case("right pass", passes=True), True),
            (case("fooled"), True),
            (case("rejected", passes=True), False),
            (case("dead", passes=True), None),
            (case("open", either=True), None),
        ]
    )
    assert wrong.judged == 5
    assert (wrong.fooled, wrong.rejected, wrong.no_verdict) == (("fooled",), ("rejected",), ("dead",))
    assert wrong.count == 3


def test_unsafe_rows_are_never_loaded(tmp_path: Path) -> None:
    row = '{"id": "%s", "entry_point": "f", "solution": "", "tests": "", "expect": {"passed": true}, "tier": "%s"%s}'
    file = tmp_path / "cases.jsonl"
    lines = [row % ("a", "core", ""), row % ("b", "core", ', "unsafe": true'), row % ("c", "extended", "")]
    file.write_text("\n".join(lines))
    assert [loaded.id for loaded in load_cases(file, tier="core")] == ["a"]


GRADER = """
import os, sys
sys.path.insert(0, {peers!r})
from verdict_line import serve_grader

def judge(case):
    os.chdir(os.environ["TMPDIR"])
    open("inside", "w").close()
    try:
        open(os.path.join({outside!r}, "outside"), "w").close()
    except OSError:
        return len([name for name in os.listdir("/proc") if name.isdigit()]) < 6
    return False

serve_grader("1", judge, judge)
"""


def test_scratch_lets_nothing_out(tmp_path: Path) -> None:
    if not scratch_works():
        pytest.skip("this machine lets nobody make namespaces with unshare")
    grader = tmp_path / "grader.py"
    grader.write_text(GRADER.format(peers=str(PEERS), outside=str(tmp_path)))
    one = case("one")
    assert judge_in_scratch([sys.executable, str(grader)], one, as_program(one), timeout_s=30.0) is True
    assert not (tmp_path / "outside").exists()


def test_grader_that_dies_gives_no_verdict(tmp_path: Path) -> None:
    if not scratch_works():
        pytest.skip("this machine lets nobody make namespaces with unshare")
    grader = tmp_path / "grader.py"
    grader.write_text(GRADER.format(peers=str(PEERS), outside=str(tmp_path)).replace("os.chdir(", "os._exit(1), ("))
    one = case("one")
    assert judge_in_scratch([sys.executable, str(grader)], one, as_program(one), timeout_s=30.0) is None
