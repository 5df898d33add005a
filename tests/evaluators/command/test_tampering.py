"""What a program can do to the command that judges it: what is caught, and what cannot be.

The program runs inside of the command's own process, so the last tests of this file pass for hostile programs. They
are the reason why `trust` is never more than `shared_process`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from afterword.core.protocols import Sandbox
from afterword.core.records import Feedback
from afterword.evaluators.command import CommandCheck, CommandTests
from tests.evaluators.command.folders import FORGED, IDS, QUICK, RIGHT, STUB, WRONG, check

pytestmark = pytest.mark.anyio


async def judged(sandbox: Sandbox, program: str, made: CommandCheck | None = None, **others: str) -> Feedback:
    """The verdict on a program; `others` are more files that the attempt brings, `/` written as two underscores."""
    changes = {"src/calc.py": program.encode()}
    changes |= {name.replace("__", "/") + ".py": text.encode() for name, text in others.items()}
    return await CommandTests(made or check(ids=IDS), sandbox, QUICK).judge(changes)


async def test_tests_rewritten_at_import_are_tampered(sandbox: Sandbox) -> None:
    program = f"open('tests/checks.py', 'w').write('def test_small(): pass\\ndef test_negative(): pass')\n{WRONG}"
    verdict = await judged(sandbox, program)
    assert (verdict.passed, verdict.reason) == (False, "tampered")
    assert "protected:tests/checks.py" in verdict.failed_ids


async def test_tests_changed_by_the_attempt_are_put_back_and_tampered(sandbox: Sandbox) -> None:
    verdict = await judged(sandbox, WRONG, tests__checks="def test_small(): pass\ndef test_negative(): pass\n")
    assert (verdict.passed, verdict.reason) == (False, "tampered")
    assert {"protected:tests/checks.py", "tests.checks::test_negative"} <= set(verdict.failed_ids)


async def test_a_right_program_that_brings_another_file_is_tampered(sandbox: Sandbox) -> None:
    verdict = await judged(sandbox, RIGHT, sitecustomize="raise SystemExit")
    assert (verdict.passed, verdict.reason) == (False, "tampered")
    assert verdict.failed_ids == ("protected:sitecustomize.py",)


async def test_conftest_planted_while_running_is_tampered(sandbox: Sandbox) -> None:
    program = f"open('tests/conftest.py', 'w').write('x = 1')\n{RIGHT}"
    verdict = await judged(sandbox, program, check(protect=("tests",)))
    assert verdict.reason == "tampered"
    assert verdict.failed_ids == ("protected:tests/conftest.py",)


async def test_a_file_outside_of_what_is_protected_may_be_made(sandbox: Sandbox) -> None:
    verdict = await judged(sandbox, f"open('cache.txt', 'w').write('x')\n{RIGHT}", check(protect=("tests",)))
    assert verdict.passed


async def test_a_link_in_place_of_a_protected_file_is_tampered(sandbox: Sandbox) -> None:
    program = f"""\
import os
os.rename('tests/checks.py', 'tests/moved.py')
os.symlink('moved.py', 'tests/checks.py')
{RIGHT}"""
    verdict = await judged(sandbox, program)
    assert (verdict.passed, verdict.reason) == (False, "tampered")


async def test_a_removed_protected_file_is_tampered(sandbox: Sandbox) -> None:
    verdict = await judged(sandbox, f"import os\nos.remove('tests/checks.py')\n{RIGHT}", check())
    assert (verdict.passed, verdict.reason) == (False, "tampered")


async def test_an_old_result_file_is_not_taken_for_a_new_one(sandbox: Sandbox) -> None:
    made = check(files={"out.xml": FORGED})
    verdict = await judged(sandbox, "import os\nos._exit(0)\n", made)
    assert (verdict.passed, verdict.reason) == (False, "error")
    assert "was not written" in verdict.message


async def test_a_link_as_result_file_is_not_followed(sandbox: Sandbox) -> None:
    program = f"""\
