"""Result files as tools write them, and as nobody should: each is read, or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.errors import InputError
from afterword.evaluators.command import ResultFormat
from afterword.evaluators.command.junit import read_junit
from afterword.evaluators.command.report import Garbled, Report
from afterword.evaluators.command.report_log import read_report_log
from afterword.evaluators.command.tap import read_tap


def outcomes(report: Report) -> dict[str, str]:
    return {check.id: check.outcome for check in report.checks}


PYTEST_XML = b"""<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">
<testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4" time="0.1">
<testcase classname="tests.test_a.TestX" name="test_ok[1]" time="0.0" />
<testcase classname="tests.test_a" name="test_bad" time="0.0">
<failure message="assert 3 == 4&#10; +  where 3 = add(1)">def test_bad():
&gt;       assert add(1) == 4
E       assert 3 == 4

tests/test_a.py:7: AssertionError</failure></testcase>
<testcase classname="tests.test_a" name="test_later"><skipped type="pytest.skip" message="late">x:1</skipped></testcase>
<testcase classname="" name="tests.test_b"><error message="collection failure">ModuleNotFoundError</error></testcase>
</testsuite></testsuites>"""


def test_junit_of_pytest() -> None:
    report = read_junit(PYTEST_XML)
    assert outcomes(report) == {
        "tests.test_a.TestX::test_ok[1]": "passed",
        "tests.test_a::test_bad": "failed",
        "tests.test_a::test_later": "skipped",
        "tests.test_b": "error",
    }
    assert report.checks[1].message.endswith("tests/test_a.py:7: AssertionError")
    assert [check.stands_for_many for check in report.checks] == [False, False, False, True]


def test_junit_of_nested_suites_and_without_a_wrapper() -> None:
    inner = b'<testsuite failures="1"><testcase name="a"><failure/></testcase></testsuite>'
    text = b'<testsuite failures="1">' + inner + b"</testsuite>"
    assert outcomes(read_junit(text)) == {"a": "failed"}


def test_tests_of_the_same_name_are_all_kept() -> None:
    text = b'<testsuite><testcase name="a"><failure/></testcase><testcase name="a"/></testsuite>'
    assert outcomes(read_junit(text)) == {"a": "failed", "a #2": "passed"}


def test_the_worst_of_several_outcomes_counts() -> None:
    text = b'<testsuite><testcase name="a"><skipped/><error message="x"/><failure/></testcase></testsuite>'
    assert outcomes(read_junit(text)) == {"a": "error"}


def test_tests_that_were_not_run_are_skipped() -> None:
    text = b'<testsuite><testcase name="a" status="notrun"/><testcase name="b" result="suppressed"/></testsuite>'
    assert outcomes(read_junit(text)) == {"a": "skipped", "b": "skipped"}


def test_names_hold_no_line_breaks_and_no_escapes() -> None:
    text = '<testsuite><testcase name="a&#10;\u202e# Task&#x9b;2J"/></testsuite>'.encode()
    assert list(outcomes(read_junit(text))) == ["a # Task2J"]


LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuite><testcase name="&b;"/></testsuite>"""
OUTSIDE = b"""<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>
<testsuite><testcase name="a">&e;</testcase></testsuite>"""


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (LAUGHS, "document type"),
        (OUTSIDE, "document type"),
        (b"", "not well-formed"),
        (b"<testsuite><testcase name='a'/>", "not well-formed"),
        (PYTEST_XML[:-30], "not well-formed"),
        (b"<testsuite/><testsuite/>", "not well-formed"),
        (b"<html/>", "begins with <html>"),
        (b"<testsuite>" * 100, "nested too deeply"),
        (b"<testsuite><testcase><testcase/></testcase></testsuite>", "inside of another"),
        (b'<testsuite failures="2"><testcase name="a"/></testsuite>', "counts speak of failures"),
        (b'<testsuite errors="1"/>', "counts speak of failures"),
        (b'<testsuite failures="-1"/>', "no count"),
        (b"<testsuite>" + b"<testcase/>" * 10_001 + b"</testsuite>", "more than 10,000"),
        (b'<?xml version="1.0" encoding="no-such"?><testsuite/>', "XML"),
        (b"\xff\xfe<testsuite/>", "XML"),
    ],
)
def test_junit_that_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(Garbled) as refused:
        read_junit(data)
    assert said in str(refused.value)


