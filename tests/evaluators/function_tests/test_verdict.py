"""Feedback from reports: reasons, messages, cuts, and that a pass needs evidence for every check."""

from __future__ import annotations

from dataclasses import replace

import pytest

from afterword.core.records import Limits, RunResult
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.evaluators.function_tests.judges import Report, read_report
from afterword.evaluators.function_tests.verdict import feedback_of, trust_of
from tests.evaluators.judged import judge

IDS = ("test_a", "test_b")
BOTH = {"test_a": ("passed", ""), "test_b": ("passed", "")}
CLEAN = Report("done", BOTH, "", "", "", "")
ENDED = RunResult(0, "exited", "", "", 0.1, "namespaces")


def test_evidence_for_every_check_passes() -> None:
    feedback = feedback_of(IDS, CLEAN, ENDED, Limits())
    assert (feedback.passed, feedback.score, feedback.reason, feedback.message) == (True, 1.0, "ok", "")


def test_evidence_for_every_check_does_not_make_up_for_too_much_output() -> None:
    feedback = feedback_of(IDS, CLEAN, replace(ENDED, reason="output_limit"), Limits())
    assert (feedback.passed, feedback.reason) == (False, "output_limit")


@pytest.mark.parametrize("reason", ["", "lost", "died", "timeout", "tampered"])
def test_a_check_without_evidence_never_passes(reason: str) -> None:
    report = replace(CLEAN, results={"test_a": ("passed", "")}, reason=reason)
    feedback = feedback_of(IDS, report, ENDED, Limits())
    assert not feedback.passed
    assert feedback.reason != "ok"
    assert feedback.score == 0.5
    assert feedback.failed_ids == ("test_b",)


@pytest.mark.parametrize("ending", ["timeout", "memory", "output_limit"])
def test_a_lost_connection_is_explained_by_the_jails_end(ending: str) -> None:
    report = replace(CLEAN, results={}, reason="lost", current="test_a")
    result = RunResult(None, ending, "", "", 0.1, "namespaces")  # type: ignore[arg-type]
    feedback = feedback_of(IDS, report, result, Limits())
    assert feedback.reason == ending
    assert feedback.checks[0].message == f"not finished ({ending})"
    assert feedback.checks[1].message == "not reached"


def test_a_failure_after_a_pass_of_the_same_check_counts() -> None:
    lines = [
        b'{"status": "done"}',
        b'{"check": "test_a", "result": "passed", "message": ""}',
        b'{"check": "test_a", "result": "failed", "message": "no"}',
        b'{"check": "test_a", "result": "passed", "message": ""}',
        b'{"check": "test_b", "resu',
    ]
    report = read_report(b"\n".join(lines))
    assert report.results == {"test_a": ("failed", "no")}
    assert report.reason == "died"


def test_long_messages_are_cut_with_a_mark() -> None:
    report = replace(CLEAN, results={"test_a": ("failed", "x" * 5_000), "test_b": ("failed", "y" * 5_000)})
    feedback = feedback_of(IDS, report, replace(ENDED, stdout="z" * 5_000), Limits())
    assert "[… 3,800 characters cut …]" in feedback.message
    assert "[… 4,500 characters cut …]" in feedback.message
    assert len(feedback.message) < 4_100


@pytest.mark.parametrize(("level", "trust"), [("namespaces", "isolated"), ("process", "shared_process")])
def test_trust_follows_the_level(level: str, trust: str) -> None:
    assert trust_of(level) == trust


@pytest.mark.anyio
async def test_a_message_shows_the_assertion_the_arguments_and_both_values(judges: JudgePool) -> None:
    tests = """
        from solution import f

        def test_f():
            xs = [3, 1]
            got = f(xs, key=2)
            assert got == [1, 3], "sorted"
    """
    source = "def f(xs, key):\n    xs.append(key)\n    return [1, 2, 3]"
    feedback = await judge(judges, source, tests)
    assert feedback.message.splitlines() == [
        "0 of 1 checks passed; failed",
        "test_f: assert got == [1, 3]",
        "sorted",
        "  f([3, 1], key=2) returned [1, 2, 3]",
        "  right: [1, 3]",
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("f(Stack([1]))", "f([1])"),
        ("f([Stack([1])])", "f([[1]])"),
        ("f(iter([1]))", "f(…)"),
        ("f(Stack)", "f(<class 'solution.Stack'>)"),
        ("f(g(), key=len)", "f(<generator object Remotes._generator"),
        ("f(Own())", "f(an own)"),
        ("f(lambda x: x)", "f(<lambda>)"),
    ],
)
async def test_any_argument_can_be_shown(judges: JudgePool, call: str, shown: str) -> None:
    source = "class Stack(list): pass\ndef f(x, key=None): return 7\ndef g(): yield 1"
    tests = f"""
        from solution import Stack, f, g

        class Own:
            def __repr__(self): return "an own"

        def test_f():
            assert {call} == 8
    """
    feedback = await judge(judges, source, tests)
    assert feedback.reason == "failed", feedback.message
    assert f"  {shown}" in feedback.message


