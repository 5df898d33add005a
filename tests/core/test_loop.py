"""The loop: its order, what each trial gets to see, and how it ends."""

from __future__ import annotations

import anyio
import pytest

from afterword import (
    ActContext,
    Allowance,
    BudgetExhausted,
    Cancellation,
    CheckResult,
    EvaluateContext,
    FakeClock,
    Feedback,
    Outcome,
    Parts,
    Plateau,
    Progress,
    ReflectContext,
    Reflection,
    RepeatedOutput,
    RepeatedReflection,
    SlidingWindow,
    StopReason,
    StopRule,
    Strategy,
    Trajectory,
    Usage,
)
from afterword.core.events import Evaluated, Reflected, RunEnded, TrialStarted
from afterword.core.stopping import MaxSeconds
from tests.core.doubles import Heard, ListModel, StrictRecorder, ask
from tests.core.script import NOTHING, Script, run


def outcome_of(parts: Parts, **settings: object) -> Outcome:
    async def main() -> Outcome:
        return await run(parts, **settings)  # type: ignore[arg-type]  # passed on as they come

    return anyio.run(main)


def test_act_evaluate_reflect_in_the_order_of_the_paper() -> None:
    script = Script()
    outcome = outcome_of(script.parts(max_trials=3))
    assert script.did == [
        *("act 1", "evaluator 1", "reflect 1"),
        *("act 2", "evaluator 2", "reflect 2"),
        *("act 3", "evaluator 3"),
    ]
    assert (outcome.status, outcome.stop_reason) == ("gave_up", StopReason.MAX_TRIALS)


def test_no_reflection_after_a_pass() -> None:
    script = Script(scores=[0.0, 1.0])
    outcome = outcome_of(script.parts())
    assert script.did == ["act 1", "evaluator 1", "reflect 1", "act 2", "evaluator 2"]
    assert (outcome.status, outcome.stop_reason) == ("unverified", StopReason.PASSED)
    assert [trial.reflection is None for trial in outcome.trials] == [False, True]


def test_events_tell_the_run_in_order() -> None:
    heard = Heard()
    script = Script(scores=[0.0, 1.0])
    outcome = outcome_of(script.parts(held_out=Script(scores=[1.0, 1.0])), heard=heard)
    assert heard.names() == [
        "RunStarted",
        *("TrialStarted", "Evaluated", "Reflected"),
        *("TrialStarted", "Evaluated"),
        *("Stopped", "AcceptanceReached", "RunEnded"),
    ]
    assert heard[-1] == RunEnded("t", outcome)
    started = [event for event in heard if isinstance(event, TrialStarted)]
    assert [(event.trial, event.lessons) for event in started] == [(1, ()), (2, (1,))]
    assert [event.feedback for event in heard if isinstance(event, Evaluated)] == [t.feedback for t in outcome.trials]
    assert [event.reflection for event in heard if isinstance(event, Reflected)] == [outcome.trials[0].reflection]


@pytest.mark.parametrize(
    ("strategy", "lessons", "previous", "reflections"),
    [
        (Strategy.RETRY, [(), (), ()], [None, None, None], 0),
        (Strategy.LAST_ATTEMPT, [(), (), ()], [None, 1, 2], 0),
        (Strategy.REFLEXION, [(), (1,), (1, 2)], [None, None, None], 2),
        (Strategy.LAST_ATTEMPT_AND_REFLEXION, [(), (1,), (1, 2)], [None, 1, 2], 2),
    ],
)
def test_what_a_strategy_hands_to_the_next_trial(
    strategy: Strategy, lessons: list[tuple[int, ...]], previous: list[int | None], reflections: int
) -> None:
    script = Script()
    outcome = outcome_of(script.parts(strategy=strategy))
    assert [tuple(lesson.trial for lesson in context.lessons) for context in script.acted] == lessons
    assert [context.previous and context.previous.number for context in script.acted] == previous
    assert [trial.lessons_shown for trial in outcome.trials] == lessons
    assert len(script.reflected) == reflections


@pytest.mark.parametrize("strategy", [Strategy.RETRY, Strategy.LAST_ATTEMPT])
def test_lessons_of_before_are_kept_from_a_strategy_without_lessons(strategy: Strategy) -> None:
    script = Script()
    outcome_of(script.parts(strategy=strategy, memory=SlidingWindow(3, (Reflection("read all", 0),))))
    assert [context.lessons for context in script.acted] == [(), (), ()]


def test_the_previous_trial_comes_with_its_reflection() -> None:
    script = Script()
    outcome_of(script.parts(strategy=Strategy.LAST_ATTEMPT_AND_REFLEXION, max_trials=2))
    previous = script.acted[1].previous
    assert previous is not None
    assert previous.reflection == Reflection("read all", 1)


def test_the_reflector_sees_the_trial_and_the_lessons_it_had() -> None:
    script = Script()
    outcome_of(script.parts())
    assert [(context.trial.number, [lesson.trial for lesson in context.lessons]) for context in script.reflected] == [
        (1, []),
        (2, [1]),
    ]
    assert script.reflected[0].trial.trajectory.output == "output 1"


