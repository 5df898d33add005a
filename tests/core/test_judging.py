"""Both verdicts, and what is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import pytest

from afterword import (
    Acceptance,
    ActContext,
    Allowance,
    EvaluateContext,
    Feedback,
    Reflexion,
    Task,
    Trajectory,
    Trial,
)
from afterword.core.events import AcceptanceReached
from afterword.core.judging import accept, best_of, evaluate, status_of
from afterword.core.records import Status
from afterword.errors import ComponentFault, SandboxFault
from tests.core.doubles import TASK, Heard, ListModel, ask, checks, make_effects, make_trial


@dataclass
class Judge:
    """Gives one verdict, or raises it, and counts how often it is asked."""

    verdict: Feedback | Exception
    check_ids: tuple[str, ...] = ("case:1", "case:2")
    asked: list[EvaluateContext] = field(default_factory=list)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        self.asked.append(context)
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict


FAILED = Feedback(False, 0.5, "isolated", "failed", "case:2 failed", checks(True, False), isolation="namespaces")
PASSED = Feedback(True, 1.0, "isolated", "ok", "", checks(True, True), isolation="namespaces")
NOTHING = Trajectory("", end="no_output", detail="The reply held no code.")


def visible(judge: Judge, trajectory: Trajectory) -> Feedback:
    async def main() -> Feedback:
        return await evaluate(TASK, trajectory, judge, make_effects())

    return anyio.run(main)


def held_out(judge: Judge, trial: Trial) -> Acceptance | None:
    async def main() -> Acceptance | None:
        return await accept(TASK, trial, judge, make_effects())

    return anyio.run(main)


def test_a_trajectory_is_judged_once() -> None:
    judge = Judge(FAILED)
    assert visible(judge, Trajectory("out")) is FAILED
    assert [context.role for context in judge.asked] == ["evaluator"]


@pytest.mark.parametrize("end", ["finished", "stuck", "step_limit"])
def test_every_end_with_something_to_judge_is_judged(end: str) -> None:
    judge = Judge(FAILED)
    visible(judge, Trajectory("", end=end))  # type: ignore[arg-type]  # one of the ends
    assert len(judge.asked) == 1


def test_no_output_fails_every_known_check_unjudged() -> None:
    judge = Judge(PASSED)
    feedback = visible(judge, NOTHING)
    assert judge.asked == []
    assert (feedback.passed, feedback.score, feedback.reason) == (False, 0.0, "no_output")
    assert feedback.message == "The reply held no code."
    assert feedback.failed_ids == ("case:1", "case:2")


def test_no_output_without_detail_still_says_what_happened() -> None:
    assert visible(Judge(PASSED), Trajectory("", end="no_output")).message


def test_an_evaluator_that_crashes_gives_no_verdict() -> None:
    with pytest.raises(ComponentFault, match="the evaluator raised KeyError"):
        visible(Judge(KeyError("x")), Trajectory("out"))


def test_an_evaluator_that_returns_no_feedback_gives_no_verdict() -> None:
    with pytest.raises(ComponentFault, match="expected a result of Feedback, found True"):
        visible(Judge(True), Trajectory("out"))  # type: ignore[arg-type]  # as a user without a type checker would


def test_acceptance_has_counts_and_no_text() -> None:
    acceptance = held_out(Judge(FAILED), make_trial(1, "out"))
    assert acceptance == Acceptance(False, 1, 2, "isolated", "failed", "namespaces")


def test_acceptance_without_checks_counts_as_one() -> None:
    right, wrong = Feedback(True, 1.0, "exact"), Feedback(False, 0.0, "exact")
    assert held_out(Judge(right), make_trial(1, "out")) == Acceptance(True, 1, 1, "exact")
    assert held_out(Judge(wrong), make_trial(1, "out")) == Acceptance(False, 0, 1, "exact")


def test_the_held_out_check_is_asked_under_its_own_role() -> None:
    judge = Judge(PASSED)
    held_out(judge, make_trial(3, "out"))
    assert [(context.role, context.number) for context in judge.asked] == [("held_out", 3)]


def test_no_output_is_rejected_unjudged() -> None:
    judge = Judge(PASSED)
    assert held_out(judge, make_trial(1, trajectory=NOTHING)) == Acceptance(False, 0, 2, "exact", "no_output")
    assert judge.asked == []


def test_a_held_out_fault_is_passed_on() -> None:
    with pytest.raises(SandboxFault):
        held_out(Judge(SandboxFault("gone")), make_trial(1, "out"))


def test_acceptance_is_told() -> None:
    async def main() -> None:
        heard = Heard()
        acceptance = await accept(TASK, make_trial(1, "out"), Judge(PASSED), make_effects(heard=heard))
        assert acceptance is not None
        assert heard == [AcceptanceReached("t", acceptance)]

    anyio.run(main)


def test_a_held_out_check_that_cannot_be_paid_is_none() -> None:
    class Opinion:
        check_ids = ()

        async def evaluate(self, context: EvaluateContext) -> Feedback:
            await context.effects.complete(context.role, ListModel(["yes"]), ask(max_tokens=100))
            pytest.fail("the call was made")

    async def main() -> None:
        effects = make_effects(allowance=Allowance(tokens=50))
        assert await accept(Task("t", "x"), make_trial(1, "out"), Opinion(), effects) is None

    anyio.run(main)


def test_the_best_trial_has_the_highest_score_and_is_the_latest_among_equals() -> None:
    trials = [make_trial(number, score=score) for number, score in enumerate((0.2, 0.7, 0.7, 0.1), 1)]
    assert best_of(trials) is trials[2]


def test_a_passing_trial_is_the_best_whatever_its_score() -> None:
    passing = Trial(1, Trajectory("a"), Feedback(True, 0.9, "model"))
    assert best_of([passing, make_trial(2, score=0.95)]) is passing


def test_without_trials_there_is_no_best() -> None:
    assert best_of([]) is None


ACCEPTED, REJECTED = Acceptance(True, 2, 2, "exact"), Acceptance(False, 1, 2, "exact")


@pytest.mark.parametrize(
    ("best", "acceptance", "faulted", "status"),
    [
        (make_trial(1, score=1.0), ACCEPTED, False, "accepted"),
        (make_trial(1, score=1.0), REJECTED, False, "rejected"),
        (make_trial(1, score=1.0), None, False, "unverified"),
        (make_trial(1, score=0.5), ACCEPTED, False, "gave_up"),
        (make_trial(1, score=0.5), REJECTED, False, "gave_up"),
        (None, None, False, "gave_up"),
        (make_trial(1, score=1.0), None, True, "faulted"),
        (None, None, True, "faulted"),
    ],
)
def test_status(best: Trial | None, acceptance: Acceptance | None, faulted: bool, status: Status) -> None:
    assert status_of(best, acceptance, faulted) == status


async def _program(context: ActContext) -> str:
    return ["right", "worse", "also right"][context.number - 1]


async def _fails(context: EvaluateContext) -> Feedback:
    """Fails all three, of which it likes the second best."""
    return Feedback(False, {"worse": 0.9}.get(context.trajectory.output, 0.1), "exact", "failed")


async def _knows(context: EvaluateContext) -> Feedback:
    return Feedback("right" in context.trajectory.output, 1.0, "isolated")


def test_what_had_been_submitted_after_each_trial_is_judged_in_the_end_where_that_is_asked_for() -> None:
    plain = Reflexion(_program, _fails, held_out=_knows, max_trials=3).run_sync(TASK)
    each = Reflexion(_program, _fails, held_out=_knows, max_trials=3, accept_each=True).run_sync(TASK)
    assert (plain.accepted_by_trial, each.accepted_by_trial) == ((), (True, False, False))
    assert plain.acceptance == each.acceptance == Acceptance(False, 0, 1, "isolated")
    assert each.best is not None
    assert each.best.number == 2


def test_a_fault_of_such_a_verdict_leaves_it_unknown_and_nothing_else() -> None:
    async def shaky(context: EvaluateContext) -> Feedback:
        if context.trajectory.output == "right":
            raise SandboxFault("the sandbox was lost")
        return await _knows(context)

    outcome = Reflexion(_program, _fails, held_out=shaky, max_trials=3, accept_each=True).run_sync(TASK)
    assert (outcome.accepted_by_trial, outcome.fault) == ((None, False, False), None)