@pytest.mark.anyio
async def test_a_program_that_breaks_the_set_up_fails_all_checks(judges: JudgePool) -> None:
    tests = """
        from solution import f

        def setup_module():
            f()

        def test_f():
            assert True
    """
    feedback = await judge(judges, "def f(): raise ValueError('no')", tests)
    assert (feedback.reason, feedback.score) == ("error", 0.0)
    assert "ValueError: no" in feedback.message


@pytest.mark.anyio
async def test_an_error_shows_the_call_and_the_last_lines_of_the_program(judges: JudgePool) -> None:
    source = "def g(x):\n    return 1 / x\n\ndef f(x):\n    return g(x - 1)\n"
    tests = "from solution import f\ndef test_f():\n    y = f(1)\n    assert y == 1"
    feedback = await judges.judge(source, Suite.from_source(tests, entry_point="f"), Limits())
    assert feedback.reason == "error"
    assert feedback.message.splitlines() == [
        "0 of 1 checks passed; error",
        "test_f: y = f(1)",
        "  f(1) raised ZeroDivisionError: division by zero",
        "  solution.py, line 5, in f: return g(x - 1)",
        "  solution.py, line 2, in g: return 1 / x",
    ]


@pytest.mark.anyio
async def test_huge_values_are_cut_before_they_are_compared_in_text(judges: JudgePool) -> None:
    tests = "from solution import f\ndef test_f():\n    got = f()\n    assert got == [0] * 200000"
    feedback = await judge(judges, "def f(): return [0] * 199999 + [1]", tests)
    assert "[… cut …]" in feedback.message
    assert "first difference at index 199999: 1 and 0" in feedback.message
    assert len(feedback.message) < 3_000


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:", "syntax"),
        ("", "missing"),
        ("def g(): pass", "missing"),
        ("raise ValueError('at import')", "error"),
        ("x = bytearray(10**11)\ndef f(): return 1", "memory"),
        ("def f(): return 2", "failed"),
        ("def f(): raise KeyError", "error"),
        ("import time\ndef f(): time.sleep(9)", "timeout"),
        ("def f():\n    while True: print('x' * 1000)", "output_limit"),
        ("def f():\n    return bytearray(10**11)", "memory"),
    ],
)
async def test_reasons(judges: JudgePool, source: str, reason: str) -> None:
    suite = Suite.from_source("from solution import f\nassert f() == 1", entry_point="f")
    feedback = await judges.judge(source, suite, Limits(wall_s=1.5))
    assert (feedback.passed, feedback.reason) == (False, reason)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tests", "where"),
    [
        ("from solution import f\nX = 1 / 0\nassert f() == 1", "at line 2: ZeroDivisionError"),
        ("import no_such_module\nfrom solution import f\nassert f() == 1", "No module named 'no_such_module'"),
        ("import io\nfrom solution import f\ndef test_f():\n    assert f(object()) == 1", "a object object"),
    ],
)
async def test_tests_that_fail_by_themselves_are_bad_tests(judges: JudgePool, tests: str, where: str) -> None:
    feedback = await judges.judge("def f(*a): return 1", Suite.from_source(tests, entry_point="f"), Limits())
    assert feedback.reason == "bad_tests"
    assert where in feedback.message


@pytest.mark.anyio
async def test_the_program_is_to_blame_when_it_breaks_the_preparation_of_the_tests(judges: JudgePool) -> None:
    tests = "from solution import f\nX = f(0)\nassert f(1) == X"
    feedback = await judge(judges, "def f(x): return 1 / x", tests)
    assert feedback.reason == "error"
    assert "ZeroDivisionError" in feedback.message
