"""The trial after a lesson made again with it, without it and with a placebo."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from tests.core.doubles import make_effects

from afterword import (
    ActContext,
    Effects,
    EvaluateContext,
    Feedback,
    InputError,
    Reflection,
    Reflexion,
    Strategy,
    Task,
    Trajectory,
    Trial,
)
from afterword.experiments.audit import PastTask
from afterword.experiments.audit.causal import CONDITIONS, Made, Sample, draw_samples, make_again, report_of
from afterword.experiments.statistics import tango, wilson

FAILED = Feedback(False, 0.0, "exact", "failed", "wrong")


def past(task: str, *lessons: str | None, shown: Sequence[tuple[int, ...]] = ()) -> PastTask:
    trials = []
    for number, lesson in enumerate(lessons, 1):
        reflection = None if lesson is None else Reflection(lesson, number)
        before = shown[number - 1] if shown else tuple(range(1, number))
        trials.append(Trial(number, Trajectory(f"{task} {number}"), FAILED, reflection, before))
    return PastTask(task, tuple(trials))


class World:
    """Passes what was done with the word of the task; keeps what each trial got to see."""

    check_ids: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.seen: list[ActContext] = []
        self.resets = 0

    async def reset(self) -> str:
        self.resets += 1
        return "fresh"

    async def act(self, context: ActContext) -> Trajectory:
        self.seen.append(context)
        return Trajectory(" ".join(lesson.text for lesson in context.lessons) or "nothing")

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        passed = context.task.id in context.trajectory.output
        return Feedback(passed, float(passed), "exact")


def again(sample: Sample, strategy: Strategy = Strategy.REFLEXION) -> tuple[World, list[Trial]]:
    world = World()
    agent = Reflexion(world, world, lambda _: "x", strategy=strategy)

    async def main() -> list[Trial]:
        made = await make_again(sample, Task(sample.past.task, "Do it."), agent.parts, lambda _: make_effects())
        return [made[name] for name in CONDITIONS]

    return world, anyio.run(main)


def test_only_the_lesson_differs_between_the_conditions() -> None:
    of = past("half", "I will halve by half.", "I will read half again.", None)
    sample = Sample(of, Reflection("I will halve by half.", 1), Reflection("I will sort.", 1), "sort")
    sample_of_second = Sample(of, Reflection("I will read half again.", 2), Reflection("I will sort.", 2), "sort")
    world, trials = again(sample)
    assert [(trial.feedback.passed, trial.lessons_shown) for trial in trials] == [
        (True, (1,)),
        (False, ()),
        (False, (1,)),
    ]
    assert [[lesson.text for lesson in context.lessons] for context in world.seen] == [
        ["I will halve by half."],
        [],
        ["I will sort."],
    ]
    assert [(context.number, context.previous) for context in world.seen] == [(2, None)] * 3
    assert world.resets == 3
    world, _ = again(sample_of_second, Strategy.LAST_ATTEMPT_AND_REFLEXION)
    assert [[lesson.trial for lesson in context.lessons] for context in world.seen] == [[1, 2], [1], [1, 2]]
    assert [context.previous for context in world.seen] == [of.trials[1]] * 3


def test_a_lesson_of_a_task_is_drawn_with_one_of_another() -> None:
    pasts = [past(f"task{number}", f"lesson {number}", f"second {number}", None) for number in range(5)]
    samples = draw_samples(pasts, 3, seed=1)
    assert samples == draw_samples(pasts, 3, seed=1) != draw_samples(pasts, 3, seed=2)
    assert len({sample.past.task for sample in samples}) == 3
    for sample in samples:
        assert sample.placebo_task != sample.past.task
        assert sample.placebo.trial == sample.lesson.trial
        assert sample.past.task[-1] not in sample.placebo.text


def test_only_lessons_that_a_further_trial_had_are_drawn() -> None:
    pasts = [
        past("a", "first", None, shown=[(), ()]),
        past("b", "one", None),
        past("c", "two", None),
        past("d", "three"),
    ]
    assert {sample.past.task for sample in draw_samples(pasts, 9)} == {"b", "c"}


@pytest.mark.parametrize("pasts", [[], [past("a", "first", None)], [past("a", "first", None), past("b", "last")]])
def test_without_two_tasks_there_is_no_placebo(pasts: list[PastTask]) -> None:
    with pytest.raises(InputError, match="expected two tasks"):
        draw_samples(pasts, 9)


def made(*passed: tuple[bool, bool, bool]) -> list[Made]:
    return [
        Made(
            "t",
            1,
            "l",
            "p",
            dict(zip(CONDITIONS, row, strict=True)),
            dict(zip(CONDITIONS, map(float, row), strict=True)),
        )
        for row in passed
    ]


def test_pairs_are_counted_against_both_others() -> None:
    report = report_of(made((True, False, True), (True, False, False), (False, True, False), (True, True, True)), 2)
    assert report.faults == 2
    assert report.passed["with"] == wilson(3, 4)
    without, placebo = report.contrasts
    assert (without.against, without.passing) == ("without", tango(1, 2, 4))
    assert (without.higher, without.same, without.lower, without.mean_score_gain) == (2, 1, 1, 0.25)
    assert (placebo.against, placebo.passing) == ("placebo", tango(0, 1, 4))


def test_nothing_made_says_nothing() -> None:
    report = report_of([], 3)
    assert report.passed["with"].value is None
    assert report.contrasts[0].mean_score_gain is None


class WrittenFirst(World):
    """Checks that are written once, before a trial."""

    def __init__(self) -> None:
        super().__init__()
        self.prepared: list[str] = []

    async def prepare(self, task: Task, effects: Effects) -> World:
        self.prepared.append(effects.arm)
        return World()


def test_checks_that_are_written_first_are_written_once_for_all_conditions() -> None:
    world = WrittenFirst()
    agent = Reflexion(World(), world, lambda _: "x")
    sample = Sample(past("half", "Do half.", None), Reflection("Do half.", 1), Reflection("No.", 1), "sort")

    async def main() -> list[bool]:
        task = Task("half", "Do it.")
        made = await make_again(sample, task, agent.parts, lambda name: agent.effects(task, arm=name))
        return [trial.feedback.passed for trial in made.values()]

    assert anyio.run(main) == [True, False, False]
    assert world.prepared == ["prepared"]