import os
open('forged.xml', 'w').write({FORGED!r})
os.symlink('forged.xml', 'out.xml')
os._exit(0)
"""
    verdict = await judged(sandbox, program)
    assert (verdict.passed, verdict.reason) == (False, "error")


async def test_a_forged_result_without_the_known_tests_fails(sandbox: Sandbox) -> None:
    forged = '<testsuite><testcase name="all_well"/></testsuite>'
    program = f"import os\nopen('out.xml', 'w').write({forged!r})\nos._exit(0)\n"
    verdict = await judged(sandbox, program)
    assert not verdict.passed
    assert set(verdict.failed_ids) == set(IDS)


async def test_a_result_rewritten_at_exit_contradicts_the_exit_code(sandbox: Sandbox) -> None:
    program = f"import atexit\natexit.register(lambda: open('out.xml', 'w').write({FORGED!r}))\n{WRONG}"
    verdict = await judged(sandbox, program)
    assert (verdict.passed, verdict.reason) == (False, "error")
    assert verdict.failed_ids == ("command",)
    assert "exit code 1" in verdict.message


async def test_a_process_left_behind_does_not_live_to_rewrite_the_result(sandbox: Sandbox) -> None:
    program = f"""\
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(3)
        open('out.xml', 'w').write({FORGED!r})
    os._exit(0)
{WRONG}"""
    verdict = await judged(sandbox, program)
    assert (verdict.passed, verdict.reason) == (False, "failed")
    assert verdict.checks_passed == 1


async def test_killing_the_shell_around_the_command_is_no_pass(sandbox: Sandbox) -> None:
    program = f"""\
import os, signal
open('out.xml', 'w').write({FORGED!r})
os.kill(-1, signal.SIGKILL)
"""
    verdict = await judged(sandbox, program)
    assert (verdict.passed, verdict.reason) == (False, "error")


async def test_a_program_called_python_in_the_folder_is_not_run(sandbox: Sandbox) -> None:
    fake = f"#!/bin/sh\ncat > out.xml <<'END'\n{FORGED}\nEND\n"
    made = check(files={"python": fake, "tests/python": fake}, ids=IDS)
    verdict = await judged(sandbox, STUB, made)
    assert not verdict.passed


async def test_the_result_of_a_command_that_hangs_counts_for_nothing(sandbox: Sandbox) -> None:
    program = f"open('out.xml', 'w').write({FORGED!r})\nwhile True: pass\n"
    tests = CommandTests(check(ids=IDS), sandbox, QUICK.__class__(wall_s=1.0))
    verdict = await tests.judge({"src/calc.py": program.encode()})
    assert (verdict.passed, verdict.reason, verdict.failed_ids) == (False, "timeout", IDS)


async def test_files_of_the_host_are_out_of_sight(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("found")
    verdict = await judged(sandbox, RIGHT, check(f"! cat {secret} && ! ls {tmp_path}", "exit_code"))
    assert verdict.passed, verdict.message


async def test_what_cannot_be_caught_a_result_forged_with_every_known_id(sandbox: Sandbox) -> None:
    program = f"import os\nopen('out.xml', 'w').write({FORGED!r})\nos._exit(0)\n"
    verdict = await judged(sandbox, program)
    assert verdict.passed
    assert verdict.trust == "shared_process"


async def test_what_cannot_be_caught_the_tests_exchanged_in_memory(sandbox: Sandbox) -> None:
    program = """\
class AlwaysEqual(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__
add = lambda a, b: AlwaysEqual()
"""
    verdict = await judged(sandbox, program)
    assert verdict.passed
    assert verdict.trust == "shared_process"


async def test_what_cannot_be_caught_an_exit_code_of_a_program_that_leaves_early(sandbox: Sandbox) -> None:
    verdict = await judged(sandbox, "import os\nos._exit(0)\n", check(result="exit_code"))
    assert verdict.passed
    assert verdict.trust == "exit_code"
