"""Arms: what each does with three attempts, and the first attempt that they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
import pytest

from afterword import ActContext, Allowance, Feedback, Outcome, ReflectContext, Reflexion, Task, Trajectory
from afterword.core.leaks import check_texts
from afterword.core.messages import ChatRequest, Message, Reply
from afterword.core.protocols import EffectKey, EvaluateContext
from afterword.core.records import Strategy, Usage
from afterword.errors import InputError
from afterword.experiments.arm_parts import FAILED, NO_LESSON, UNKNOWN, Blind, Uncharged, Unspoken, majority_of
from afterword.experiments.arms import ARMS, Arm, arm_named
from afterword.experiments.sharing import SHARED, SharedCalls
from tests.core.doubles import ListModel

T = TypeVar("T")
TASK = Task("t", "say right")


@dataclass
class Asking:
    """An actor whose attempt is what the model says, and that keeps what it was shown."""

    model: ListModel
    seen: list[tuple[str | None, tuple[str, ...]]] = field(default_factory=list)

    async def act(self, context: ActContext) -> Trajectory:
        previous = None if context.previous is None else context.previous.feedback.message
        self.seen.append((previous, tuple(lesson.text for lesson in context.lessons)))
        request = ChatRequest((Message("user", "say right"),), 10, 0.7)
        return Trajectory((await context.effects.complete("actor", self.model, request)).text)


async def says_right(context: EvaluateContext) -> Feedback:
    right = context.trajectory.output == "right"
    score = 1.0 if right else 0.5 if context.trajectory.output == "near" else 0.0
    return Feedback(right, score, "exact", message="" if right else f"not {context.trajectory.output}", graded=True)


async def lesson(context: ReflectContext) -> str:
    return f"I said {context.trial.trajectory.output}: {context.trial.feedback.message}"


def played(arm: Arm, said: Sequence[str], *, calls: int | None = None) -> tuple[Outcome, Asking]:
    """What an arm comes to when the attempts are these, three at most."""
    actor = Asking(ListModel(list(said)))
    reflexion = Reflexion(lambda _: "", says_right, lesson)  # for its adapters
    loop = Reflexion(
        arm.actor(actor, 3),
        arm.evaluator(reflexion.parts.evaluator),
        arm.reflector(reflexion.parts.reflector) if arm.strategy.reflects and reflexion.parts.reflector else None,
        strategy=arm.strategy,
        max_trials=1 if arm.one_trial else 3,
        stop_when_passed=arm.stop_when_passed,
        stop_on_repetition=arm.stop_on_repetition,
        allowance=Allowance(calls=calls),
        held_out=None if arm.sees_evaluator else says_right,
    )
    return anyio.run(loop.run, TASK), actor


@pytest.mark.parametrize(
    ("name", "said", "trials", "submitted"),
    [
        ("single", ["wrong", "right"], 1, "wrong"),
        ("retry", ["wrong", "right", "right"], 2, "right"),
        ("best_of_n", ["near", "right", "wrong"], 3, "right"),
        ("best_of_n", ["near", "wrong", "bad"], 3, "near"),
        ("majority_vote", ["wrong", "right", "Right "], 1, "right"),
        ("last_attempt", ["wrong", "right"], 2, "right"),
        ("reflexion", ["wrong", "right"], 2, "right"),
        ("last_attempt_and_reflexion", ["wrong", "right"], 2, "right"),
        ("no_tests", ["right", "right", "wrong"], 3, "wrong"),
        ("no_reflection", ["wrong", "right"], 2, "right"),
        ("no_feedback", ["wrong", "right"], 2, "right"),
    ],
)
def test_what_an_arm_submits(name: str, said: list[str], trials: int, submitted: str) -> None:
    outcome, _ = played(arm_named(name), said)
    assert outcome.best is not None
    assert (len(outcome.trials), outcome.best.trajectory.output) == (trials, submitted)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("retry", (None, ())),
        ("last_attempt", ("not wrong", ())),
        ("reflexion", (None, ("I said wrong: not wrong",))),
        ("last_attempt_and_reflexion", ("not wrong", ("I said wrong: not wrong",))),
        ("no_tests", (UNKNOWN, (f"I said wrong: {UNKNOWN}",))),
        ("no_reflection", ("not wrong", (NO_LESSON,))),
        ("no_feedback", (FAILED, (f"I said wrong: {FAILED}",))),
    ],
)
def test_what_the_second_attempt_sees(name: str, shown: tuple[str | None, tuple[str, ...]]) -> None:
    _, actor = played(arm_named(name), ["wrong", "right", "right"])
    assert actor.seen[:2] == [(None, ()), shown]


def test_the_placeholder_is_no_repeated_lesson_and_a_repeated_output_ends_its_arm_too() -> None:
    outcome, _ = played(arm_named("no_reflection"), ["wrong", "near", "right"])
    assert (outcome.status, len(outcome.trials)) == ("unverified", 3)
    outcome, _ = played(arm_named("no_reflection"), ["wrong", "wrong", "right"])
    assert outcome.stop_reason == "repeated_output"
    assert [trial.reflection.source for trial in outcome.trials if trial.reflection] == ["placeholder"]


@pytest.mark.parametrize(("last", "status"), [("right", "gave_up"), ("wrong", "gave_up")])
def test_a_blind_arm_is_judged_in_the_end(last: str, status: str) -> None:
    outcome, _ = played(arm_named("no_tests"), ["right", "wrong", last])
    assert outcome.acceptance is not None
    assert (outcome.status, outcome.acceptance.passed) == (status, last == "right")


def test_a_vote_ends_with_the_allowance_and_counts_what_was_made() -> None:
    outcome, actor = played(arm_named("majority_vote"), ["right", "wrong", "wrong"], calls=2)
    assert outcome.best is not None
    assert (outcome.best.trajectory.output, len(actor.model.requests)) == ("right", 2)


def test_the_first_of_equal_votes_counts_and_no_output_has_none() -> None:
    empty = Trajectory("", end="no_output")
    attempts = [empty, Trajectory("b"), Trajectory("a"), empty]

    async def main() -> str:
        taken = iter(attempts)

        class Next:
            async def act(self, context: ActContext) -> Trajectory:
                return next(taken)

        loop = Reflexion(majority_of(Next(), 4), says_right, max_trials=1)
        best = (await loop.run(TASK)).best
        return "" if best is None else best.trajectory.output

    assert anyio.run(main) == "b"


def test_a_vote_puts_the_world_back_before_each_attempt() -> None:
    resets: list[int] = []

    class Worldly:
        environment = object()

        async def reset(self) -> str:
            resets.append(1)
            return "fresh"

        async def act(self, context: ActContext) -> Trajectory:
            return Trajectory("a")

    anyio.run(Reflexion(majority_of(Worldly(), 3), says_right, max_trials=1).run, TASK)
    assert len(resets) == 3


@pytest.mark.parametrize("name", ARMS)
def test_every_arm_is_named_and_told(name: str) -> None:
    assert arm_named(name).name == name
    assert arm_named(name).told


def test_an_unknown_arm_is_one_clear_line() -> None:
    with pytest.raises(InputError, match="unknown arm 'reflexon'; did you mean 'reflexion'"):
        arm_named("reflexon")
    with pytest.raises(InputError, match="there are single, retry"):
        arm_named("zzz")


def test_verdicts_that_say_less_prepare_what_is_within() -> None:
    class Written:
        check_ids = ("a",)

        def check_texts(self) -> tuple[str, ...]:
            return ("half(4) == 2",)

        async def prepare(self, task: Task, effects: object) -> Written:
            return Written()

        async def evaluate(self, context: EvaluateContext) -> Feedback:
            return Feedback(False, 0.25, "exact", "why", "secret", graded=True)

    outcome = anyio.run(Reflexion(lambda _: "x", Unspoken(Written()), max_trials=1).run, TASK)
    feedback = outcome.trials[0].feedback
    assert (feedback.message, feedback.checks, feedback.score, feedback.reason) == (FAILED, (), 0.25, "failed")
    assert Blind(Written()).check_ids == ()
    assert Blind(Written()).check_texts() == Unspoken(Written()).check_texts() == ("half(4) == 2",)


@pytest.mark.parametrize("part", ["evaluator", "held_out"])
def test_a_verdict_outside_the_allowance_is_reached_and_told_apart(part: str) -> None:
    class Judge:
        check_ids = ("a",)

        def __init__(self, model: ListModel) -> None:
            self.model = model

        async def evaluate(self, context: EvaluateContext) -> Feedback:
            reply = await context.effects.complete("judge", self.model, ChatRequest((Message("user", "is it?"),), 10))
            return Feedback(reply.text == "pass", 1.0, "model")

    def run(wrapped: bool) -> Outcome:
        model = ListModel(["right", "pass"])
        judge: Judge | Uncharged = Uncharged(Judge(model)) if wrapped else Judge(model)
        evaluator, held_out = (judge, None) if part == "evaluator" else (says_right, judge)
        loop = Reflexion(Asking(model), evaluator, held_out=held_out, max_trials=1, allowance=Allowance(calls=1))
        return loop.run_sync(TASK)

    charged, free = run(wrapped=False), run(wrapped=True)
    assert (set(charged.usage), set(free.usage)) == ({"actor"}, {"actor", "uncharged"})
    assert len(charged.trials) == (part == "held_out")
    assert (len(free.trials), free.passed) == (1, True)
    assert (charged.acceptance is None, free.acceptance is None) == (True, part == "evaluator")


def test_a_verdict_outside_the_allowance_hides_nothing_of_its_evaluator() -> None:
    class Telling:
        check_ids = ("a", "b")

        def check_texts(self) -> tuple[str, ...]:
            return ("assert f(1) == 2",)

        async def evaluate(self, context: EvaluateContext) -> Feedback:
            return Feedback(True, 1.0, "exact")

    wrapped = Uncharged(Telling())
    assert (wrapped.check_ids, check_texts(wrapped)) == (("a", "b"), ("assert f(1) == 2",))


@dataclass
class Keeping:
    """A recorder that keeps the keys under which something was asked."""

    keys: list[EffectKey] = field(default_factory=list)

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        self.keys.append(key)
        return await call()


def run_arms(names: Sequence[str], said: Sequence[str], *, at_once: bool) -> tuple[list[Outcome], Keeping, ListModel]:
    kept, model = Keeping(), ListModel(list(said))
    recorder = SharedCalls(kept, [name for name in names if arm_named(name).strategy is Strategy.RETRY])
    outcomes: dict[str, Outcome] = {}

    async def one(name: str) -> None:
        loop = Reflexion(Asking(model), says_right, lesson, strategy=arm_named(name).strategy, max_trials=2)
        outcomes[name] = await loop.run(TASK, arm=name, recorder=recorder)

    async def main() -> None:
        if at_once:
            async with anyio.create_task_group() as group:
                for name in names:
                    group.start_soon(one, name)
        else:
            for name in names:
                await one(name)
        recorder.done("t", 0)

    anyio.run(main)
    return [outcomes[name] for name in names], kept, model


@pytest.mark.parametrize("at_once", [True, False])
def test_arms_share_the_first_attempt_and_no_other_that_is_told_of_it(at_once: bool) -> None:
    outcomes, kept, model = run_arms(["retry", "reflexion"], ["wrong", "right", "right"], at_once=at_once)
    assert [outcome.trials[0].trajectory.output for outcome in outcomes] == ["wrong", "wrong"]
    assert len(model.requests) == 3
    replies = [(key.arm, key.trial) for key in kept.keys if key.role.startswith("actor")]
    assert sorted(replies) == [("reflexion", 2), (SHARED, 1), (SHARED, 2)]
    assert {outcome.usage["actor"].calls for outcome in outcomes} == {2}  # each is charged in full


@pytest.mark.parametrize("at_once", [True, False])
def test_arms_that_tell_nothing_of_earlier_trials_share_the_later_ones(at_once: bool) -> None:
    outcomes, kept, model = run_arms(["retry", "best_of_n", "reflexion"], ["wrong", "right", "right"], at_once=at_once)
    assert len(model.requests) == 3
    replies = [(key.arm, key.trial) for key in kept.keys if key.role.startswith("actor")]
    assert sorted(replies) == [("reflexion", 2), (SHARED, 1), (SHARED, 2)]
    assert outcomes[0].trials[1].trajectory.output == outcomes[1].trials[1].trajectory.output
    assert {outcome.usage["actor"].calls for outcome in outcomes} == {2}


def test_another_first_question_is_not_shared() -> None:
    kept = Keeping()
    recorder = SharedCalls(kept)

    async def main() -> list[str]:
        async def said(text: str) -> Reply:
            return Reply(text, "stop", Usage(1), "m")

        replies = []
        for arm, request in (("a", "one"), ("b", "two"), ("c", "one")):
            key = EffectKey("t", arm, 0, 1, "actor", 0)
            replies.append((await recorder.effect(key, request, lambda text=arm: said(text), Reply)).text)  # type: ignore[misc]
        return replies

    assert anyio.run(main) == ["a", "b", "a"]
    assert len(kept.keys) == 2


@pytest.mark.parametrize(("role", "asked"), [("evaluator/judge", 1), ("held_out/judge", 2), ("reflector", 2)])
def test_what_judges_the_shared_attempt_is_shared_too(role: str, asked: int) -> None:
    kept = Keeping()
    recorder = SharedCalls(kept)

    async def main() -> None:
        async def said() -> Reply:
            return Reply("pass", "stop", Usage(1), "m")

        for arm in ("retry", "reflexion"):
            await recorder.effect(EffectKey("t", arm, 0, 1, role, 0), "is it right?", said, Reply)

    anyio.run(main)
    assert len(kept.keys) == asked


def test_what_is_held_is_dropped() -> None:
    recorder = SharedCalls(Keeping())

    async def main() -> int:
        async def said() -> Reply:
            return Reply("x", "stop", Usage(1), "m")

        for task in ("t", "u"):
            await recorder.effect(EffectKey(task, "a", 0, 1, "actor", 0), "?", said, Reply)
        recorder.done("t", 0)
        return len(recorder._answers)

    assert anyio.run(main) == 1
