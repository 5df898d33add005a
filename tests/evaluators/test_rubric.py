"""A rubric: its arithmetic, its lock, what it refuses, and criteria of every kind among them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import Reflexion, Task
from afterword.core.effects import Effects
from afterword.core.functions import EvaluateFunction
from afterword.core.protocols import EvaluateContext, Evaluator
from afterword.core.records import CheckResult, Feedback, Limits, Step, Trajectory, Trust
from afterword.errors import ComponentFault, Fault, InputError, RunChanged, SandboxFault
from afterword.evaluators.command import CommandCheck, CommandTests, ResultFormat, Snapshot
from afterword.evaluators.rubric import (
    _STRONGEST_FIRST,
    Criterion,
    ForbiddenActions,
    Rubric,
    StepEfficiency,
    rubric_fingerprints,
)
from afterword.journal import RunSpec, open_journal
from afterword.sandbox import open_sandbox
from tests.evaluators.contexts import context_of

pytestmark = pytest.mark.anyio


def passes(_: EvaluateContext) -> bool:
    return True


def fails(_: EvaluateContext) -> tuple[bool, str]:
    return False, "the answer names no source"


def half(_: EvaluateContext) -> float:
    return 0.5


@dataclass(frozen=True)
class Fixed:
    """An evaluator whose verdict is given."""

    score: float
    trust: Trust = "exact"
    isolation: str = ""
    check_ids: tuple[str, ...] = ()

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        return Feedback(self.score >= 1, self.score, self.trust, "ok", "", isolation=self.isolation)


def rubric(*weighted: tuple[float, Evaluator | EvaluateFunction], threshold: float = 0.85) -> Rubric:
    criteria = [Criterion(f"c{number}", weight, each) for number, (weight, each) in enumerate(weighted)]
    return Rubric(criteria, threshold=threshold)


async def test_the_weighted_mean_is_held_against_the_threshold() -> None:
    feedback = await rubric((0.6, passes), (0.3, half), (0.1, fails)).evaluate(context_of("x"))
    assert not feedback.passed
    assert feedback.score == pytest.approx(0.75)
    assert feedback.failed_ids == ("c1", "c2")
    assert "rubric: 0.75 of 1, 0.85 needed" in feedback.message
    assert "c2 (0 of 1, weight 0.1): the answer names no source" in feedback.message


async def test_a_passing_rubric_scores_1_and_says_which_criterion_failed() -> None:
    feedback = await rubric((0.9, passes), (0.1, fails)).evaluate(context_of("x"))
    assert (feedback.passed, feedback.score, feedback.reason) == (True, 1.0, "ok")
    assert feedback.failed_ids == ("c1",)


async def test_a_score_at_the_threshold_passes_whatever_the_rounding() -> None:
    tenths = [(0.1, Fixed(1.0 if number < 7 else 0.0)) for number in range(10)]
    assert (await rubric(*tenths, threshold=0.7).evaluate(context_of("x"))).passed
    assert not (await rubric(*tenths, threshold=0.71).evaluate(context_of("x"))).passed


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1)), min_size=1, max_size=8), st.floats(0.01, 1))
def test_score_is_1_exactly_when_it_passes(parts: list[tuple[float, float]], threshold: float) -> None:
    total = math.fsum(weight for weight, _ in parts)
    made = rubric(*((weight / total, Fixed(score)) for weight, score in parts), threshold=threshold)
    verdict = made._verdict([Feedback(score >= 1, score, "exact") for _, score in parts])
    mean = math.fsum(weight / total * score for weight, score in parts)
    assert verdict.passed == (verdict.score == 1.0) == (mean >= threshold - 1e-9)
    assert 0 <= verdict.score <= 1


async def test_trust_is_that_of_the_weakest_criterion() -> None:
    mixed = rubric((0.5, Fixed(1.0, "isolated", "namespaces")), (0.3, Fixed(1.0, "model")), (0.2, Fixed(1.0, "exact")))
    feedback = await mixed.evaluate(context_of("x"))
    assert (feedback.trust, feedback.isolation) == ("model", "namespaces")


def test_every_trust_has_its_rank() -> None:
    assert sorted(_STRONGEST_FIRST) == sorted(get_args(Trust))


async def test_what_a_criterion_raises_is_a_fault_with_its_name_and_no_score() -> None:
    def broken(_: EvaluateContext) -> bool:
        raise ZeroDivisionError("oh")

    with pytest.raises(ComponentFault, match="criterion 'c1' raised ZeroDivisionError"):
        await rubric((0.99, passes), (0.01, broken)).evaluate(context_of("x"))


async def test_a_fault_of_a_criterion_stays_what_it_is() -> None:
    def broken(_: EvaluateContext) -> bool:
        raise SandboxFault("no jail")

    with pytest.raises(SandboxFault):
        await rubric((1.0, broken)).evaluate(context_of("x"))


@pytest.mark.parametrize(
    ("criteria", "threshold", "said"),
    [
        ([], 0.85, "at least one criterion"),
        ([("a", 0.4), ("b", 0.5)], 0.85, "must sum to 1, found 0.9 (a 0.4, b 0.5)"),
        ([("a", 0.6), ("b", 0.6)], 0.85, "must sum to 1, found 1.2"),
        ([("a", 0.5), ("a", 0.5)], 0.85, "two criteria are named 'a'"),
        ([("a", 1.5), ("b", -0.5)], 0.85, "the weight of 'a'"),
        ([("a", math.nan)], 0.85, "the weight of 'a'"),
        ([("a", json.loads('"1"'))], 0.85, "the weight of 'a'"),
        ([("a", 1.0), ("b", 0.0)], 0.85, "the weight of 'b'"),
        ([(" ", 1.0)], 0.85, "needs a name"),
        ([("a", 1.0)], 0.0, "threshold"),
        ([("a", 1.0)], 1.01, "threshold"),
        ([("a", 1.0)], math.nan, "threshold"),
    ],
)
def test_what_is_no_rubric_is_refused(criteria: list[tuple[str, float]], threshold: float, said: str) -> None:
    with pytest.raises(InputError) as refused:
        Rubric([Criterion(name, weight, passes) for name, weight in criteria], threshold=threshold)
    assert said in str(refused.value)


def test_weights_written_as_thirds_sum_to_1() -> None:
    assert rubric(*[(1 / 3, passes)] * 3).check_ids == ("c0", "c1", "c2")


class TestLock:
    def test_equal_rubrics_have_equal_fingerprints(self) -> None:
        assert rubric((1.0, passes)).fingerprint == rubric((1.0, passes)).fingerprint

    @pytest.mark.parametrize(
        "other",
        [
            rubric((1.0, fails)),
            rubric((1.0, passes), threshold=0.8),
            rubric((0.5, passes), (0.5, fails)),
            Rubric([Criterion("other", 1.0, passes)]),
            rubric((1.0, Fixed(1.0))),
            rubric((1.0, partial(passes))),
        ],
        ids=["evaluator", "threshold", "weights", "name", "kind", "partial"],
    )
    def test_whatever_decides_changes_the_fingerprint(self, other: Rubric) -> None:
        assert other.fingerprint != rubric((1.0, passes)).fingerprint

    def test_settings_of_a_criterion_change_it(self) -> None:
        assert rubric((1.0, Fixed(1.0))).fingerprint != rubric((1.0, Fixed(0.5))).fingerprint
        assert rubric((1.0, StepEfficiency(3, 9))).fingerprint != rubric((1.0, StepEfficiency(3, 8))).fingerprint
        assert (
            rubric((1.0, ForbiddenActions(("a",)))).fingerprint != rubric((1.0, ForbiddenActions(("b",)))).fingerprint
        )

    def test_what_a_function_closes_over_changes_it(self) -> None:
        def shorter_than(most: int) -> EvaluateFunction:
            return lambda context: len(context.trajectory.output) < most

        prints = [rubric((1.0, shorter_than(most))).fingerprint for most in (5, 5, 6)]
        assert prints[0] == prints[1] != prints[2]

    def test_what_changes_from_call_to_call_does_not(self) -> None:
        class Counting:
            check_ids = ()

            def __init__(self) -> None:
                self.inner = ModelLike()

            async def evaluate(self, context: EvaluateContext) -> Feedback:
                self.inner.calls += 1
                return Feedback(True, 1.0, "exact", "ok")

        class ModelLike:
            calls = 0

        counting = Counting()
        before = rubric((1.0, counting)).fingerprint
        counting.inner.calls = 7
        assert rubric((1.0, counting)).fingerprint == before

    def test_a_run_has_the_rubric_in_its_record(self) -> None:
        one, same = rubric((1.0, passes)), rubric((1.0, passes))
        assert rubric_fingerprints([one, Fixed(1.0), same]) == {"rubric": one.fingerprint}
        assert rubric_fingerprints([Fixed(1.0), passes]) == {}

    def test_a_run_with_two_rubrics_is_refused_and_told_both(self) -> None:
        with pytest.raises(InputError, match=r"found two: c0 1, threshold 0.85 .* and c0 1, threshold 0.8 "):
            rubric_fingerprints([rubric((1.0, passes)), rubric((1.0, passes), threshold=0.8)])

    async def test_a_run_is_not_resumed_with_another_rubric(self, tmp_path: Path) -> None:
        place = tmp_path / "journal.sqlite"
        async with open_journal(place) as journal:
            run = await journal.start(RunSpec(fingerprints=rubric_fingerprints([rubric((1.0, passes))])))
            await journal.let_go(run)
        async with open_journal(place) as journal:
            run = await journal.resume()
            run.check(rubric_fingerprints([rubric((1.0, passes))]))
            with pytest.raises(RunChanged, match="rubric"):
                run.check(rubric_fingerprints([rubric((1.0, passes), threshold=0.5)]))

    async def test_preparing_a_criterion_does_not_unlock_it(self) -> None:
        @dataclass(frozen=True)
        class Unwritten:
            check_ids: tuple[str, ...] = ()

            async def prepare(self, task: Task, effects: Effects) -> Fixed:
                return Fixed(1.0)

            async def evaluate(self, context: EvaluateContext) -> Feedback:
                raise Fault("it was not prepared")

        made = rubric((1.0, Unwritten()))
        prepared = await made.prepare(Task("t", "x"), context_of("x").effects)
        assert prepared.fingerprint == made.fingerprint
        assert (await prepared.evaluate(context_of("x"))).passed
        with pytest.raises(Fault, match="not prepared"):
            await made.evaluate(context_of("x"))


async def test_the_loop_works_with_a_rubric_of_all_kinds() -> None:
    files = {"answer.txt": b"", "lint.sh": b'test -s answer.txt && ! grep -q "TODO" answer.txt\n'}
    check = CommandCheck(Snapshot(files), "answer.txt", "sh lint.sh", ResultFormat.parse("exit_code"))

    async with open_sandbox(workers=1, allow_weak=True) as sandbox:
        linter = await CommandTests(check, sandbox, Limits(wall_s=30)).prepared()
        made = Rubric(
            [
                Criterion("linter", 0.4, linter),
                Criterion("acceptance", 0.3, lambda context: "Paris" in context.trajectory.output),
                Criterion("no forbidden actions", 0.2, ForbiddenActions((r"\brm\b",))),
                Criterion("efficiency", 0.1, StepEfficiency(2, 6)),
            ]
        )
        outputs = iter(["TODO", "rm everything in Paris", "Paris"])
        outcome = await Reflexion(lambda _: next(outputs), made, max_trials=3).run("Where?")
    assert [trial.feedback.passed for trial in outcome.trials] == [False, False, True]
    assert [round(trial.feedback.score, 2) for trial in outcome.trials] == [0.3, 0.8, 1.0]
    assert outcome.trials[-1].feedback.trust == "exit_code"
    assert outcome.trials[1].feedback.failed_ids == ("no forbidden actions",)


class TestForbiddenActions:
    async def test_actions_and_output_are_searched(self) -> None:
        trajectory = Trajectory("done", (Step(action="ls"), Step(action="sudo rm -rf /", observation="denied")))
        feedback = await ForbiddenActions((r"\bsudo\b", "curl")).evaluate(context_of(trajectory))
        assert (feedback.passed, feedback.score, feedback.failed_ids) == (False, 0.5, (r"\bsudo\b",))
        assert "'sudo'" in feedback.message

    async def test_what_the_world_says_is_no_action(self) -> None:
        trajectory = Trajectory("done", (Step("sudo?", "ls", "sudo"),))
        assert (await ForbiddenActions(("sudo",)).evaluate(context_of(trajectory))).passed

    async def test_the_output_can_be_left_out(self) -> None:
        assert (await ForbiddenActions(("sudo",), in_output=False).evaluate(context_of("no sudo"))).passed

    @pytest.mark.parametrize("patterns", [(), ("(",), ("a", "*")])
    def test_what_is_no_expression_is_refused(self, patterns: tuple[str, ...]) -> None:
        with pytest.raises(InputError):
            ForbiddenActions(patterns)


class TestStepEfficiency:
    @pytest.mark.parametrize(("steps", "score"), [(0, 1.0), (2, 1.0), (4, 0.5), (6, 0.0), (60, 0.0)])
    async def test_score_falls_evenly_between_target_and_limit(self, steps: int, score: float) -> None:
        feedback = await StepEfficiency(2, 6).evaluate(context_of(Trajectory("x", (Step(),) * steps)))
        assert feedback.score == pytest.approx(score)
        assert feedback.passed == (steps <= 2)

    @pytest.mark.parametrize(("target", "limit"), [(3, 3), (4, 2), (-1, 2)])
    def test_a_limit_must_be_above_the_target(self, target: int, limit: int) -> None:
        with pytest.raises(InputError, match="target < limit"):
            StepEfficiency(target, limit)


async def test_a_verdict_without_message_is_told_by_its_failed_checks() -> None:
    class Silent:
        check_ids = ("a", "b")

        async def evaluate(self, context: EvaluateContext) -> Feedback:
            return Feedback(False, 0.0, "exact", "failed", "", (CheckResult("a", False), CheckResult("b", True)))

    assert "c0 (0 of 1, weight 1): failed: a" in (await rubric((1.0, Silent())).evaluate(context_of("x"))).message
