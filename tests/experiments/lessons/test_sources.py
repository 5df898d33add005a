"""What earlier runs give to rules: which lessons, what followed them, and first trials."""

from __future__ import annotations

from dataclasses import replace

from afterword.core.records import CheckResult, Feedback, Reflection, Trajectory, Trial
from afterword.experiments.audit import PastTask
from afterword.experiments.lessons import FirstTrial
from afterword.experiments.lessons.sources import first_trial_of, lessons_of


def trial(
    number: int,
    passed: int,
    *,
    lesson: str | None = "I will.",
    checks: int = 3,
    retracts: tuple[int, ...] = (),
    retired: tuple[int, ...] = (),
) -> Trial:
    made = tuple(CheckResult(f"c{n}", n < passed) for n in range(checks))
    whole = passed >= max(checks, 1)
    feedback = Feedback(whole, passed / checks if checks else float(whole), "exact", checks=made)
    reflection = None if lesson is None else Reflection(lesson, number, retracts=retracts)
    return Trial(number, Trajectory("x"), feedback, reflection, retired=retired)


def test_each_lesson_comes_with_the_checks_that_the_next_trial_gained() -> None:
    past = PastTask("t", (trial(1, 1, lesson="One."), trial(2, 0, lesson="Two."), trial(3, 2, lesson="Three.")))
    assert [(one.text, one.gained) for one in lessons_of(past)] == [("One.", -1), ("Two.", 2), ("Three.", None)]


def test_without_checks_a_pass_is_what_is_gained() -> None:
    past = PastTask("t", (trial(1, 0, checks=0), trial(2, 1, checks=0, lesson=None)))
    assert [one.gained for one in lessons_of(past)] == [1]


def test_a_lesson_that_was_taken_back_or_retired_or_is_empty_gives_nothing() -> None:
    past = PastTask(
        "t",
        (
            trial(1, 0, lesson="One."),
            trial(2, 0, lesson="Two.", retracts=(1,)),
            trial(3, 0, lesson=" "),
            trial(4, 0, lesson="Four.", retired=(2,)),
        ),
    )
    assert [one.trial for one in lessons_of(past)] == [4]


def test_a_lesson_that_copies_a_worked_example_gives_nothing() -> None:
    copied = replace(trial(1, 0), reflection=Reflection("I name the architect.", 1, problems=("from_example",)))
    assert [one.trial for one in lessons_of(PastTask("t", (copied, trial(2, 0))))] == [2]


def test_the_first_trial_is_the_one_with_number_1() -> None:
    past = PastTask("t", (trial(1, 2), trial(2, 3)), seed=4)
    assert first_trial_of(past) == FirstTrial("t", 4, False, 2 / 3)
    assert first_trial_of(PastTask("t", ())) is None
    assert first_trial_of(PastTask("t", (trial(2, 3),))) is None