def test_memory_keeps_the_last_lessons_in_order() -> None:
    script = Script()
    outcome = outcome_of(script.parts(max_trials=4, memory=SlidingWindow(2)))
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (1, 2), (2, 3)]


def test_a_retracted_lesson_is_not_shown_any_more() -> None:
    script = Script(lessons=["read all", Reflection("not so", 2, retracts=(1,)), "mind case"])
    outcome = outcome_of(script.parts(max_trials=4))
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (2,), (2, 3)]


def test_a_trial_without_lesson_hands_on_the_others() -> None:
    outcome = outcome_of(Script(lessons=["read all", None]).parts())
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (1,)]
    assert outcome.trials[1].reflection is None


def test_a_reflector_is_not_needed_where_nothing_is_reflected() -> None:
    script = Script()
    parts = script.parts(strategy=Strategy.LAST_ATTEMPT)
    outcome = outcome_of(Parts(script, script, None, parts.memory, parts.stop, parts.strategy, None))
    assert len(outcome.trials) == 3


def test_the_best_trial_is_the_latest_among_equals() -> None:
    outcome = outcome_of(Script(scores=[0.25, 0.5, 0.5, 0.25]).parts(max_trials=4))
    assert outcome.best is outcome.trials[2]
    assert not outcome.passed


def test_no_output_is_a_failed_trial_that_nobody_judges() -> None:
    script = Script(outputs=[NOTHING, "out"], scores=[1.0, 1.0])
    outcome = outcome_of(script.parts())
    assert script.did == ["act 1", "reflect 1", "act 2", "evaluator 2"]
    assert outcome.trials[0].feedback.checks == (
        CheckResult("case:1", False, "not reached"),
        CheckResult("case:2", False, "not reached"),
    )
    assert outcome.trials[0].feedback.message == "The reply held no code."


def test_a_repeated_output_ends_the_loop_before_another_reflection() -> None:
    script = Script(outputs=["A", "B", "A"])
    outcome = outcome_of(script.parts(RepeatedOutput(), max_trials=9))
    assert outcome.stop_reason is StopReason.REPEATED_OUTPUT
    assert script.did[-1] == "evaluator 3"


def test_a_repeated_lesson_ends_the_loop_before_another_trial() -> None:
    outcome = outcome_of(
        Script(lessons=["read all", "check zero", "Read all!"]).parts(RepeatedReflection(), max_trials=9)
    )
    assert outcome.stop_reason is StopReason.REPEATED_REFLECTION
    assert len(outcome.trials) == 3
    assert outcome.trials[2].reflection == Reflection("Read all!", 3)


def test_a_plateau_ends_the_loop_where_it_is_asked_for() -> None:
    scores = [0.5, 0.5, 0.5, 0.5]
    assert len(outcome_of(Script(scores=scores).parts(max_trials=4)).trials) == 4
    outcome = outcome_of(Script(scores=scores).parts(Plateau(), max_trials=4))
    assert (len(outcome.trials), outcome.stop_reason) == (3, StopReason.PLATEAU)


def test_cancelling_lets_the_step_finish_and_ends_the_loop() -> None:
    cancellation = Cancellation()

    class Impatient(Script):
        async def act(self, context: ActContext) -> Trajectory:
            cancellation.cancel()
            return await super().act(context)

    script = Impatient()
    outcome = outcome_of(script.parts(cancellation))
    assert (outcome.status, outcome.stop_reason) == ("gave_up", StopReason.CANCELLED)
    assert script.did == ["act 1", "evaluator 1"]


def test_wall_time_ends_the_loop() -> None:
    clock = FakeClock()

    class Slow(Script):
        async def evaluate(self, context: EvaluateContext) -> Feedback:
            clock.now += 2.0
            return await super().evaluate(context)

    outcome = outcome_of(Slow().parts(MaxSeconds(4.0), max_trials=9), clock=clock)
    assert (len(outcome.trials), outcome.stop_reason) == (2, StopReason.TIME)


@pytest.mark.parametrize(("rules", "readings"), [((), 0), ((Plateau(),), 0), ((MaxSeconds(4.0),), 4)])
def test_the_clock_is_read_for_a_rule_that_looks_at_it(rules: tuple[StopRule, ...], readings: int) -> None:
    recorder = StrictRecorder()
    outcome_of(Script().parts(*rules, max_trials=2), recorder=recorder)
    assert [key.role for key in recorder.called] == ["clock"] * readings


def test_a_rule_of_others_is_told_the_time() -> None:
    clock = FakeClock()
    seen: list[float] = []

    class Watching:
        def check(self, progress: Progress) -> StopReason | None:
            clock.now += 2.0
            seen.append(progress.elapsed_s)
            return None

    outcome_of(Script().parts(Watching(), max_trials=2), clock=clock)
    assert seen == [0.0, 2.0]


