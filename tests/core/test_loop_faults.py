"""Faults, bad input, resets and cancellation in the loop: nothing is concluded, and nothing judged is lost."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from afterword import (
    Allowance,
    Feedback,
    InputError,
    Outcome,
    Progress,
    Reflection,
    StopReason,
    Trajectory,
)
from afterword.core.effects import Effects
from afterword.core.events import Faulted
from afterword.core.protocols import ActContext, ReflectContext
from afterword.errors import ContentFiltered, ModelUnreachable, RecordingMismatch, SandboxFault, UnknownPrice
from tests.core.doubles import Heard, ListModel, StrictRecorder, ask
from tests.core.script import Script, run

FILTERED = ContentFiltered("withheld", model="m")


def outcome_of(script: Script, *, heard: Heard | None = None) -> Outcome:
    async def main() -> Outcome:
        return await run(script.parts(), heard=heard)

    return anyio.run(main)


@pytest.mark.parametrize(
    ("script", "kind", "trial", "kept"),
    [
        (Script(outputs=[FILTERED]), "ContentFiltered", 1, 0),
        (Script(outputs=["a", FILTERED]), "ContentFiltered", 2, 1),
        (Script(scores=[SandboxFault("gone")]), "SandboxFault", 1, 0),
        (Script(scores=[0.5, KeyError("x")]), "ComponentFault", 2, 1),
        (Script(lessons=[ModelUnreachable("refused", model="m")]), "ModelUnreachable", 1, 1),
        (Script(lessons=["read all", RuntimeError("x")]), "ComponentFault", 2, 2),
    ],
    ids=["actor", "actor later", "evaluator", "evaluator crash", "reflector", "reflector crash"],
)
def test_a_fault_ends_the_run_and_keeps_what_was_judged(script: Script, kind: str, trial: int, kept: int) -> None:
    heard = Heard()
    outcome = outcome_of(script, heard=heard)
    assert (outcome.status, outcome.stop_reason, len(outcome.trials)) == ("faulted", None, kept)
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.trial) == (kind, trial)
    assert heard.names()[-2:] == ["Faulted", "RunEnded"]
    assert [event.fault for event in heard if isinstance(event, Faulted)] == [outcome.fault]


def test_the_best_of_the_kept_trials_comes_with_a_fault() -> None:
    outcome = outcome_of(Script(scores=[0.5, 0.0, SandboxFault("gone")]))
    assert outcome.best is outcome.trials[0]
    assert outcome.acceptance is None


def test_a_held_out_fault_concludes_nothing_and_keeps_the_trials() -> None:
    async def main() -> Outcome:
        script = Script(scores=[0.0, 1.0])
        return await run(script.parts(held_out=Script(scores=[0.0, SandboxFault("gone")])))

    outcome = anyio.run(main)
    assert (outcome.status, outcome.stop_reason) == ("faulted", StopReason.PASSED)
    assert (len(outcome.trials), outcome.acceptance) == (2, None)
    assert outcome.fault is not None
    assert outcome.fault.kind == "SandboxFault"


def test_a_stop_rule_that_raises_is_never_taken_for_going_on() -> None:
    class Broken:
        def check(self, progress: Progress) -> StopReason | None:
            raise ZeroDivisionError("mean of no gains")

    async def main() -> Outcome:
        return await run(Script().parts(Broken()))

    outcome = anyio.run(main)
    assert (outcome.status, len(outcome.trials)) == ("faulted", 1)
    assert outcome.fault is not None
    assert "stop rule raised ZeroDivisionError" in outcome.fault.message


def test_a_memory_that_raises_is_a_fault() -> None:
    class Leaky:
        lessons: tuple[Reflection, ...] = ()

        async def remember(self, reflection: Reflection, effects: Effects) -> Leaky:
            raise OSError("disk full")

    async def main() -> Outcome:
        return await run(Script().parts(memory=Leaky()))

    outcome = anyio.run(main)
    assert outcome.fault is not None
    assert "the memory raised OSError" in outcome.fault.message


@pytest.mark.parametrize("error", [InputError("no test is defined"), RecordingMismatch("another request")])
def test_bad_input_is_raised_and_blamed_on_nobody(error: InputError) -> None:
    with pytest.raises(type(error)):
        outcome_of(Script(scores=[error]))


def test_a_cost_budget_without_a_price_is_raised() -> None:
    class Asking(Script):
        async def act(self, context: ActContext) -> Trajectory:
            await context.effects.complete("actor", ListModel(["a"], price=None), ask())
            return await super().act(context)

    async def main() -> Outcome:
        return await run(Asking().parts(), allowance=Allowance(cost_usd=1.0))

    with pytest.raises(UnknownPrice):
        anyio.run(main)


class World(Script):
    """A script with a world, whose fresh state is the next of a list."""

    states: list[str | Exception]
    tools = ()

    async def reset(self) -> str:
        self.did.append("reset")
        state = self.states.pop(0)
        if isinstance(state, Exception):
            raise state
        return state


def world(*states: str | Exception) -> World:
    made = World()
    made.states = list(states)
    return made


def test_the_world_is_put_back_before_each_trial() -> None:
    script = world("fresh", "fresh", "fresh")
    outcome = outcome_of(script)
    assert outcome.stop_reason is StopReason.MAX_TRIALS
    moves = [step for step in script.did if step.startswith(("reset", "act"))]
    assert moves == ["reset", "act 1", "reset", "act 2", "reset", "act 3"]


def test_another_fresh_state_is_a_fault_before_the_trial_acts() -> None:
    script = world("fresh", "fresh", "a door is open")
    outcome = outcome_of(script)
    assert (outcome.status, len(outcome.trials)) == ("faulted", 2)
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.trial) == ("ResetFault", 3)
    assert script.did[-1] == "reset"


def test_a_reset_that_raises_is_a_fault() -> None:
    outcome = outcome_of(world("fresh", ConnectionError("the game is gone")))
    assert outcome.fault is not None
    assert outcome.fault.message == "the reset raised ConnectionError: the game is gone"


def test_cancelling_from_outside_ends_at_once_and_leaves_no_task() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("waiting")

    async def main() -> None:
        with anyio.CancelScope() as scope:

            class Waiting(Script):
                async def reflect(self, context: ReflectContext) -> Reflection | None:
                    async with anyio.create_task_group() as group:
                        group.start_soon(wait)
                        await anyio.lowlevel.checkpoint()
                        scope.cancel()
                    return None

            script = Waiting()
            await run(script.parts())
            pytest.fail("the loop went on")
        assert scope.cancelled_caught
        assert ended == ["waiting"]
        assert script.did == ["act 1", "evaluator 1"]
        assert len(anyio.get_running_tasks()) == 1

    anyio.run(main)


def test_a_time_limit_from_outside_holds() -> None:
    class Hanging(Script):
        async def act(self, context: ActContext) -> Trajectory:
            await anyio.sleep_forever()
            raise AssertionError

    async def main() -> None:
        with anyio.move_on_after(0.01) as scope:
            await run(Hanging().parts())
        assert scope.cancelled_caught

    anyio.run(main)


class Recorded(Script):
    """A script whose every move is an effect, so that a recorder can answer for it."""

    async def act(self, context: ActContext) -> Trajectory:
        act = super().act
        seen = (context.number, context.lessons)
        return await context.effects.effect("actor", seen, lambda: act(context), Trajectory)

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        reflect = super().reflect

        async def call() -> Reflection:
            return await reflect(context) or Reflection("", context.trial.number)

        return await context.effects.effect("reflector", context.trial, call, Reflection)


def test_a_run_continued_at_any_moment_ends_as_if_never_interrupted() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        held_out = Script(scores=[0.0, 0.0, 1.0])

        def script() -> Recorded:
            return Recorded(scores=[0.0, 0.5, 1.0])

        whole = await run(script().parts(held_out=held_out), recorder=recorder)
        assert whole.status == "accepted"
        for kept in range(len(recorder.stored) + 1):
            restarted = recorder.after_restart(kept)
            again = await run(script().parts(held_out=held_out), recorder=restarted)
            assert again == whole
            assert len(restarted.answered) == kept
            assert len(restarted.called) == len(recorder.called) - kept

    anyio.run(main)


def test_a_continued_run_with_another_task_is_refused() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        await run(Recorded().parts(), recorder=recorder)
        other = replace(Recorded().parts(), actor=Recorded(), reflector=Recorded(lessons=["x"]))
        recorder.stored.pop(next(key for key in recorder.stored if key.role == "reflector"))
        with pytest.raises(RecordingMismatch):
            await run(other, recorder=recorder)

    anyio.run(main)


def test_a_feedback_with_an_impossible_score_faults_the_evaluator() -> None:
    class Generous(Script):
        async def evaluate(self, context: object) -> Feedback:
            return Feedback(True, 1.2, "model")

    outcome = outcome_of(Generous())
    assert outcome.fault is not None
    assert outcome.fault.message == "the evaluator raised ValueError: a score must be in [0, 1], found 1.2"
