"""What tasks of a pilot come to: counts, numbers, the ladder and the sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from afterword.core.records import CheckResult, Feedback, Outcome, Reflection, StopReason, Trajectory, Trial, Usage
from afterword.experiments.pilot import (
    Answer,
    Rules,
    TaskSeen,
    counted,
    ladder,
    ladder_lines,
    standing,
    task_seen,
    verdict,
)
from afterword.experiments.pilot.ladder import most_trials
from tests.experiments.made import result

RULES = Rules()
EASY, HARD = (True,), (False, False, False)


def seen(
    task: str = "a",
    retry: tuple[bool, ...] = HARD,
    reflexion: tuple[bool, ...] = HARD,
    *,
    accepted: bool | None = None,
    sound: float | None = None,
    faulted: bool = False,
) -> TaskSeen:
    """A task whose arms passed in these trials."""
    return TaskSeen(
        result(task, "single", passed=retry[:1], accepted=accepted if any(retry[:1]) else None),
        result(task, "retry", passed=retry, accepted=accepted if any(retry) else None),
        result(task, "reflexion", passed=reflexion, accepted=accepted if any(reflexion) else None, faulted=faulted),
        sound,
    )


def test_pairs_and_shares_are_counted_by_task() -> None:
    tasks = [
        seen("a", EASY, EASY, accepted=True),
        seen("b", HARD, (False, True), accepted=True, sound=1.0),
        seen("c", (False, True), HARD, accepted=False, sound=0.5),
        seen("d", HARD, HARD, faulted=True),
    ]
    found = counted(tasks)
    assert (found.only_retry, found.only_reflexion, found.alike) == (
        0,
        1,
        2,
    )  # what a held-out check rejects is not solved
    assert found.wrong == {0.0: 2, 1.0: 1}
    assert found.useful == {1.0: 1, 0.0: 1}
    assert found.sound == {1.0: 1, 0.5: 1}


def test_without_a_held_out_check_nothing_is_known_of_false_positives() -> None:
    found = standing([seen("a", EASY, EASY)], RULES)
    assert found.false_positives.value is None
    assert found.arms[0].solved == 1


def test_a_task_with_a_fault_is_left_out_and_told() -> None:
    found = standing([seen(faulted=True), seen("b", EASY, EASY)], RULES)
    assert (found.tasks, found.faults) == (1, 1)


@pytest.mark.parametrize(
    ("tasks", "answer", "said"),
    [
        ([seen(str(n), HARD, (False, True)) for n in range(8)], Answer.USE, "Use it: reflexion solved 8 of 8 tasks"),
        ([seen(str(n), EASY, EASY) for n in range(60)], Answer.RETRY, "and so is a single attempt"),
        ([seen(str(n), (False, True), (False, True)) for n in range(60)], Answer.RETRY, "Retry is as good: reflexion"),
        (
            [seen(str(n), EASY, EASY, accepted=n % 2 == 0) for n in range(20)],
            Answer.EVALUATOR,
            "of what it passes, 50 % (interval",
        ),
        ([seen(str(n), HARD, HARD) for n in range(60)], Answer.LESSONS, "a trial got further with one in 0 %"),
        ([seen(str(n), (False, True), HARD) for n in range(60)], Answer.LESSONS, "worse than without"),
        ([seen("a", HARD, (False, True))], Answer.MORE, "more, if they are like these; so far reflexion solved 1"),
        ([], Answer.MORE, "none was worked on"),
        ([seen(faulted=True)], Answer.MORE, "all 1 task faulted"),
    ],
)
def test_each_answer_is_one_sentence_with_its_number(tasks: Sequence[TaskSeen], answer: Answer, said: str) -> None:
    found = standing(tasks, RULES)
    assert found.answer is answer
    assert said in verdict(found)
    assert verdict(found).endswith(".")
    assert "\n" not in verdict(found)


def test_the_ladder_hands_over_after_the_last_trial_that_pays() -> None:
    tasks = [seen(str(n), HARD, (False, True, False)[:2]) for n in range(10)]
    tasks += [seen(f"x{n}", HARD, HARD) for n in range(10)]
    tasks += [seen(f"e{n}", EASY, EASY) for n in range(10)]
    found = ladder(tasks, standing(tasks, RULES))
    assert [(rung.name, rung.trials, rung.reached, rung.solved) for rung in found.rungs] == [
        ("single", 1, 30, 10),
        ("reflexion", 2, 20, 10),
        ("stronger model", None, 10, None),
        ("person", None, 10, None),
    ]
    assert any("up to trial 2; 20 of 30 tasks come to it" in line for line in ladder_lines(found))


def test_the_ladder_never_recommends_what_solved_less() -> None:
    tasks = [seen(f"r{n}", (False, True), (False, False)) for n in range(12)]
    tasks += [seen("x", (False, False), (False, True))]
    found = ladder(tasks, standing(tasks, RULES))
    assert [rung.name for rung in found.rungs][:2] == ["single", "retry"]
    assert found.rungs[1].solved == 12


def test_nothing_usable_promises_no_number_of_tasks() -> None:
    assert standing([], RULES).more is None


def test_a_rung_that_solves_nothing_is_left_out() -> None:
    tasks = [seen(str(n), EASY, EASY) for n in range(60)]
    found = ladder(tasks, standing(tasks, RULES))
    assert [rung.name for rung in found.rungs] == ["single", "stronger model", "person"]
    assert found.rungs[1].reached == 0


def test_a_wrong_evaluator_has_a_person_look_at_what_it_passes() -> None:
    bad = [seen(str(n), EASY, EASY, accepted=n % 2 == 0) for n in range(20)]
    good = [seen(str(n), EASY, EASY, accepted=True) for n in range(60)]
    unknown = [seen(str(n), EASY, EASY) for n in range(60)]
    checks = [ladder(tasks, standing(tasks, RULES)).check_passes for tasks in (bad, good, unknown)]
    assert checks == ["all", "no", "some"]


def test_one_solved_in_twenty_is_worth_a_trial() -> None:
    late = [result(str(n), "retry", passed=(False, n == 0)) for n in range(20)]
    assert most_trials(late) == 2
    assert most_trials([*late, result("more", "retry", passed=(False, False))]) == 1


def _outcome(reflection: str, *, passes: bool) -> Outcome:
    failed = Feedback(False, 0.0, "exact", "failed", "test_a: assert f(1) == 2", (CheckResult("test_a", False),))
    passed = Feedback(True, 1.0, "exact", "ok", "", (CheckResult("test_a", True),))
    one = Usage(1, 10, 5)
    trials = [
        Trial(1, Trajectory("return 1"), failed, Reflection(reflection, 1), usage={"actor": one, "reflector": one}),
        Trial(2, Trajectory("return 2"), passed if passes else failed, None, (1,), usage={"actor": one}),
    ]
    return Outcome(
        "a",
        "unverified" if passes else "gave_up",
        StopReason.PASSED if passes else StopReason.MAX_TRIALS,
        trials[-1],
        tuple(trials),
        None,
        {"actor": one},
    )


def test_lessons_are_looked_at_by_the_audit() -> None:
    told = "My trial failed test_a: assert f(1) == 2. I will return 2 instead of 1, adding one to the argument."
    good = task_seen(_outcome(told, passes=True), _outcome(told, passes=True), _outcome(told, passes=True))
    assert (good.sound, good.useful) == (1.0, 1.0)
    idle = task_seen(*[_outcome("I will be more careful.", passes=False)] * 3)
    assert (idle.sound, idle.useful) == (0.0, 0.0)


def test_a_task_of_which_an_arm_made_no_attempt_is_no_evidence() -> None:
    nothing = [seen(str(n), (), ()) for n in range(60)]
    found = standing(nothing, RULES)
    assert (found.answer, found.tasks, found.faults, found.unattempted) == (Answer.MORE, 0, 0, 60)
    assert "of 60 tasks the allowance carried no attempt" in verdict(found)


def test_where_nothing_is_solved_the_answer_says_so() -> None:
    found = standing([seen(str(n), (False,), (False,)) for n in range(100)], RULES)
    assert verdict(found) == (
        "Retry is as good, but no arm solved any of 100 tasks: they are too hard for this model, or their checks "
        "cannot be passed."
    )


def test_of_two_that_gained_as_much_the_ladder_takes_the_cheaper() -> None:
    tasks = [seen("a", (False, True), (False, False)), seen("b", (False, False), (False, True))]
    assert [rung.name for rung in ladder(tasks, standing(tasks, RULES)).rungs][:2] == ["single", "retry"]