def log(*rows: dict[str, object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def phases(name: str, *told: str) -> list[dict[str, object]]:
    names = ("setup", "call", "teardown") if len(told) == 3 else ("setup", "teardown")
    return [
        {"$report_type": "TestReport", "nodeid": name, "when": when, "outcome": outcome, "longrepr": None}
        for when, outcome in zip(names, told, strict=True)
    ]


START: dict[str, object] = {"pytest_version": "8.3.4", "$report_type": "SessionStart"}


def finish(status: int) -> dict[str, object]:
    return {"exitstatus": status, "$report_type": "SessionFinish"}


def test_report_log_counts_a_test_by_all_its_phases() -> None:
    data = log(
        START,
        {"$report_type": "CollectReport", "nodeid": "t.py", "outcome": "passed"},
        *phases("t.py::a", "passed", "passed", "passed"),
        *phases("t.py::b", "passed", "failed", "passed"),
        *phases("t.py::c", "passed", "passed", "failed"),
        *phases("t.py::d", "failed", "passed"),
        *phases("t.py::e", "skipped", "passed"),
        *phases("t.py::f", "passed", "passed"),
        {"$report_type": "CollectReport", "nodeid": "u.py", "outcome": "failed", "longrepr": "no module"},
        finish(1),
    )
    assert outcomes(read_report_log(data, 1)) == {
        "t.py::a": "passed",
        "t.py::b": "failed",
        "t.py::c": "error",
        "t.py::d": "error",
        "t.py::e": "skipped",
        "t.py::f": "error",
        "u.py": "error",
    }


def test_report_log_tells_the_crash() -> None:
    rows = phases("t.py::a", "passed", "failed", "passed")
    rows[1]["longrepr"] = {"reprcrash": {"message": "assert 1 == 2", "lineno": 3}, "reprtraceback": {}}
    (check,) = read_report_log(log(START, *rows, finish(1)), 1).checks
    assert check.message == "assert 1 == 2"


GOOD = phases("t.py::a", "passed", "passed", "passed")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "did not finish"),
        (log(START, *GOOD), "did not finish"),
        (log(START, *GOOD, finish(1)), "ended with 1, and the command ended with 0"),
        (log(START, *GOOD, finish(0), *GOOD), "after the end"),
        (log(START, *GOOD, *GOOD, finish(0)), "reports a phase again"),
        (
            log({"$report_type": "TestReport", "nodeid": "x", "when": "call", "outcome": "rerun"}, finish(0)),
            "no report",
        ),
        (log({"$report_type": "TestReport", "when": "call", "outcome": "passed"}, finish(0)), "no nodeid"),
        (b"[1]\n", "no JSON object"),
        (b"{\n", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "UTF-8"),
    ],
)
def test_report_log_that_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(Garbled) as refused:
        read_report_log(data, 0)
    assert said in str(refused.value)


def test_tap_with_directives_diagnostics_and_subtests() -> None:
    text = """\
TAP version 14
1..6
ok 1 - adds
not ok 2 - subtracts
  ---
  message: expected 3
  ...
# Subtest: parts
    ok 1 - inner
    not ok 2 - inner too
    1..2
not ok 3 - parts
ok 4 - later # SKIP no network
not ok - known # TODO
"""
    report = read_tap(text)
    assert outcomes(report) == {
        "1 - adds": "passed",
        "2 - subtracts": "failed",
        "3 - parts": "failed",
        "4 - later": "skipped",
        "5 - known": "skipped",
        "6": "error",
    }
    assert "expected 3" in report.checks[1].message


def test_an_escaped_hash_is_no_directive() -> None:
    assert outcomes(read_tap("1..1\nok 1 - issue \\#skip\n")) == {"1 - issue \\#skip": "passed"}


def test_an_empty_plan_has_no_tests() -> None:
    assert read_tap("1..0 # skipped all\n").checks == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no plan"),
        ("ok 1\nok 2\n", "no plan"),
        ("1..2\nok 1\nok 1\n", "test 1 twice"),
        ("1..1\nok 1\nok 2\n", "outside of the plan"),
        ("1..1\n1..2\nok 1\n", "two plans"),
        ("1..1\nBail out! no database\nok 1\n", "bailed out: no database"),
        ("1..99999999\n", "more than 10,000"),
    ],
)
def test_tap_that_is_refused(text: str, said: str) -> None:
    with pytest.raises(Garbled) as refused:
        read_tap(text)
    assert said in str(refused.value)


def refused_or_read(read: Callable[[], Report]) -> str:
    try:
        return f"{len(read().checks)} checks"
    except Garbled as garbled:
        return str(garbled)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_whatever_a_file_holds_is_read_or_refused(data: bytes) -> None:
    assert refused_or_read(lambda: read_junit(data))
    assert refused_or_read(lambda: read_report_log(data, 0))
    assert refused_or_read(lambda: read_tap(data.decode("utf-8", "backslashreplace")))


@pytest.mark.parametrize("text", ["junit:out.xml", "report_log:a/b.jsonl", "tap", "tap:out.tap", "exit_code"])
def test_a_result_is_stated_as_it_is_shown(text: str) -> None:
    assert str(ResultFormat.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "junit", "junit:", "exit_code:x", "xml:out.xml", "junit:../out.xml", "junit:/tmp/out.xml", "junit:a//b"],
)
def test_other_results_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        ResultFormat.parse(text)
