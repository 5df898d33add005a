from __future__ import annotations

from dataclasses import replace

import pytest

from afterword.core.protocols import Sandbox
from afterword.errors import InputError
from afterword.evaluators.command import CommandTests, Snapshot
from tests.evaluators.command.folders import IDS, QUICK, RIGHT, WRONG, check

pytestmark = pytest.mark.anyio


async def test_a_right_program_passes_every_known_check(sandbox: Sandbox) -> None:
    tests = await CommandTests(check(), sandbox, QUICK).prepared()
    verdict = await tests.judge({"src/calc.py": RIGHT.encode()})
    assert tests.check_ids == IDS
    assert (verdict.passed, verdict.score, verdict.reason) == (True, 1.0, "ok")
    assert tuple(one.id for one in verdict.checks) == IDS
    assert (verdict.trust, verdict.isolation) == ("shared_process", sandbox.isolation)


async def test_names_and_expectations_are_told_to_the_leak_audit(sandbox: Sandbox) -> None:
    texts = CommandTests(check(ids=IDS, files={"data.txt": "nothing"}), sandbox, QUICK).check_texts()
    assert texts[:4] == (IDS[0], "test_small", IDS[1], "test_negative")
    assert 'assert add(1, 2) == 3, f"add(1, 2) gave {add(1, 2)}"' in texts
    assert not any("nothing" in text or "return" in text for text in texts)


async def test_a_wrong_program_is_told_what_failed(sandbox: Sandbox) -> None:
    verdict = await CommandTests(check(), sandbox, QUICK).judge({"src/calc.py": WRONG.encode()})
    assert (verdict.passed, verdict.score, verdict.reason) == (False, 0.5, "failed")
    assert verdict.failed_ids == IDS[1:]
    assert verdict.message == "1 of 2 checks passed; failed\ntests.checks::test_negative: add(-1, -2) gave 3"


async def test_tests_that_are_no_longer_reported_count_as_failed(sandbox: Sandbox) -> None:
    tests = CommandTests(check(ids=IDS), sandbox, QUICK)
    verdict = await tests.judge({"src/calc.py": b"raise RuntimeError('no')\n"})
    assert (verdict.passed, verdict.score, verdict.reason) == (False, 0.0, "error")
    assert verdict.failed_ids == IDS
    assert "tests.checks: error: collection failure" in verdict.message
    assert "not reported: tests.checks::test_small" in verdict.message


async def test_where_the_tests_do_not_load_at_first_no_ids_are_known(sandbox: Sandbox) -> None:
    tests = await CommandTests(check(files={"src/calc.py": "raise RuntimeError\n"}), sandbox, QUICK).prepared()
    assert tests.check_ids == ()
    assert (await tests.judge({"src/calc.py": RIGHT.encode()})).passed


async def test_an_exit_code_is_one_check_and_shows_the_last_output(sandbox: Sandbox) -> None:
    tests = CommandTests(check("echo working; echo broken >&2; exit 3", "exit_code"), sandbox, QUICK)
    verdict = await tests.judge({"src/calc.py": RIGHT.encode()})
    assert (verdict.passed, verdict.trust, verdict.failed_ids) == (False, "exit_code", ("command",))
    assert verdict.message.split("\n")[1:] == [
        "command: it ended with exit code 3",
        "Its last output:",
        "working",
        "broken",
    ]


async def test_a_command_may_be_a_file_that_is_executable(sandbox: Sandbox) -> None:
    made = check("./judge.sh", "exit_code", files={"judge.sh": "#!/bin/sh\ngrep -q 'a + b' src/calc.py\n"})
    made = replace(made, snapshot=replace(made.snapshot, executable=frozenset({"judge.sh"})))
    tests = CommandTests(made, sandbox, QUICK)
    assert (await tests.judge({"src/calc.py": RIGHT.encode()})).passed
    assert not (await tests.judge({"src/calc.py": WRONG.encode()})).passed


async def test_each_verdict_starts_from_the_pristine_folder(sandbox: Sandbox) -> None:
    made = check("test ! -e left.txt && touch left.txt", "exit_code")
    tests = CommandTests(made, sandbox, QUICK)
    assert (await tests.judge({})).passed
    assert (await tests.judge({})).passed


async def test_no_tests_is_said_and_no_pass(sandbox: Sandbox) -> None:
    made = check("echo '<testsuites/>' > out.xml", files={"run.py": ""})
    verdict = await CommandTests(made, sandbox, QUICK).judge({})
    assert (verdict.passed, verdict.score, verdict.reason) == (False, 0.0, "no_tests")


async def test_skipped_tests_are_not_passes(sandbox: Sandbox) -> None:
    line = '<testsuite><testcase name="a"/><testcase name="b"><skipped message="no network"/></testcase></testsuite>'
    verdict = await CommandTests(check(f"echo '{line}' > out.xml"), sandbox, QUICK).judge({})
    assert (verdict.passed, verdict.score, verdict.failed_ids) == (False, 0.5, ("b",))
    assert "b: skipped, which is not a pass (no network)" in verdict.message


@pytest.mark.parametrize(
    ("command", "result", "said"),
    [
        ("true", "exit_code", "passes with an empty 'src/calc.py'; it checks nothing of it"),
        ("true", "junit:out.xml", "the command ended well, but its result junit:out.xml is no use: it was not written"),
        ("echo '<testsuites/>' > out.xml", "junit:out.xml", "ended well and reported no tests"),
        ("no-such-program --x", "junit:out.xml", "cannot be started in the jail"),
        (
            "echo x >> run.py; python run.py",
            "junit:out.xml",
            "the command itself changes a file that is protected:run.py; narrow protect",
        ),
    ],
)
async def test_a_check_that_cannot_work_is_refused_before_money_is_spent(
    sandbox: Sandbox, command: str, result: str, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        await CommandTests(check(command, result), sandbox, QUICK).prepared()
    assert said in str(refused.value)


async def test_a_folder_that_passes_as_it_stands_is_taken_if_an_empty_program_fails(sandbox: Sandbox) -> None:
    tests = await CommandTests(check(files={"src/calc.py": RIGHT}), sandbox, QUICK).prepared()
    assert tests.check_ids == IDS


def test_the_program_cannot_be_protected() -> None:
    with pytest.raises(InputError, match=r"covers 'src/calc\.py'"):
        check(protect=("src/**",))


def test_digests_tell_checks_apart() -> None:
    one = check()
    others = [check("python -B run.py"), check(result="exit_code"), check(ids=IDS), check(files={"more.txt": ""})]
    others.append(replace(one, snapshot=Snapshot(one.snapshot.files, frozenset({"run.py"}))))
    assert len({each.digest for each in [one, *others]}) == len(others) + 1
    assert check().digest == one.digest
