"""An evaluator that is prepared: once, before the first trial, at trial 0, and what it raises is never a pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import pytest

from afterword import Allowance, Feedback, Outcome, Reflexion, Task
from afterword.core.effects import Effects
from afterword.core.protocols import EvaluateContext, Evaluator, Preparable
from afterword.errors import Fault, SandboxFault
from tests.core.doubles import TASK, ListModel, StrictRecorder, ask


@dataclass
class Asks:
    """An evaluator that asks a model, before the first trial, what is right."""

    model: ListModel
    prepared: list[int] = field(default_factory=list)
    check_ids: tuple[str, ...] = ()

    async def prepare(self, task: Task, effects: Effects) -> Evaluator:
        self.prepared.append(effects.trial)
        reply = await effects.complete("asks", self.model, ask())
        return Knows(reply.text)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        raise AssertionError("the unprepared evaluator judges nothing")


@dataclass
class Knows:
    """The evaluator that it becomes."""

    right: str
    check_ids: tuple[str, ...] = ("right",)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        passed = context.trajectory.output == self.right
        return Feedback(passed, float(passed), "exact")


def run(evaluator: Asks, *outputs: str, recorder: StrictRecorder | None = None, tokens: int | None = None) -> Outcome:
    loop = Reflexion(
        lambda context: outputs[context.number - 1],
        evaluator,
        max_trials=len(outputs),
        allowance=Allowance(tokens=tokens),
    )
    return anyio.run(lambda: loop.run(TASK, recorder=recorder))


def test_evaluator_is_prepared_once_for_all_trials() -> None:
    evaluator = Asks(ListModel(["yes"]))
    assert isinstance(evaluator, Preparable)
    outcome = run(evaluator, "no", "never", "yes")
    assert (outcome.status, len(outcome.trials), evaluator.prepared) == ("unverified", 3, [0])


def test_its_calls_are_charged_to_the_run_and_to_no_trial() -> None:
    outcome = run(Asks(ListModel(["yes"])), "yes")
    assert outcome.usage["asks"].calls == 1
    assert "asks" not in outcome.trials[0].usage


def test_its_calls_stand_under_trial_0_and_are_not_made_again() -> None:
    recorder = StrictRecorder()
    first = run(Asks(ListModel(["yes"])), "no", "yes", recorder=recorder)
    assert [(key.trial, key.n) for key in recorder.stored if key.role == "asks"] == [(0, 0)]
    assert run(Asks(ListModel([])), "no", "yes", recorder=recorder.after_restart()).trials == first.trials


def test_checks_of_the_prepared_one_fail_an_attempt_without_output() -> None:
    assert run(Asks(ListModel(["yes"])), "").trials[0].feedback.failed_ids == ("right",)


@pytest.mark.parametrize("fault", [SandboxFault("broken"), Fault("nothing to judge by")])
def test_fault_ends_the_run_before_the_first_trial(fault: Fault) -> None:
    outcome = run(Asks(ListModel([fault])), "yes")
    assert (outcome.status, outcome.trials) == ("faulted", ())
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.trial) == (type(fault).__name__, 0)


def test_crash_is_a_fault_of_the_evaluator() -> None:
    outcome = run(Asks(ListModel([])), "yes")
    assert outcome.fault is not None
    assert (outcome.fault.kind, "the evaluator raised IndexError" in outcome.fault.message) == ("ComponentFault", True)


def test_budget_that_cannot_carry_it_ends_the_run_without_a_verdict() -> None:
    outcome = run(Asks(ListModel(["yes"])), "yes", tokens=1)
    assert (outcome.status, outcome.stop_reason, outcome.trials) == ("gave_up", "tokens", ())
