"""The jail of own tests, hostile: whatever it sends, the program is not blamed and the judge lives."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import pytest
from tests.evaluators.doubles import Answer, ScriptedSandbox
from tests.evaluators.judge.test_hostile_peer import Fuzz, frame, read

from afterword.core.protocols import Sandbox
from afterword.core.records import Feedback, Limits
from afterword.evaluators.function_tests import JudgePool
from afterword.families.programming.own_tests import OwnTest, suite_of
from afterword.sandbox import open_sandbox

pytestmark = pytest.mark.anyio

SUITE = suite_of((OwnTest("assert f(1) == 1"), OwnTest("assert len([f(2)]) == 1"), OwnTest("assert f(3) in [3]")), "f")
PROGRAM = "class A:\n    x = 1\n\n\ndef f(x):\n    return x if x != 2 else A()\n"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(workers=1, allow_weak=True) as opened:
        yield opened


async def judged(sandbox: Sandbox, script: Answer, wall_s: float = 3.0, program: str = PROGRAM) -> Feedback:
    async with JudgePool(sandbox, workers=1, companions=ScriptedSandbox(script)) as pool:
        feedback = await pool.judge(program, SUITE, Limits(wall_s=wall_s))
        assert (await pool.judge(program, suite_of(HONEST, "f"), Limits())).passed
    return feedback


HONEST = (OwnTest("assert f(1) == 1"),)


def answers(*messages: object) -> Answer:
    """A jail that loads, and answers each request with the next of these messages; None stands for its number."""

    def script(peer: socket.socket) -> None:
        peer.sendall(frame([0, "loaded"]))
        for message in messages:
            number = read(peer)[0]
            filled = [number if part is None else part for part in message] if isinstance(message, list) else message
            peer.sendall(frame(filled))
        read(peer)

    return script


def ends_at_once(peer: socket.socket) -> None:
    """Never loads."""


def does_not_compile(peer: socket.socket) -> None:
    peer.sendall(frame([0, "syntax", "line 1: no"]))


def sends_noise(peer: socket.socket) -> None:
    peer.sendall(b"\xff" * 64)


BAD = {
    "it ends at once": ends_at_once,
    "its code does not compile": does_not_compile,
    "it sends noise": sends_noise,
    "it ends before it answers": answers(),
    "no answer in form": answers([None, "ok"]),
    "a number that was not asked for": answers([77, "ok", 0, []]),
    "an error of the tests that there was none of": answers([None, "raised", [0, ["builtin", "E"], [], "", [], 5]]),
    "a call of a function that it was not given": answers([0, "callback", 9, [], []]),
}


@pytest.mark.parametrize("script", BAD.values(), ids=BAD.keys())
async def test_tests_that_break_are_no_pass_and_not_the_programs_doing(sandbox: Sandbox, script: Answer) -> None:
    feedback = await judged(sandbox, script)
    assert (feedback.passed, feedback.reason) == (False, "error")
    assert feedback.checks[0].passed  # the row of data, which needs no second jail
    assert "the test" in feedback.message


async def test_result_that_is_not_none_is_no_pass(sandbox: Sandbox) -> None:
    feedback = await judged(sandbox, answers([None, "ok", True, []], [None, "ok", "passed", []]))
    assert [check.passed for check in feedback.checks] == [True, False, False]


KEEPS = "class A:\n    secret = 90210777\n\n\na = A()\n\n\ndef f(x):\n    return a if x == 2 else x\n"


@pytest.mark.parametrize("number", range(4))
async def test_numbers_of_one_jail_mean_nothing_in_the_other(sandbox: Sandbox, number: int) -> None:
    """The tests name an object by number, as the program's jail would name one of its own."""
    seen: list[list[object]] = []

    def script(peer: socket.socket) -> None:
        peer.sendall(frame([0, "loaded"]))
        asked = read(peer)[0]
        peer.sendall(frame([0, "callback", 0, [["l", [["h", number, [9, "A", "solution", [], ["object"], []]]]]], []]))
        seen.append(read(peer))
        peer.sendall(frame([asked, "ok", None, []]))
        read(peer)

    feedback = await judged(sandbox, script, program=KEEPS)
    assert seen == [[0, "returned", ["l", [["h", number]]]]]  # it went through the program and came back as theirs
    assert feedback.checks[1].passed


@pytest.mark.parametrize("seed", range(6))
async def test_fuzzing_tests_leave_the_judge_alive(sandbox: Sandbox, seed: int) -> None:
    feedback = await judged(sandbox, Fuzz(seed), wall_s=2.0)
    assert feedback.checks[0].passed
    assert feedback.reason in ("ok", "failed", "error", "timeout")