@pytest.mark.parametrize("lessons", [["read all"], [None]], ids=["a lesson", "no lesson"])
def test_a_rule_sees_every_trial_twice(lessons: list[str | None]) -> None:
    seen: list[tuple[int, bool]] = []

    class Watching:
        def check(self, progress: Progress) -> StopReason | None:
            seen.append((len(progress.trials), progress.trials[-1].reflection is not None))
            return None

    outcome_of(Script(lessons=lessons).parts(Watching(), max_trials=2))
    assert seen == [(1, False), (1, lessons != [None])]


@pytest.mark.parametrize(
    ("visible", "hidden", "status"),
    [(1.0, 1.0, "accepted"), (1.0, 0.5, "rejected"), (0.5, 1.0, "gave_up"), (0.5, 0.5, "gave_up")],
)
def test_the_held_out_check_decides_on_a_pass_and_on_nothing_else(visible: float, hidden: float, status: str) -> None:
    held_out = Script(scores=[hidden, hidden])
    outcome = outcome_of(Script(scores=[0.0, visible]).parts(max_trials=2, held_out=held_out))
    assert outcome.status == status
    assert held_out.did == ["held_out 2"]
    assert outcome.acceptance is not None
    assert outcome.acceptance.passed is (hidden == 1.0)


def test_the_held_out_check_judges_the_best_of_the_failed_trials() -> None:
    held_out = Script()
    outcome_of(Script(scores=[0.0, 0.5, 0.0]).parts(held_out=held_out))
    assert held_out.did == ["held_out 2"]


class Asking(Script):
    """Acts and reflects by asking a model, so that both cost something."""

    model: ListModel

    async def act(self, context: ActContext) -> Trajectory:
        await context.effects.complete("actor", self.model, ask(max_tokens=10))
        return await super().act(context)

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        await context.effects.complete("reflector", self.model, ask(max_tokens=10))
        return await super().reflect(context)


def asking(**lists: list[float]) -> Asking:
    script = Asking(**lists)  # type: ignore[arg-type]  # passed on as they come
    script.model = ListModel(["yes"] * 20)
    return script


def test_usage_is_kept_by_role_and_trial_and_in_all() -> None:
    outcome = outcome_of(asking(scores=[0.0, 1.0]).parts())
    one = Usage(1, 1, 1)
    assert [trial.usage for trial in outcome.trials] == [{"actor": one, "reflector": one}, {"actor": one}]
    assert outcome.usage == {"actor": one + one, "reflector": one}
    assert outcome.total_usage == Usage(3, 3, 3)


def test_a_refused_first_call_leaves_no_trial() -> None:
    outcome = outcome_of(asking().parts(), allowance=Allowance(tokens=5))
    assert (outcome.status, outcome.stop_reason) == ("gave_up", StopReason.TOKENS)
    assert (outcome.best, outcome.trials, outcome.usage) == (None, (), {})


def test_a_trial_is_kept_when_its_reflection_cannot_be_paid() -> None:
    outcome = outcome_of(asking(scores=[0.5]).parts(), allowance=Allowance(calls=1))
    assert (outcome.status, outcome.stop_reason) == ("gave_up", StopReason.CALLS)
    assert len(outcome.trials) == 1
    assert outcome.best is outcome.trials[0]
    assert outcome.best.reflection is None


def test_what_half_a_reflection_used_is_in_its_trial() -> None:
    class AskingTwice(Asking):
        async def reflect(self, context: ReflectContext) -> Reflection | None:
            await context.effects.complete("reflector", self.model, ask())
            return await super().reflect(context)

    script = AskingTwice()
    script.model = ListModel(["yes"] * 9)
    outcome = outcome_of(script.parts(), allowance=Allowance(calls=2))
    assert outcome.stop_reason is StopReason.CALLS
    assert outcome.trials[0].usage == outcome.usage
    assert outcome.usage["reflector"].calls == 1


def test_a_refused_call_in_a_later_trial_keeps_the_earlier_ones_and_what_was_paid() -> None:
    class AskingTwice(Asking):
        async def act(self, context: ActContext) -> Trajectory:
            await context.effects.complete("actor", self.model, ask())
            return await super().act(context)

    script = AskingTwice(scores=[0.5])
    script.model = ListModel(["yes"] * 9)
    outcome = outcome_of(script.parts(), allowance=Allowance(calls=4))
    assert (len(outcome.trials), outcome.stop_reason) == (1, StopReason.CALLS)
    assert outcome.total_usage.calls == 4


def test_calls_in_parallel_inside_an_actor_stop_the_loop_and_fault_nothing() -> None:
    class Parallel(Asking):
        async def act(self, context: ActContext) -> Trajectory:
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(context.effects.complete, "actor", self.model, ask())
            return await super().act(context)

    script = Parallel()
    script.model = ListModel(["yes"] * 9)
    outcome = outcome_of(script.parts(), allowance=Allowance(calls=2))
    assert (outcome.status, outcome.stop_reason) == ("gave_up", StopReason.CALLS)


def test_a_refusal_that_a_part_raises_itself_is_a_stop() -> None:
    outcome = outcome_of(Script(outputs=["a", BudgetExhausted("time", 1.0, 2.0)]).parts())
    assert (outcome.status, outcome.stop_reason, len(outcome.trials)) == ("gave_up", StopReason.TIME, 1)
