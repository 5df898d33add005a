"""Arms compared: what is counted, what is left out, what stays honest, and identical arms that must not differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterword.core.records import Acceptance, FaultRecord, Feedback, Outcome, StopReason, Trajectory, Trial, Usage
from afterword.errors import InputError
from afterword.experiments.comparison import compare
from afterword.experiments.report.verdict import verdict
from afterword.experiments.results import Result, result_of
from tests.experiments.made import experiment, result


def test_an_outcome_is_counted_without_its_texts() -> None:
    usage = {"actor": Usage(1, 10, 5), "reflector": Usage(1, 7, 3)}
    trials = (
        Trial(1, Trajectory("wrong"), Feedback(False, 0.5, "isolated"), None, (), usage),
        Trial(2, Trajectory("right"), Feedback(True, 1.0, "isolated"), None, (1,), {"actor": Usage(1, 20, 5)}),
    )
    total = {"actor": Usage(2, 30, 10), "reflector": Usage(1, 7, 3)}
    acceptance = Acceptance(True, 3, 3, "isolated")
    found = result_of(
        Outcome("t", "accepted", StopReason.PASSED, trials[1], trials, acceptance, total), arm="reflexion", seed=2
    )
    assert (found.task, found.arm, found.seed, found.chosen) == ("t", "reflexion", 2, 2)
    assert [(trial.number, trial.passed, trial.spent.tokens, trial.lesson) for trial in found.trials] == [
        (1, False, 15, False),  # its lesson was paid for later
        (2, True, 50, True),
    ]
    assert found.steps() == [(Usage(1, 10, 5), False), (Usage(3, 37, 13), True)]


def test_tests_written_before_the_first_trial_are_paid_for_by_its_end() -> None:
    asked = {"actor": Usage(1, 20, 5), "test_writer": Usage(1, 9, 1)}  # the second writing came within the trial
    trials = (Trial(1, Trajectory("right"), Feedback(True, 1.0, "model"), None, (), asked),)
    total = {"actor": Usage(1, 20, 5), "test_writer": Usage(2, 309, 101, cost_usd=None)}
    found = result_of(
        Outcome("t", "unverified", StopReason.PASSED, trials[0], trials, None, total), arm="retry", seed=1
    )
    assert found.steps() == [(Usage(3, 329, 106, cost_usd=None), True)]


def test_a_fault_is_kept_by_its_kind() -> None:
    fault = FaultRecord("ServerFault", "503", 1)
    found = result_of(Outcome("t", "faulted", None, None, (), None, {}, fault), arm="a", seed=0)
    assert (found.faulted, found.fault, found.solved, found.steps()) == (True, "ServerFault", False, [])


@pytest.mark.parametrize(
    ("passed", "accepted", "solved"),
    [
        ((True,), None, True),
        ((True,), False, False),
        ((False, False), True, True),  # the paper's false negative: it is right all the same
        ((False, False), None, False),
    ],
)
def test_the_held_out_check_decides_where_there_is_one(
    passed: tuple[bool, ...], accepted: bool | None, solved: bool
) -> None:
    assert result(passed=passed, accepted=accepted).solved is solved


def test_what_was_given_up_counts_from_the_trial_that_gave_it() -> None:
    one = replace(result(passed=(False, False, False), accepted=True), chosen=2)
    assert [one.solved_by(trial) for trial in (0, 1, 2, 3, 4)] == [False, False, True, True, True]


def test_where_each_trial_was_judged_it_counts_what_had_been_submitted_then() -> None:
    one = result(passed=(False, False, False), accepted=False)
    trials = [replace(trial, accepted=known) for trial, known in zip(one.trials, (True, None, False), strict=True)]
    one = replace(one, trials=tuple(trials), chosen=3)
    assert [one.solved_by(trial) for trial in (1, 2, 3)] == [True, False, False]
    assert [solved for _, solved in one.steps()] == [True, False, False]


def test_arms_that_share_the_first_output_solve_the_same_with_one_trial() -> None:
    """Also where the visible evaluator failed what is right: stopped there, retrying would have submitted it."""
    rows = []
    for number in range(40):
        right = number < 24
        single = result(f"t{number}", arm="single", passed=(False,), accepted=right, tokens=10)
        retried = result(f"t{number}", arm="retry", passed=(False, False, False), accepted=right, tokens=30)
        trials = tuple(replace(trial, accepted=right) for trial in retried.trials)
        rows += [single, replace(retried, trials=trials)]
    arms = {arm.arm: arm for arm in compare(rows).arms}
    assert arms["single"].by_trial[0].value == arms["retry"].by_trial[0].value == 0.6
    assert arms["single"].against_calls.share[0] == arms["retry"].against_calls.share[0]


def test_what_finding_out_took_is_told_and_not_charged() -> None:
    asked = {"actor": Usage(1, 20, 5), "uncharged": Usage(2, 300, 30)}
    trials = (Trial(1, Trajectory("right"), Feedback(True, 1.0, "model"), None, (), asked),)
    found = result_of(Outcome("t", "unverified", StopReason.PASSED, trials[0], trials, None, asked), arm="a", seed=1)
    assert (found.spent, found.steps()) == (Usage(1, 20, 5), [(Usage(1, 20, 5), True)])
    assert found.usage["uncharged"] == Usage(2, 300, 30)


def test_shares_matrix_and_cost_of_an_arm() -> None:
    rows = [
        result("a", passed=(True,), accepted=True, tokens=100),
        result("b", passed=(False, True), accepted=False, tokens=100),
        result("c", passed=(False, False), accepted=True, tokens=100),
        result("d", passed=(False, False), accepted=False, tokens=100),
    ]
    (arm,) = compare(rows).arms
    assert (arm.solved.value, arm.faults, arm.judged) == (0.5, 0, 4)
    matrix = arm.evaluator
    assert (matrix.true_positive, matrix.false_positive, matrix.false_negative, matrix.true_negative) == (1, 1, 1, 1)
    assert [share.value for share in arm.by_trial] == [0.25, 0.5]
    assert (arm.spending.tokens.mean, arm.spending.tokens.median) == (175, 200)
    assert (arm.spending.calls_per_solved, arm.spending.seconds_per_solved) == (3.5, 3.5)
    actor = arm.spending.by_role["actor"]
    assert (actor.total.calls, actor.tokens.mean, actor.tokens.median) == (7, 175, 200)
    assert arm.ends == {StopReason.PASSED: 2, StopReason.MAX_TRIALS: 2}
    assert [share.value for share in arm.against_tokens.share][-1] == 0.5


def test_a_role_that_only_some_tasks_needed_cost_the_others_nothing() -> None:
    first, second = result("a", cost_usd=0.1), result("b", cost_usd=0.1)
    lesson = Usage(1, 30, 10, cost_usd=0.01, seconds=2.0)
    (arm,) = compare([first, replace(second, usage={**second.usage, "reflector": lesson})]).arms
    reflector = arm.spending.by_role["reflector"]
    assert (reflector.calls.mean, reflector.tokens.mean, reflector.tokens.median) == (0.5, 20, 20)
    assert (reflector.cost_usd.mean, reflector.total) == (0.005, lesson)


def test_an_allowance_that_carries_one_trial_only_is_told() -> None:
    short = replace(result("a", "reflexion", passed=(False,)), stop_reason=StopReason.TOKENS)
    rows = [short, result("b", "reflexion", passed=(False, True)), result("a"), result("b")]
    assert "In 1 of 2 results of reflexion the allowance carried no second trial." in compare(rows).caveats
    assert not any("allowance" in caveat for caveat in compare([*rows[1:], result("a", "reflexion")]).caveats)


def test_faults_are_left_out_and_bounded() -> None:
    rows = [result("a"), result("b", passed=(False,)), result("c", passed=(), faulted=True)]
    found = compare(rows)
    (arm,) = found.arms
    assert (arm.faults, arm.solved.value) == (1, 0.5)
    assert arm.if_faults_failed.value == pytest.approx(1 / 3)
    assert arm.if_faults_passed.value == pytest.approx(2 / 3)
    assert "Results with a fault are left out; the bounds show what they could change." in found.caveats


def test_an_unknown_price_is_no_price() -> None:
    (arm,) = compare([result("a", cost_usd=None), result("b", cost_usd=0.5)]).arms
    assert (arm.against_cost, arm.spending.cost_usd.mean, arm.spending.cost_per_solved_usd) == (None, None, None)
    (free,) = compare([result("a", cost_usd=0.0)]).arms
    assert free.against_cost is None
    (priced,) = compare([result("a", cost_usd=0.25), result("b", cost_usd=0.5)]).arms
    assert priced.against_cost is not None
    assert priced.against_cost.share[-1].value == 1
    assert priced.spending.cost_per_solved_usd == 0.375


def test_arms_are_paired_by_task_and_seed_without_faults() -> None:
    rows = [
        *(result(task, "retry", seed, passed=(False,)) for task in "abc" for seed in (0, 1)),
        *(result(task, "reflexion", seed, passed=(True,)) for task in "ab" for seed in (0, 1)),
        result("c", "reflexion", 0, faulted=True),
        result("c", "reflexion", 1, passed=(False,)),
    ]
    found = compare(rows)
    (against,) = found.against
    assert (against.baseline, against.arm, against.tasks) == ("retry", "reflexion", 3)
    assert (against.paired.only_first, against.paired.only_second) == (0, 2)
    assert against.paired.difference.value == pytest.approx(2 / 3)


def test_difficulty_comes_from_the_other_seeds() -> None:
    rows = [
        *(result("easy", "retry", seed, passed=(seed != 2,)) for seed in (0, 1, 2)),
        *(result("hard", "retry", seed, passed=(False,)) for seed in (0, 1, 2)),
    ]
    (arm,) = compare(rows).arms
    assert [(stratum.name, stratum.tasks) for stratum in arm.strata] == [("easy", 1), ("middling", 2), ("hard", 3)]
    assert [stratum.solved.value for stratum in arm.strata] == [0.0, 1.0, 0.0]
    assert compare([result("a"), result("b")]).arms[0].strata == ()


def test_no_common_task_is_said() -> None:
    found = compare([result("a", "retry"), result("b", "reflexion")])
    assert found.common == 0
    assert found.against[0].paired.difference.value is None
    assert "reflexion and retry have no task in common: they cannot be compared." in found.caveats


@pytest.mark.parametrize(("passed", "said"), [((True,), "solved everything"), ((False,), "No arm solved anything")])
def test_all_or_none_solved_is_said_and_is_not_certain(passed: tuple[bool, ...], said: str) -> None:
    found = compare([result(str(task), arm, passed=passed) for task in range(9) for arm in ("retry", "reflexion")])
    assert any(said in caveat for caveat in found.caveats)
    assert all(arm.solved.high - arm.solved.low > 0.1 for arm in found.arms)
    assert found.against[0].paired.difference.high > 0.1


def test_one_task_one_seed_one_arm() -> None:
    found = compare([result("a", "single")])
    assert {"There is one arm only: nothing is compared.", "One task: nothing follows for other tasks."} <= {
        *found.caveats
    }
    assert found.against == ()


def test_everything_faulted_still_compares() -> None:
    found = compare([result("a", arm, passed=(), faulted=True) for arm in ("retry", "reflexion")])
    assert [arm.solved.value for arm in found.arms] == [None, None]
    assert found.against[0].tasks == 0


def test_nothing_and_an_unknown_baseline_are_refused() -> None:
    with pytest.raises(InputError, match="no finished task"):
        compare([])
    with pytest.raises(InputError, match="no arm 'x' to compare with; there are retry"):
        compare([result("a")], baseline="x")


rows_of = st.lists(
    st.builds(
        result,
        task=st.sampled_from("abcd"),
        arm=st.sampled_from(["retry", "reflexion", "single"]),
        seed=st.integers(0, 2),
        passed=st.lists(st.booleans(), max_size=3).map(tuple),
        accepted=st.sampled_from([None, True, False]),
        tokens=st.integers(0, 9),
        cost_usd=st.sampled_from([None, 0.0, 0.1]),
        faulted=st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60)
@given(rows_of)
def test_nothing_makes_it_stumble(rows: Sequence[Result]) -> None:
    found = compare(rows)
    for arm in found.arms:
        for share in (arm.solved, arm.if_faults_failed, arm.if_faults_passed, *arm.by_trial):
            assert 0 <= share.low <= share.high <= 1
        assert (arm.if_faults_failed.value or 0) <= (arm.if_faults_passed.value or 0)
    assert all((against.p_adjusted is None) == (against.tasks == 0) for against in found.against)
    assert all(0 <= against.p_adjusted <= 1 for against in found.against if against.p_adjusted is not None)


def rejected(make: Callable[[random.Random], Sequence[Result]], runs: int) -> tuple[float, float]:
    """How often an arm that is no better is called so: by its p-value and by its interval."""
    by_p = by_interval = 0
    for run in range(runs):
        (against,) = compare(make(random.Random(run))).against  # noqa: S311
        assert against.p_adjusted is not None
        by_p += against.p_adjusted < 0.05
        difference = against.paired.difference
        by_interval += not difference.low <= 0 <= difference.high
    return by_p / runs, by_interval / runs


def test_identical_arms_show_no_difference_beyond_chance() -> None:
    arms = {"retry": 0.7, "reflexion": 0.7}
    by_p, by_interval = rejected(lambda chance: list(experiment(arms, tasks=60, chance=chance)), 60)
    assert by_p <= 0.1
    assert by_interval <= 0.12


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seeds", [1, 3])
def test_identical_arms_show_no_difference_beyond_chance_in_many_runs(seeds: int) -> None:
    arms = {"retry": 0.7, "reflexion": 0.7}
    by_p, by_interval = rejected(lambda chance: list(experiment(arms, tasks=60, seeds=seeds, chance=chance)), 2000)
    assert by_p <= 0.055
    assert 0.03 <= by_interval <= 0.07


def test_what_faults_could_turn_round_is_no_win() -> None:
    rows = []
    for number in range(100):
        rows.append(result(f"t{number}", arm="retry", passed=(number < 50,)))
        rows.append(result(f"t{number}", arm="reflexion", passed=(30 <= number < 62,), faulted=number < 30))
    found = compare(rows)
    (one,) = found.against
    assert one.p_adjusted is not None
    assert one.p_adjusted < 0.05 < one.paired.difference.low
    assert one.with_faults == (-0.18, 0.12)
    assert "No difference from retry beyond chance" in verdict(found)
    assert "what the faults would have come to could turn that round" in verdict(found)


def test_what_is_missing_on_one_side_is_told() -> None:
    few = [result(f"t{n}", arm="retry", passed=(n < 50,)) for n in range(100)]
    few += [result(f"t{n}", arm="reflexion") for n in range(20)]
    assert "reflexion and retry are compared on the 20 tasks that both have without a fault." in compare(few).caveats
    seeds = [result("a", arm="retry", seed=seed) for seed in range(5)] + [result("a", arm="reflexion")]
    assert "reflexion lacks 4 of 5 seeds: differences go by those that both arms have." in compare(seeds).caveats


@pytest.mark.parametrize(
    ("rows", "told", "never"),
    [
        (
            [result(f"t{n}", arm=arm, faulted=n > 1) for n in range(9) for arm in ("retry", "reflexion")],
            "No difference from retry",
            "Every arm solved all",
        ),
        (
            [result(t, arm=arm, faulted=arm == "reflexion") for t in "abc" for arm in ("retry", "reflexion")],
            "Nothing can be compared: reflexion and retry have no task in common that both came through without",
            "Every arm",
        ),
        (
            [result("a", arm="retry"), result("b", arm="reflexion")],
            "Nothing can be compared: reflexion and retry have no task in common.",
            "Every arm solved all",
        ),
        (
            [result(t, arm=arm, faulted=True) for t in "ab" for arm in ("retry", "reflexion")],
            "Every result has a fault",
            "No arm solved anything",
        ),
    ],
)
def test_nothing_is_said_of_what_nobody_knows(rows: list[Result], told: str, never: str) -> None:
    found = compare(rows)
    assert told in verdict(found)
    assert never not in " ".join([verdict(found), *found.caveats])


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (result("a", arm="retry", faulted=True), "have no task in common that both came through without a fault"),
        (result("a", arm="retry", seed=1), "have no seed in common"),
        (result("b", arm="retry"), "have no task in common"),
    ],
)
def test_why_arms_cannot_be_compared(base: Result, why: str) -> None:
    rows = [base, result("a", arm="reflexion")]
    assert f"reflexion and retry {why}: they cannot be compared." in compare(rows).caveats


def test_what_nobody_judged_is_in_no_matrix() -> None:
    blind = [replace(result(t, arm="no_tests", passed=(False,), accepted=True), judged=False) for t in "ab"]
    (arm,) = compare(blind).arms
    assert (arm.judged, arm.false_negatives.value, arm.solved.value, arm.unconfirmed) == (0, None, 1.0, 0)


def test_arms_that_cannot_be_compared_adjust_no_p_value() -> None:
    rows = [result(f"t{n}", "retry", passed=(n < 4,)) for n in range(8)]
    rows += [result(f"t{n}", "reflexion", passed=(False,)) for n in range(8)]
    rows += [result("elsewhere", f"other {n}") for n in range(3)]
    reflexion, *others = compare(rows).against
    assert reflexion.p_adjusted == reflexion.paired.p_value == 0.125
    assert {(one.p_adjusted, one.paired.p_value, one.apart) for one in others} == {
        (None, None, "have no task in common")
    }


def test_a_curve_ends_with_all_that_was_solved() -> None:
    thirds = [0.1, 0.2, 0.3, 0.7, 1.1, 3.3]
    for spent in thirds:
        rows = [result(str(n), "a", passed=(False,) * 2 + (True,), cost_usd=spent / (n + 3)) for n in range(3)]
        (arm,) = compare(rows).arms
        assert arm.against_cost is not None
        assert arm.against_cost.share[-1].value == arm.solved.value == 1


def test_results_judged_once_only_are_told() -> None:
    rows = [result("a", passed=(False, True), accepted=True), result("b", passed=(True,), accepted=True)]
    assert any(caveat.startswith("In 1 of 2 results only the output") for caveat in compare(rows).caveats)
    assert not any("only the output" in caveat for caveat in compare(rows[1:]).caveats)


def test_an_allowance_that_carries_nothing_is_told() -> None:
    nothing = replace(result("a", "single", passed=()), stop_reason=StopReason.TOKENS)
    assert "In 1 of 1 results of single the allowance carried no trial." in compare([nothing, result("a")]).caveats
