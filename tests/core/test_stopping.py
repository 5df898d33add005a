"""Every stop rule, alone and composed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from afterword import (
    Cancellation,
    InputError,
    MaxCalls,
    MaxCost,
    MaxSeconds,
    MaxTokens,
    MaxTrials,
    Passed,
    Plateau,
    Progress,
    RepeatedOutput,
    RepeatedReflection,
    Step,
    StopReason,
    StopRule,
    Trajectory,
    Trial,
    Usage,
    first_of,
)
from afterword.core.stopping import reads_time
from tests.core.doubles import make_trial


def progress(*trials: Trial, usage: Usage | None = None, elapsed_s: float = 0.0) -> Progress:
    return Progress(trials, usage or Usage(), elapsed_s)


def outputs(*texts: str) -> Progress:
    return progress(*(make_trial(number, text) for number, text in enumerate(texts, 1)))


def lessons(*texts: str | None) -> Progress:
    return progress(*(make_trial(number, str(number), lesson=text) for number, text in enumerate(texts, 1)))


def grades(*scores: float, graded: bool = True) -> Progress:
    return progress(*(make_trial(number, score=score, graded=graded) for number, score in enumerate(scores, 1)))


def test_passed_stops_after_a_passing_trial_only() -> None:
    assert Passed().check(grades(0.2, 1.0)) is StopReason.PASSED
    assert Passed().check(grades(1.0, 0.2)) is None


def test_max_trials_counts_trials() -> None:
    assert MaxTrials(2).check(outputs("a")) is None
    assert MaxTrials(2).check(outputs("a", "b")) is StopReason.MAX_TRIALS


def test_four_trials_are_the_default() -> None:
    assert MaxTrials().trials == 4


def test_no_trial_at_all_is_bad_input() -> None:
    with pytest.raises(InputError, match="at least 1"):
        MaxTrials(0)


@pytest.mark.parametrize(
    ("rule", "under", "reached", "reason"),
    [
        (MaxCost(0.5), Usage(cost_usd=0.49), Usage(cost_usd=0.5), StopReason.COST),
        (MaxTokens(10), Usage(tokens_in=6, tokens_out=3), Usage(tokens_in=6, tokens_out=4), StopReason.TOKENS),
        (MaxCalls(2), Usage(calls=1), Usage(calls=2), StopReason.CALLS),
    ],
)
def test_a_limit_stops_when_it_is_reached(rule: StopRule, under: Usage, reached: Usage, reason: StopReason) -> None:
    assert rule.check(progress(make_trial(1), usage=under)) is None
    assert rule.check(progress(make_trial(1), usage=reached)) is reason


def test_wall_time_stops_when_it_is_over() -> None:
    assert MaxSeconds(3.0).check(progress(make_trial(1), elapsed_s=2.9)) is None
    assert MaxSeconds(3.0).check(progress(make_trial(1), elapsed_s=3.0)) is StopReason.TIME


def test_an_unknown_cost_is_not_zero_and_not_a_limit_reached() -> None:
    assert MaxCost(0.5).check(progress(make_trial(1), usage=Usage(cost_usd=None))) is None


def test_cancellation_stops_once_called() -> None:
    rule = Cancellation()
    assert rule.check(outputs("a")) is None
    rule.cancel()
    assert rule.check(outputs("a")) is StopReason.CANCELLED


@pytest.mark.parametrize("texts", [("A", "A"), ("A", "B", "A"), ("A", "B", "C", "B")])
def test_an_output_that_was_there_before_is_caught(texts: Sequence[str]) -> None:
    assert RepeatedOutput().check(outputs(*texts)) is StopReason.REPEATED_OUTPUT


@pytest.mark.parametrize("texts", [("A",), ("A", "B"), ("A", "A", "B"), ("A", "a")])
def test_a_new_output_goes_on(texts: Sequence[str]) -> None:
    assert RepeatedOutput().check(outputs(*texts)) is None


def test_an_output_may_stay_if_its_check_was_disputed() -> None:
    rule = RepeatedOutput()
    assert rule.check(progress(make_trial(1, "A", disputes="case:1"), make_trial(2, "A"))) is None
    assert rule.check(progress(make_trial(1, "A"), make_trial(2, "A", disputes="case:1"))) is None
    assert rule.check(progress(make_trial(1, "A", disputes="case:1"), make_trial(2, "B"), make_trial(3, "A"))) is None


def test_an_output_defended_once_may_stay_on() -> None:
    trials = make_trial(1, "A", disputes="case:1"), make_trial(2, "A"), make_trial(3, "A")
    assert RepeatedOutput().check(progress(*trials)) is None


def test_a_dispute_frees_its_own_output_only() -> None:
    trials = make_trial(1, "A", disputes="case:1"), make_trial(2, "B"), make_trial(3, "B")
    assert RepeatedOutput().check(progress(*trials)) is StopReason.REPEATED_OUTPUT


def test_two_trials_without_output_are_no_repetition() -> None:
    nothing = Trajectory("", end="no_output")
    trials = make_trial(1, trajectory=nothing), make_trial(2, trajectory=nothing)
    assert RepeatedOutput().check(progress(*trials)) is None


def test_where_a_world_is_the_result_the_actions_are_compared() -> None:
    def moved(*actions: str) -> Trajectory:
        return Trajectory("", tuple(Step("hm", action, "ok") for action in actions), end="stuck")

    same = make_trial(1, trajectory=moved("go", "take")), make_trial(2, trajectory=moved("go", "take"))
    other = make_trial(1, trajectory=moved("go", "take")), make_trial(2, trajectory=moved("go", "open"))
    still = make_trial(1, trajectory=moved()), make_trial(2, trajectory=moved())
    assert RepeatedOutput().check(progress(*same)) is StopReason.REPEATED_OUTPUT
    assert RepeatedOutput().check(progress(*other)) is None
    assert RepeatedOutput().check(progress(*still)) is None


LESSON = "I split on the colon before checking that there is one; next time I will check first."
REWORDED = "I split on the colon before checking that there was one. Next time I will check first!"
ANOTHER = "I forgot that a bare number means seconds, so I will convert it before anything else."


@pytest.mark.parametrize(
    "texts",
    [
        (LESSON, LESSON),
        (LESSON, LESSON.upper().replace(" ", "  ")),
        (LESSON, REWORDED),
        (LESSON, ANOTHER, REWORDED),
        (LESSON, None, LESSON),
    ],
    ids=["verbatim", "case and spacing", "reworded", "A, B, A", "over a trial without lesson"],
)
def test_the_same_lesson_again_is_caught(texts: Sequence[str | None]) -> None:
    assert RepeatedReflection().check(lessons(*texts)) is StopReason.REPEATED_REFLECTION


@pytest.mark.parametrize(
    "texts",
    [(LESSON,), (LESSON, ANOTHER), (LESSON, LESSON, None), ("", ""), ("…", "?!"), (" ", LESSON)],
    ids=["first", "another", "none now", "empty", "signs only", "after an empty one"],
)
def test_a_new_lesson_goes_on(texts: Sequence[str | None]) -> None:
    assert RepeatedReflection().check(lessons(*texts)) is None


def test_lessons_in_other_scripts_are_compared_too() -> None:
    rule = RepeatedReflection()
    assert rule.check(lessons("先检查冒号再分割字符串", "先检查冒号再分割字符串。")) is StopReason.REPEATED_REFLECTION
    assert rule.check(lessons("先检查冒号再分割字符串", "空输入应该引发错误")) is None


def test_how_similar_lessons_must_be_can_be_set() -> None:
    assert RepeatedReflection(similarity=1.0).check(lessons(LESSON, REWORDED)) is None
    assert RepeatedReflection(similarity=0.2).check(lessons(LESSON, ANOTHER)) is StopReason.REPEATED_REFLECTION


def test_a_plateau_of_grades_is_caught() -> None:
    assert Plateau(0.05, 2).check(grades(0.5, 0.52, 0.54)) is StopReason.PLATEAU


def test_scores_that_fall_are_a_plateau() -> None:
    assert Plateau(0.05, 2).check(grades(0.5, 0.3, 0.1)) is StopReason.PLATEAU


def test_a_gain_within_the_patience_is_no_plateau() -> None:
    assert Plateau(0.05, 2).check(grades(0.5, 0.56, 0.5)) is None
    assert Plateau(0.05, 2).check(grades(0.5, 0.5, 0.6)) is None


def test_patience_is_waited_for() -> None:
    assert Plateau(0.05, 2).check(grades(0.5, 0.5)) is None
    assert Plateau(0.05, 1).check(grades(0.5, 0.5)) is StopReason.PLATEAU


def test_pass_or_fail_alone_is_never_a_plateau() -> None:
    assert Plateau().check(grades(0.0, 0.0, 0.0, graded=False)) is None


def test_a_share_of_several_checks_is_a_grade() -> None:
    trials = [make_trial(number, score=0.5, judged=(True, False)) for number in (1, 2, 3)]
    assert Plateau().check(progress(*trials)) is StopReason.PLATEAU


@pytest.mark.parametrize("wrong", [{"min_gain": 0.0}, {"min_gain": -0.1}, {"min_gain": 1.5}, {"patience": 0}])
def test_a_plateau_that_cannot_be_is_bad_input(wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=name):
        Plateau(**wrong)  # type: ignore[arg-type]  # as a user without a type checker would


def test_the_first_rule_that_stops_gives_the_reason() -> None:
    rule = first_of(Passed(), MaxTrials(2), RepeatedOutput())
    assert rule.check(outputs("A", "A")) is StopReason.MAX_TRIALS
    assert rule.check(outputs("A")) is None
    assert first_of(RepeatedOutput(), MaxTrials(2)).check(outputs("A", "A")) is StopReason.REPEATED_OUTPUT


def test_no_rules_never_stop() -> None:
    assert first_of().check(outputs("A", "A", "A")) is None


class Timeless:
    """A progress whose time nobody may look at."""

    def __init__(self, *trials: Trial) -> None:
        self.trials = trials
        self.usage = Usage()

    @property
    def elapsed_s(self) -> float:
        raise AssertionError("looked at the time")


@pytest.mark.parametrize(
    "rule",
    [
        Passed(),
        MaxTrials(3),
        MaxCost(1.0),
        MaxTokens(9),
        MaxCalls(9),
        Cancellation(),
        RepeatedOutput(),
        RepeatedReflection(),
        Plateau(),
        first_of(Passed(), MaxTrials(3)),
    ],
)
def test_a_rule_that_is_said_not_to_read_the_time_does_not(rule: StopRule) -> None:
    trials = [make_trial(number, "same", lesson="same", score=0.2, graded=True) for number in (1, 2, 3, 4)]
    assert not reads_time(rule)
    for number in range(1, 5):
        rule.check(Timeless(*trials[:number]))  # type: ignore[arg-type]  # stands for a Progress


def test_all_else_may_read_the_time() -> None:
    class MyTrials(MaxTrials):
        pass

    assert reads_time(MaxSeconds(1.0))
    assert reads_time(MyTrials(3))
    assert reads_time(first_of(Passed(), first_of(MaxTrials(3), MyTrials(3))))
