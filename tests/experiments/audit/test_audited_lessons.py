"""What is found in a lesson without a person, and how it is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.doubles import make_trial

from afterword import CheckResult, Feedback, InputError, Reflection, Step, Trajectory, Trial
from afterword.experiments.audit import AuditedLesson, LabelFile, PastTask, audited, past_task, summarise
from afterword.experiments.statistics import wilson

GOOD = "In test_zero half(0) gave 1: I added one. I will return n // 2 instead."


def failing(
    number: int,
    lesson: str | None,
    *failed: str,
    shown: tuple[int, ...] = (),
    passed: tuple[str, ...] = (),
    **more: object,
) -> Trial:
    checks = (
        *(CheckResult(name, False, "half(0) gave 1") for name in failed),
        *(CheckResult(name, True) for name in passed),
    )
    feedback = Feedback(not failed, len(passed) / max(1, len(checks)), "isolated", "failed", "half(0) gave 1", checks)
    reflection = None if lesson is None else Reflection(lesson, number, **more)  # type: ignore[arg-type]  # passed on
    return Trial(number, Trajectory("def half(n): return n + 1"), feedback, reflection, shown)


def look(*trials: Trial, family: str = "programming", model: str = "m", task: str = "t") -> list[AuditedLesson]:
    return list(audited(PastTask(task, trials, family, model)))


def test_a_lesson_is_looked_at_and_what_followed_it() -> None:
    (lesson,) = look(
        failing(1, GOOD, "test_zero", "test_two", passed=("test_one",)),
        failing(2, None, "test_two", shown=(1,), passed=("test_one", "test_zero")),
    )
    assert (lesson.evidence, lesson.names_check, lesson.prescribes, lesson.repeats) == ("test_zero", True, True, False)
    assert (lesson.effect, lesson.checks_gained, lesson.checks_lost) == ("gained", 1, 0)


def test_a_vague_lesson_quotes_names_and_prescribes_nothing() -> None:
    (lesson,) = look(failing(1, "I should be more careful with edge cases.", "test_zero"))
    assert (lesson.evidence, lesson.names_check, lesson.prescribes) == ("", False, False)


def test_no_effect_is_told_where_no_trial_had_the_lesson() -> None:
    last, unshown = look(failing(1, GOOD, "test_zero")), look(failing(1, GOOD, "a"), failing(2, None, passed=("a",)))
    assert [lesson.effect for lesson in (*last, *unshown)] == [None, None]


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [(0.2, 0.6, "gained"), (0.6, 0.2, "lost"), (0.5, 0.5, "same"), (0.0, 1.0, "gained")],
)
def test_where_there_are_no_checks_the_score_tells(before: float, after: float, effect: str) -> None:
    trials = [
        Trial(1, Trajectory("x"), Feedback(False, before, "exact"), Reflection(GOOD, 1)),
        Trial(2, Trajectory("y"), Feedback(after == 1, after, "exact"), None, (1,)),
    ]
    assert [lesson.effect for lesson in look(*trials)] == [effect]


def test_as_many_checks_each_way_are_the_same() -> None:
    (lesson,) = look(failing(1, GOOD, "a", passed=("b",)), failing(2, None, "b", passed=("a",), shown=(1,)))
    assert (lesson.effect, lesson.checks_gained, lesson.checks_lost) == ("same", 1, 1)


def test_repeated_retracted_and_retired_lessons_are_told() -> None:
    third = failing(3, "I was wrong about test_zero and will divide.", "test_zero", shown=(1, 2), retracts=(1,))
    retiring = Trial(4, third.trajectory, third.feedback, None, (2, 3), retired=(2,))
    lessons = look(
        failing(1, GOOD, "test_zero"), failing(2, GOOD.replace("0", "7"), "test_zero", shown=(1,)), third, retiring
    )
    assert [(one.repeats, one.retracted, one.retired) for one in lessons] == [
        (False, True, False),
        (True, False, True),
        (False, False, False),
    ]


def test_a_lesson_that_copies_a_worked_example_is_told() -> None:
    trial = failing(1, GOOD, "test_zero")
    copied = replace(trial, reflection=Reflection(GOOD, 1, problems=("from_example",)))
    assert [one.copies for one in (*look(trial), *look(copied))] == [False, True]
    assert summarise(look(copied))[0].aspects["copies an example"] == wilson(1, 1)


def test_an_action_named_is_evidence_in_a_game() -> None:
    steps = (Step("", "take mug 1 from shelf 1", "Nothing happens."),)
    lost = Trial(
        1,
        Trajectory("", steps, "step_limit"),
        Feedback(False, 0.0, "environment"),
        Reflection("My take mug 1 from shelf 1 was wrong.", 1),
    )
    assert look(lost)[0].evidence == "take mug 1 from shelf 1"


def test_a_placeholder_is_no_lesson() -> None:
    first, second = failing(1, GOOD, "test_zero", source="placeholder"), failing(2, GOOD, "test_zero")
    assert [one.trial for one in look(first, second)] == [2]


def test_empty_lessons_are_none() -> None:
    assert look(failing(1, " ", "a"), failing(2, None, "a")) == []


def test_groups_are_counted_by_family_and_model() -> None:
    one = look(failing(1, GOOD, "test_zero"), failing(2, None, passed=("test_zero",), shown=(1,)), model="a")
    other = look(failing(1, "I will try.", "test_zero"), model="b", task="u")
    everything, a, b = summarise([*one, *other], {one[0].key: "right"})
    assert [(group.family, group.model, group.lessons, group.tasks) for group in (everything, a, b)] == [
        ("all", "all", 2, 2),
        ("programming", "a", 1, 1),
        ("programming", "b", 1, 1),
    ]
    assert everything.aspects["quotes evidence"] == wilson(1, 2)
    assert everything.effects["gained"] == wilson(1, 1)
    assert everything.labels["right"] == wilson(1, 1)
    assert b.labels == {}


def test_one_group_alone_is_not_told_twice() -> None:
    assert [group.family for group in summarise(look(failing(1, GOOD, "a")))] == ["programming"]


def test_a_task_in_two_arms_is_one_task() -> None:
    lessons = look(failing(1, GOOD, "a"))
    (group,) = summarise([*lessons, *(replace(lesson, arm="other") for lesson in lessons)])
    assert (group.lessons, group.tasks, group.arms) == (2, 1, 2)


def test_lessons_of_one_task_are_no_independent_evidence() -> None:
    tasks = {f"t{number}": GOOD if number < 5 else "I will try." for number in range(10)}
    lessons = [
        replace(lesson, seed=seed)
        for task, text in tasks.items()
        for seed in range(3)
        for lesson in look(
            failing(1, text, "test_zero"),
            failing(2, text, "test_zero", shown=(1,)),
            failing(3, text, "test_zero", shown=(2,)),
            task=task,
        )
    ]
    (group,) = summarise(lessons, {lesson.key: "right" if lesson.text == GOOD else "vague" for lesson in lessons})
    half, never = wilson(5, 10), wilson(0, 10)
    assert (group.lessons, group.tasks) == (90, 10)
    assert group.aspects["quotes evidence"] == replace(half, n=90)
    assert group.labels["right"] == replace(half, n=90)
    assert group.effects["gained"] == replace(never, n=60)


def test_keys_tell_lessons_apart_and_stay() -> None:
    first, again = look(failing(1, GOOD, "a"))[0], look(failing(1, GOOD, "a"))[0]
    assert first.key == again.key
    assert len({first.key, look(failing(2, GOOD, "a"))[0].key, look(failing(1, GOOD, "a"), task="u")[0].key}) == 3


def test_labels_are_added_and_the_last_counts(tmp_path: Path) -> None:
    file = LabelFile(tmp_path / "labels.jsonl")
    assert file.read() == {}
    file.add("k", "t", 1, "text\ud800", "vague")
    file.add("k", "t", 1, "text", "right")
    assert file.read() == {"k": "right"}


def test_labels_that_cannot_be_kept_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another --labels"):
        LabelFile(tmp_path / "none" / "labels.jsonl").add("k", "t", 1, "text", "vague")
    with pytest.raises(InputError, match="cannot be read"):
        LabelFile(tmp_path).read()


@given(
    st.dictionaries(
        st.sampled_from(["number", "failed", "score", "reflection", "retired", "end"]),
        st.one_of(
            st.none(),
            st.integers(),
            st.floats(),
            st.text(max_size=9),
            st.lists(st.one_of(st.integers(), st.text(max_size=3)), max_size=3),
        ),
    )
)
def test_any_object_is_a_trial_or_bad_input(values: dict[str, object]) -> None:
    complaint = ""
    try:
        json.dumps([lesson.text for lesson in audited(past_task({"task": "t", "trials": [values]}))])
    except InputError as error:
        complaint = error.message
    assert complaint.startswith("expected a trial") is (not isinstance(values.get("number"), int))


def test_a_trial_of_doubles_is_audited() -> None:
    assert [lesson.trial for lesson in look(make_trial(1, "x", lesson="I will."), make_trial(2, "y"))] == [1]
