"""What every evaluator promises, whatever it judges by."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio
import pytest
from pydantic import BaseModel

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock, Metered, fingerprint
from afterword.core.events import NoEvents
from afterword.core.messages import ChatRequest, Reply
from afterword.core.protocols import EffectKey, EvaluateContext, Evaluator
from afterword.core.records import Feedback, Step, Task, Trajectory, Trust, Usage
from afterword.errors import AfterwordError
from afterword.evaluators.command import CommandTests
from afterword.evaluators.environment import EnvironmentSuccess, StuckHeuristic
from afterword.evaluators.exact_match import ExactMatch, StrictMatch
from afterword.evaluators.function_tests import FunctionTests, JudgePool, Suite
from afterword.evaluators.model_judge import ModelJudge
from afterword.evaluators.rubric import Criterion, ForbiddenActions, Rubric, StepEfficiency
from afterword.evaluators.schema import JsonSchema, PydanticSchema
from afterword.families.programming.own_tests import OwnTest, OwnTests
from afterword.models.scripted import ScriptedModel
from afterword.sandbox import STRONG, open_sandbox
from tests.evaluators.command.folders import QUICK, RIGHT, WRONG, check

T = TypeVar("T")


@dataclass(frozen=True)
class Subject:
    """An evaluator with a trajectory that passes and one that fails, and one that cannot reach a verdict."""

    evaluator: Evaluator
    right: Trajectory
    wrong: Trajectory
    broken: Evaluator | None
    """None where every trajectory gets a verdict, as it needs nothing but the steps."""
    trust: Trust


class Point(BaseModel):
    n: int


@asynccontextmanager
async def function_tests() -> AsyncIterator[Subject]:
    text = "from solution import f\ndef test_one():\n    assert f(1) == 2\ndef test_two():\n    assert f(-1) == 0\n"
    bad = "from solution import f\nDATA = 1 / 0\ndef test_one():\n    assert f(1) == DATA\n"
    async with open_sandbox(workers=1, allow_weak=True) as sandbox, JudgePool(sandbox, workers=1) as pool:
        yield Subject(
            FunctionTests(Suite.from_source(text, entry_point="f"), pool),
            Trajectory("def f(x): return x + 1"),
            Trajectory("def f(x): return abs(x) + 1"),
            FunctionTests(Suite.from_source(bad, entry_point="f"), pool),
            "isolated" if sandbox.isolation in STRONG else "shared_process",
        )


@asynccontextmanager
async def own_tests() -> AsyncIterator[Subject]:
    tests = (OwnTest("assert f(1) == 2"), OwnTest("assert sorted([f(-1), 5]) == [0, 5]"))
    async with (
        open_sandbox(workers=1, allow_weak=True) as sandbox,
        open_sandbox(workers=1, allow_weak=True) as companions,
        JudgePool(sandbox, workers=1, companions=companions) as pool,
        JudgePool(sandbox, workers=1) as lacking,
    ):
        yield Subject(
            OwnTests(tests, "f", pool),
            Trajectory("def f(x): return x + 1"),
            Trajectory("def f(x): return abs(x) + 1"),
            OwnTests(tests, "f", lacking),
            "model",
        )


@asynccontextmanager
async def command_tests() -> AsyncIterator[Subject]:
    async with open_sandbox(workers=1, allow_weak=True) as sandbox:
        async with open_sandbox(workers=1, allow_weak=True) as closed:
            pass
        yield Subject(
            await CommandTests(check(), sandbox, QUICK).prepared(),
            Trajectory(RIGHT),
            Trajectory(WRONG),
            CommandTests(check(), closed, QUICK),
            "shared_process",
        )


@asynccontextmanager
async def exact_match() -> AsyncIterator[Subject]:
    yield Subject(ExactMatch(("two", "2")), Trajectory("Two."), Trajectory("three"), ExactMatch(()), "exact")


@asynccontextmanager
async def strict_match() -> AsyncIterator[Subject]:
    yield Subject(StrictMatch(("3.5",)), Trajectory("3.5"), Trajectory("35"), StrictMatch(()), "exact")


PASS = '{"reason": "it adds one", "verdict": "pass"}'
FAIL = '{"reason": "it does not add one", "verdict": "fail"}'


class ReadsTheAttempt(ScriptedModel):
    """A judge model that passes an attempt with `x + 1` in it, and says nothing that can be read when it is broken."""

    def __init__(self, *, broken: bool = False) -> None:
        super().__init__([], name="scripted:judge")
        self._broken = broken

    async def complete(self, request: ChatRequest) -> Reply:
        attempt = request.messages[1].content
        said = "hm" if self._broken else PASS if "| def f(x): return x + 1" in attempt.splitlines() else FAIL
        return Reply(said, "stop", Usage(calls=1), self.name)


@asynccontextmanager
async def model_judge() -> AsyncIterator[Subject]:
    yield Subject(
        ModelJudge(ReadsTheAttempt(), "The function adds one."),
        Trajectory("def f(x): return x + 1"),
        Trajectory("def f(x): return abs(x) + 1"),
        ModelJudge(ReadsTheAttempt(broken=True), "The function adds one."),
        "model",
    )


@asynccontextmanager
async def rubric() -> AsyncIterator[Subject]:
    def made(judge: Evaluator) -> Rubric:
        return Rubric(
            [
                Criterion("judge", 0.5, judge),
                Criterion("short", 0.2, lambda context: len(context.trajectory.output) < 99),
                Criterion("no forbidden actions", 0.2, ForbiddenActions(("import os",))),
                Criterion("steps", 0.1, StepEfficiency(1, 5)),
            ]
        )

    yield Subject(
        made(ModelJudge(ReadsTheAttempt(), "The function adds one.")),
        Trajectory("def f(x): return x + 1"),
        Trajectory("import os"),
        made(ModelJudge(ReadsTheAttempt(broken=True), "The function adds one.")),
        "model",
    )


@asynccontextmanager
async def json_schema() -> AsyncIterator[Subject]:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    elsewhere = {"$ref": "https://example.org/missing.json"}
    yield Subject(JsonSchema(schema), Trajectory('{"n": 1}'), Trajectory('{"n": "1"}'), JsonSchema(elsewhere), "exact")


@asynccontextmanager
async def pydantic_schema() -> AsyncIterator[Subject]:
    class Untyped:
        """Nothing that pydantic knows."""

    yield Subject(
        PydanticSchema(Point), Trajectory('{"n": 1}'), Trajectory('{"n": "one"}'), PydanticSchema(Untyped), "exact"
    )


STEPS = (Step(observation="You are here."), Step(action="look", observation="Dark."))


@asynccontextmanager
async def environment_success() -> AsyncIterator[Subject]:
    won = Trajectory("", STEPS, won=True, reward=1.0)
    yield Subject(EnvironmentSuccess(), won, Trajectory("", STEPS, "step_limit", reward=1.0), None, "environment")


@asynccontextmanager
async def stuck_heuristic() -> AsyncIterator[Subject]:
    yield Subject(StuckHeuristic(), Trajectory("", STEPS), Trajectory("", STEPS * 4), None, "heuristic")


SUBJECTS: dict[str, Callable[[], AbstractAsyncContextManager[Subject]]] = {
    "function_tests": function_tests,
    "own_tests": own_tests,
    "command_tests": command_tests,
    "model_judge": model_judge,
    "rubric": rubric,
    "json_schema": json_schema,
    "pydantic_schema": pydantic_schema,
    "exact_match": exact_match,
    "strict_match": strict_match,
    "environment_success": environment_success,
    "stuck_heuristic": stuck_heuristic,
}


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Callable[[], AbstractAsyncContextManager[Subject]]:
    return SUBJECTS[request.param]


class Kept:
    """A recorder that keeps the keys and fingerprints that it sees."""

    def __init__(self) -> None:
        self.seen: list[tuple[EffectKey, str, type]] = []

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        self.seen.append((key, fingerprint(request), kind))
        return await call()


def context(trajectory: Trajectory, recorder: Kept | None = None, role: str = "evaluator") -> EvaluateContext:
    effects = Effects(task="t", recorder=recorder, budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())
    effects.begin_trial(1)
    return EvaluateContext(Task("t", "add one"), 1, trajectory, effects, role=role)


Subjects = Callable[[], AbstractAsyncContextManager[Subject]]


def test_a_right_trajectory_passes_with_score_1_and_every_check(subject: Subjects) -> None:
    async def main() -> None:
        async with subject() as given:
            feedback = await given.evaluator.evaluate(context(given.right))
            assert feedback.passed
            assert feedback.score == 1.0
            assert feedback.reason == "ok"
            assert feedback.trust == given.trust
            assert all(one.passed and not one.message for one in feedback.checks)

    anyio.run(main)


def test_a_wrong_trajectory_is_returned_as_feedback_with_a_message(subject: Subjects) -> None:
    async def main() -> None:
        async with subject() as given:
            feedback = await given.evaluator.evaluate(context(given.wrong))
            assert not feedback.passed
            assert 0.0 <= feedback.score < 1.0
            assert feedback.message
            assert feedback.failed_ids or not feedback.checks

    anyio.run(main)


def test_the_checks_of_a_verdict_are_those_known_before(subject: Subjects) -> None:
    async def main() -> None:
        async with subject() as given:
            for trajectory in (given.right, given.wrong, Trajectory(""), Trajectory("\0")):
                feedback = await given.evaluator.evaluate(context(trajectory))
                if given.evaluator.check_ids:
                    assert tuple(one.id for one in feedback.checks) == given.evaluator.check_ids

    anyio.run(main)


def test_the_same_trajectory_gets_the_same_verdict_and_is_not_changed(subject: Subjects) -> None:
    async def main() -> None:
        async with subject() as given:
            before = replace(given.wrong)
            one, other = [await given.evaluator.evaluate(context(given.wrong)) for _ in range(2)]
            assert replace(one, wall_s=0.0) == replace(other, wall_s=0.0)
            assert given.wrong == before

    anyio.run(main)


def test_the_verdict_passes_the_recorder_under_the_role_it_was_asked_in(subject: Subjects) -> None:
    async def main() -> None:
        async with subject() as given:
            seen = []
            for trajectory, role in ((given.right, "evaluator"), (given.wrong, "held_out"), (given.right, "evaluator")):
                await given.evaluator.evaluate(context(trajectory, kept := Kept(), role))
                own = [(key, kind) for key, _, kind in kept.seen if key.role == role]
                assert own, "it may ask a model below this role, but the verdict itself stands under it"
                assert all(kind in (Feedback, Metered[Feedback]) for _, kind in own)
                assert all(key.role == role or key.role.startswith(f"{role}/") for key, _, _ in kept.seen)
                seen.append([fingerprint for _, fingerprint, _ in kept.seen])
            first, second, third = seen
            assert first == third != second

    anyio.run(main)


def test_no_verdict_is_an_error_and_never_feedback(subject: Subjects) -> None:
    async def main() -> None:
        async with subject() as given:
            if given.broken is None:
                return
            with pytest.raises(AfterwordError):
                await given.broken.evaluate(context(given.right))

    anyio.run(main)
