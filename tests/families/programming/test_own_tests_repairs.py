"""Repairs of own tests: suites that have to agree, weak ones that get more tests, disputes that a reviewer settles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

import pytest
from tests.core.doubles import ListModel, StrictRecorder

from afterword import ActContext, Outcome, Recorder, Reflexion
from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.protocols import ReflectContext
from afterword.core.records import Reflection, Task
from afterword.errors import InputError, NoOwnTests
from afterword.evaluators.function_tests import JudgePool
from afterword.families.programming.own_tests import (
    ReviewingReflector,
    SetAside,
    TestWriting,
    UnwrittenTests,
    write_agreed_tests,
    write_tests,
)
from afterword.sandbox import open_sandbox

pytestmark = pytest.mark.anyio

TASK = Task("abs", "Return the absolute value.", {"entry_point": "f", "language": "python"})
RIGHT = "def f(x):\n    return x if x > 0 else -x\n"
IDENTITY = "def f(x):\n    if x < 0:\n        return x\n    return x\n"


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


def suite(*values: tuple[int, int]) -> str:
    """A reply with a test for each argument and value."""
    return "```python\n" + "".join(f"assert f({given}) == {value}\n" for given, value in values) + "```"


def effects() -> Effects:
    return Effects(task="abs", budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())


async def agreed(*replies: str, suites: int = 3) -> list[str]:
    tests = await write_agreed_tests(TASK, effects(), ListModel(replies), TestWriting(), suites=suites)
    return [test.text for test in tests]


async def test_a_test_stands_if_more_than_half_of_the_suites_state_it() -> None:
    replies = (suite((1, 1), (-2, 2)), suite((1, 1), (-2, -2)), suite((3, 3), (-2, 2)))
    assert await agreed(*replies) == ["assert f(1) == 1", "assert f(-2) == 2"]


async def test_suites_are_asked_for_independently_and_with_seeds_of_their_own() -> None:
    model = ListModel([suite((1, 1))] * 3)
    await write_agreed_tests(TASK, effects(), model, TestWriting(0.7), suites=3)
    assert len({request.seed for request in model.requests}) == 3
    assert len({request.messages for request in model.requests}) == 1


async def test_a_suite_without_tests_is_a_voice_against() -> None:
    assert await agreed("No.", "No.", suite((1, 1)), suite((1, 1))) == ["assert f(1) == 1"]


async def test_suites_that_agree_on_nothing_leave_nothing_to_judge_by() -> None:
    with pytest.raises(NoOwnTests):
        await agreed(suite((1, 1)), suite((2, 2)), suite((3, 3)))


async def test_several_suites_of_a_greedy_writer_are_refused() -> None:
    with pytest.raises(InputError, match="3 suites at temperature 0 are one suite"):
        await write_agreed_tests(TASK, effects(), ListModel([]), TestWriting(0.0), suites=3)


def programs(*texts: str) -> Callable[[ActContext], str]:
    return lambda context: texts[context.number - 1]


async def checked(
    judges: JudgePool, model: ListModel, texts: Sequence[str], recorder: Recorder | None = None
) -> tuple[Outcome, list[int]]:
    """What a loop comes to whose weak tests are added to, and how many tests there were, as it was told."""
    told: list[int] = []

    async def more(task: Task, effects: Effects, beside: tuple[object, ...]) -> tuple[object, ...]:
        return await write_tests(task, effects, model, beside=beside)  # type: ignore[arg-type]

    evaluator = UnwrittenTests(
        partial(write_tests, model=model),
        judges,
        written=lambda tests: told.append(len(tests)),
        more=more,  # type: ignore[arg-type]
    )
    loop = Reflexion(programs(*texts), evaluator, max_trials=len(texts))
    return await loop.run(TASK, recorder=recorder, clock=FakeClock()), told


async def test_tests_that_mutants_pass_are_added_to_before_a_program_is_taken_for_right(judges: JudgePool) -> None:
    model = ListModel([suite((0, 0)), suite((0, 0), (5, 5), (-5, 5))])
    outcome, told = await checked(judges, model, [IDENTITY, RIGHT])
    assert [trial.feedback.passed for trial in outcome.trials] == [False, True]
    assert outcome.trials[0].feedback.failed_ids == ("own:3",)
    assert told == [1, 3]
    talk = model.requests[1].messages
    assert "assert f(0) == 0" in talk[-2].content
    assert all(IDENTITY not in message.content for message in talk)


async def test_strong_tests_are_left_alone(judges: JudgePool) -> None:
    model = ListModel([suite((0, 0), (5, 5), (-5, 5), (1, 1), (-1, 1))])
    outcome, told = await checked(judges, model, [RIGHT])
    assert (outcome.status, told, len(model.requests)) == ("unverified", [5], 1)


async def test_a_resumed_run_grows_to_the_same_tests_without_asking(judges: JudgePool) -> None:
    recorder = StrictRecorder()
    replies = [suite((0, 0)), suite((5, 5), (-5, 5))]
    first = await checked(judges, ListModel(replies), [IDENTITY, RIGHT], recorder)
    assert await checked(judges, ListModel([]), [IDENTITY, RIGHT], recorder.after_restart()) == first


def disputing(check_id: str) -> Callable[[ReflectContext], Reflection]:
    return lambda context: Reflection(f"I dispute {context.trial.number}.", context.trial.number, disputes=check_id)


class Disputing:
    """A reflector that disputes the same check after every trial."""

    def __init__(self, check_id: str) -> None:
        self._make = disputing(check_id)

    async def reflect(self, context: ReflectContext) -> Reflection:
        return self._make(context)


async def reviewed(
    judges: JudgePool, written: str, verdicts: Sequence[str], disputed: str, trials: int = 2
) -> tuple[Outcome, ListModel]:
    aside, reviewer = SetAside(), ListModel(verdicts)
    evaluator = UnwrittenTests(partial(write_tests, model=ListModel([written])), judges, aside=aside)
    loop = Reflexion(
        programs(*[RIGHT] * trials),
        evaluator,
        ReviewingReflector(Disputing(disputed), reviewer, aside),
        max_trials=trials,
        stop_on_repetition=False,
    )
    return await loop.run(TASK), reviewer


WRONG_SECOND = suite((1, 1), (-2, -2))


async def test_a_disputed_test_that_the_reviewer_finds_wrong_counts_no_more_and_is_shown(judges: JudgePool) -> None:
    outcome, reviewer = await reviewed(judges, WRONG_SECOND, ["-2 gives 2.\nVERDICT: WRONG"], "own:2")
    first, second = (trial.feedback for trial in outcome.trials)
    assert (first.failed_ids, second.passed) == (("own:2",), True)
    assert [check.id for check in second.checks] == ["own:1"]
    assert second.message == "set aside after a review, and not counted: own:2: assert f(-2) == -2"
    (request,) = reviewer.requests
    prompt = "\n".join(message.content for message in request.messages)
    assert "Return the absolute value." in prompt
    assert "assert f(-2) == -2" in prompt
    assert RIGHT not in prompt
    assert outcome.usage["test_writer"].calls == 2


@pytest.mark.parametrize(
    "verdict", ["VERDICT: RIGHT", "VERDICT: UNCLEAR", "It is wrong.", "VERDICT: WRONG? No.\nVERDICT: RIGHT"]
)
async def test_without_the_reviewers_word_the_test_stays(judges: JudgePool, verdict: str) -> None:
    outcome, _ = await reviewed(judges, WRONG_SECOND, [verdict], "own:2")
    assert [trial.feedback.failed_ids for trial in outcome.trials] == [("own:2",), ("own:2",)]


async def test_at_most_one_test_of_a_task_and_never_the_last_one(judges: JudgePool) -> None:
    outcome, reviewer = await reviewed(judges, suite((-2, -2)), ["VERDICT: WRONG"], "own:1")
    assert (outcome.trials[-1].feedback.passed, reviewer.requests) == (False, [])
    aside = SetAside()
    written = suite((1, 1), (-2, -2), (-3, -3))
    evaluator = UnwrittenTests(partial(write_tests, model=ListModel([written])), judges, aside=aside)
    both = [Disputing("own:2"), Disputing("own:3")]

    class Each:
        async def reflect(self, context: ReflectContext) -> Reflection:
            return await both[context.trial.number - 1].reflect(context)

    reviewer = ListModel(["VERDICT: WRONG"] * 2)
    loop = Reflexion(
        programs(RIGHT, RIGHT, RIGHT),
        evaluator,
        ReviewingReflector(Each(), reviewer, aside),
        max_trials=3,
        stop_on_repetition=False,
    )
    outcome = await loop.run(TASK)
    assert outcome.trials[-1].feedback.failed_ids == ("own:3",)
    assert len(reviewer.requests) == 1
