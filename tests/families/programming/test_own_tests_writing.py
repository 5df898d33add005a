"""The test writer: what it is asked, what is kept of its answers, and that a loop has tests written once."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest
from tests.core.doubles import ListModel, StrictRecorder

from afterword import Outcome, Recorder, Reflexion
from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.messages import ChatRequest
from afterword.core.protocols import ActContext
from afterword.core.records import Task
from afterword.errors import InputError, NoOwnTests
from afterword.evaluators.function_tests import JudgePool
from afterword.families.programming.own_tests import (
    OwnTest,
    OwnTests,
    TestWriting,
    UnwrittenTests,
    read_tests,
    write_tests,
)
from afterword.families.programming.own_tests.writing import sample, without_contradictions, without_duplicates
from afterword.sandbox import open_sandbox

pytestmark = pytest.mark.anyio

TASK = Task("sum", "Add the numbers.", {"entry_point": "f", "language": "python", "signature": "def f(x):"})
REPLY = "```python\n# nothing\nassert f([]) == 0\nassert f([2]) == 2\nassert sum([f([1])]) == 1\n```"
RIGHT = "def f(x):\n    return sum(x)\n"
WRONG = "def f(x):\n    return len(x)\n"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def judges() -> AsyncIterator[JudgePool]:
    async with (
        open_sandbox(workers=1, allow_weak=True) as sandbox,
        open_sandbox(workers=1, allow_weak=True) as companions,
        JudgePool(sandbox, workers=1, companions=companions) as pool,
    ):
        yield pool


def effects(seed: int = 0, arm: str = "") -> Effects:
    return Effects(task="sum", arm=arm, seed=seed, budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())


async def written(*replies: str, seed: int = 0, arm: str = "", settings: TestWriting | None = None) -> list[str]:
    tests = await write_tests(TASK, effects(seed, arm), ListModel(replies), settings)
    return [test.text for test in tests]


async def requests(*replies: str, seed: int = 0, settings: TestWriting | None = None) -> list[ChatRequest]:
    model = ListModel(replies)
    await write_tests(TASK, effects(seed), model, settings)
    return model.requests


async def test_writer_is_asked_as_in_the_paper() -> None:
    (request,) = await requests(REPLY)
    assert (request.temperature, request.max_tokens) == (0.2, 512)
    prompt = request.messages[-1].content
    assert "Add the numbers." in prompt
    assert "def f(x):" in prompt
    assert [message.role for message in request.messages] == ["system", "user"]


async def test_prompt_is_short() -> None:
    (request,) = await requests(REPLY)
    assert sum(len(message.content) for message in request.messages) < 600 * 3  # three characters a token at least


async def test_settings_reach_the_request() -> None:
    (request,) = await requests(REPLY, settings=TestWriting(temperature=None, max_tokens=99))
    assert (request.temperature, request.max_tokens, request.seed) == (None, 99, None)


async def test_task_without_a_signature() -> None:
    model = ListModel([REPLY])
    await write_tests(Task("sum", "Add.", {"entry_point": "f"}), effects(), model)
    assert "named `f`" in model.requests[0].messages[-1].content


async def test_tests_keep_their_order_and_their_descriptions() -> None:
    assert await write_tests(TASK, effects(), ListModel([REPLY])) == (
        OwnTest("assert f([]) == 0", "nothing"),
        OwnTest("assert f([2]) == 2"),
        OwnTest("assert sum([f([1])]) == 1"),
    )


MANY = "\n".join(f"assert f([{number}]) == {number}" for number in range(20))


async def test_of_many_at_most_six_are_sampled_by_the_seed() -> None:
    first, again, other = await written(MANY, seed=1), await written(MANY, seed=1), await written(MANY, seed=2)
    assert len(first) == 6
    assert first == again != other
    assert first == sorted(first, key=MANY.index)


async def test_sample_is_the_same_in_every_arm_and_at_every_temperature() -> None:
    assert await written(MANY, arm="a") == await written(MANY, arm="b", settings=TestWriting(temperature=0))


async def test_most_is_a_setting() -> None:
    assert len(await written(MANY, settings=TestWriting(most=2))) == 2


def test_sample_of_few_is_all_of_them() -> None:
    tests = (OwnTest("a"), OwnTest("b"))
    assert sample(tests, 2, random.Random(0)) == tests  # noqa: S311


def test_duplicates_are_dropped_whatever_their_layout() -> None:
    tests = read_tests("assert f([1, 2]) == 3\nassert f( [1,2] )==3\nassert (f([1, 2]) == 3), 'again'", "f")
    assert [test.text for test in without_duplicates(tests)] == ["assert f([1, 2]) == 3"]


def test_contradictions_leave_neither() -> None:
    tests = read_tests(
        "assert f(1) == 2\nassert f(2) == 2\nassert 3 == f(1)\nassert f(1.0) == 5\nassert f(1) != 7", "f"
    )
    kept = [test.text for test in without_contradictions(tests, "f")]
    assert kept == ["assert f(2) == 2", "assert f(1.0) == 5", "assert f(1) != 7"]


def test_equal_results_in_other_words_are_no_contradiction() -> None:
    tests = read_tests("assert f(1) == [1]\nassert f(1) == [1.0]\nassert f(1)", "f")
    assert without_contradictions(tests, "f") == tests


async def test_writer_without_a_test_is_asked_once_more() -> None:
    first, second = await requests("I cannot.", REPLY)
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[:2] == first.messages
    assert first.seed != second.seed
    assert await written("def f(x): ...", REPLY) == await written(REPLY)


async def test_empty_reply_is_not_sent_back_as_an_empty_message() -> None:
    _, second = await requests("", REPLY)
    assert all(message.content for message in second.messages)


def test_no_test_at_all_cannot_be_asked_for() -> None:
    with pytest.raises(InputError, match="most = 0"):
        TestWriting(most=0)


@pytest.mark.parametrize(
    "reply", ["", "No.", "assert 1 == 1", "assert g(1) == 1", "```python\ndef f(x):\n    return 1\n```"]
)
async def test_no_valid_test_is_a_fault_of_the_writer(reply: str) -> None:
    with pytest.raises(NoOwnTests, match=r"test:list wrote no usable test for 'sum'.*--test-writer-model"):
        await written(reply, reply)


def program(*programs: str) -> Callable[[ActContext], str]:
    """An actor with a program for each trial."""
    return lambda context: programs[context.number - 1]


async def outcome_of(
    judges: JudgePool, model: ListModel, *programs: str, recorder: Recorder | None = None
) -> tuple[Outcome, list[tuple[OwnTest, ...]]]:
    told: list[tuple[OwnTest, ...]] = []
    evaluator = UnwrittenTests(partial(write_tests, model=model), judges, written=told.append)
    loop = Reflexion(program(*programs), evaluator, max_trials=len(programs), stop_on_repetition=False)
    return await loop.run(TASK, recorder=recorder, clock=FakeClock()), told


async def test_loop_has_the_tests_written_once_for_all_trials(judges: JudgePool) -> None:
    model = ListModel([REPLY])
    outcome, told = await outcome_of(judges, model, WRONG, WRONG, RIGHT)
    assert (outcome.status, len(outcome.trials), len(model.requests)) == ("unverified", 3, 1)
    assert [trial.feedback.score for trial in outcome.trials] == [2 / 3, 2 / 3, 1.0]
    assert len(told) == 1
    assert outcome.usage["test_writer"].calls == 1


async def test_attempt_without_output_fails_every_own_test(judges: JudgePool) -> None:
    outcome, _ = await outcome_of(judges, ListModel([REPLY]), "")
    assert outcome.trials[0].feedback.failed_ids == ("own:1", "own:2", "own:3")


async def test_no_valid_test_ends_as_faulted_and_never_as_passed(judges: JudgePool) -> None:
    outcome, told = await outcome_of(judges, ListModel(["No.", "No."]), RIGHT)
    assert (outcome.status, outcome.trials, told) == ("faulted", (), [])
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.trial) == ("NoOwnTests", 0)
    assert outcome.usage["test_writer"].calls == 2


async def test_resumed_run_has_the_same_tests_without_asking_again(judges: JudgePool) -> None:
    recorder = StrictRecorder()
    first, told = await outcome_of(judges, ListModel([REPLY]), WRONG, RIGHT, recorder=recorder)
    second, told_again = await outcome_of(judges, ListModel([]), WRONG, RIGHT, recorder=recorder.after_restart())
    assert second == first
    assert told_again == told
    keys = [key for key in recorder.stored if key.role == "test_writer"]
    assert [(key.trial, key.n) for key in keys] == [(0, 0)]


async def test_budget_refuses_the_writer(judges: JudgePool) -> None:
    evaluator = UnwrittenTests(partial(write_tests, model=ListModel([REPLY])), judges)
    loop = Reflexion(program(RIGHT), evaluator, allowance=Allowance(tokens=50))
    outcome = await loop.run(TASK)
    assert (outcome.status, outcome.stop_reason, outcome.trials) == ("gave_up", "tokens", ())


async def test_prepared_evaluator_can_be_used_alone(judges: JudgePool) -> None:
    evaluator = await UnwrittenTests(partial(write_tests, model=ListModel([REPLY])), judges).prepare(TASK, effects())
    assert isinstance(evaluator, OwnTests)
    assert evaluator.check_ids == ("own:1", "own:2", "own:3")
    assert len(evaluator.tests) == 3
