"""What lessons cause: the trial after a lesson made again with it, without it, and with a lesson of another task.

What followed a lesson in its run also had the luck of one more attempt. Here all else is the same (the task, the last
attempt, the other lessons), and the placebo tells whether any text in that place would have done as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from afterword.core.effects import Effects
from afterword.core.faults import guard
from afterword.core.judging import evaluate, prepare
from afterword.core.lessons import digests_of
from afterword.core.loop import Parts
from afterword.core.protocols import ActContext
from afterword.core.records import Reflection, Task, Trajectory, Trial
from afterword.core.reset import reset
from afterword.errors import InputError
from afterword.experiments.audit.past import PastTask
from afterword.experiments.statistics import Estimate, tango, wilson

Condition = Literal["with", "without", "placebo"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
PREPARED = "prepared"


@dataclass(frozen=True, slots=True)
class Sample:
    """A lesson that a further trial had in its prompt, and a lesson of another task to put in its place."""

    past: PastTask
    lesson: Reflection
    placebo: Reflection
    """Under the number of the trial whose place it takes."""
    placebo_task: str

    @property
    def failed(self) -> Trial:
        """The trial that the lesson was drawn from."""
        return self._trial(self.lesson.trial)

    @property
    def following(self) -> Trial:
        """The trial that had it in its prompt, as it was in the run."""
        return self._trial(self.lesson.trial + 1)

    def lessons(self, condition: Condition) -> tuple[Reflection, ...]:
        """What the trial's prompt holds: the same lessons as in the run, except for this one."""
        instead = {"with": (self.lesson,), "without": (), "placebo": (self.placebo,)}[condition]
        known = {lesson.trial: lesson for lesson in _lessons(self.past)}
        known |= {digest.trial: digest for digest in self.following.digests}
        shown = [known[number] for number in self.following.lessons_shown if number in known]
        return tuple(one for lesson in shown for one in (instead if lesson.trial == self.lesson.trial else (lesson,)))

    def _trial(self, number: int) -> Trial:
        return next(trial for trial in self.past.trials if trial.number == number)


def draw_samples(pasts: Sequence[PastTask], most: int, seed: int = 0) -> tuple[Sample, ...]:
    """At most so many lessons, one of a task, so that the pairs are independent; drawn by the seed.

    Raises:
        InputError: there are not two tasks with a lesson that a further trial had in its prompt.
    """
    source = random.Random(seed)  # noqa: S311 - which lessons are looked at, no secret
    with_lessons = [(past, list(_followed(past))) for past in pasts]
    eligible = [(past, lessons) for past, lessons in with_lessons if lessons]
    every = [(past, lesson) for past, lessons in eligible for lesson in lessons]
    if len({past.task for past, _ in every}) < 2:
        raise InputError(
            "a placebo is a lesson of another task; expected two tasks with a lesson that a further trial had in its "
            f"prompt, found {len({past.task for past, _ in every})}"
        )
    samples = []
    for past, lessons in source.sample(eligible, min(most, len(eligible))):
        lesson = source.choice(lessons)
        others = [(other.task, text) for other, text in every if other.task != past.task]
        task, placebo = source.choice(others)
        samples.append(Sample(past, lesson, replace(placebo, trial=lesson.trial), task))
    return tuple(samples)


def _lessons(past: PastTask) -> Iterator[Reflection]:
    for trial in past.trials:
        if trial.reflection is not None and trial.reflection.text.strip():
            yield trial.reflection


def _followed(past: PastTask) -> Iterator[Reflection]:
    shown = {trial.number: {*trial.lessons_shown} - {d.trial for d in trial.digests} for trial in past.trials}
    return (lesson for lesson in _lessons(past) if lesson.trial in shown.get(lesson.trial + 1, ()))


async def make_again(
    sample: Sample, task: Task, parts: Parts, effects_of: Callable[[str], Effects]
) -> dict[Condition, Trial]:
    """The trial after the lesson, made again under each condition, and judged by the same visible checks.

    `effects_of` gives the effects of a condition, and of `prepared` for checks that have to be written first.

    Raises:
        Fault: something other than the agent failed.
        BudgetExhausted: the allowance of the task cannot carry it.
    """
    evaluator = await prepare(task, parts.evaluator, effects_of(PREPARED))
    made: dict[Condition, Trial] = {}
    fresh_state: str | None = None
    for condition in CONDITIONS:
        effects = effects_of(condition)
        effects.begin_trial(sample.following.number)
        fresh_state = await reset(parts.actor, fresh_state)
        made[condition] = await _tried(sample, condition, task, replace(parts, evaluator=evaluator), effects)
    return made


async def _tried(sample: Sample, condition: Condition, task: Task, parts: Parts, effects: Effects) -> Trial:
    previous = sample.failed if parts.strategy.shows_last_attempt else None
    lessons = sample.lessons(condition)
    context = ActContext(task, sample.following.number, lessons, previous, effects)
    trajectory = await guard("actor", Trajectory, parts.actor.act, context)
    feedback = await evaluate(task, trajectory, parts.evaluator, effects)
    shown = tuple(lesson.trial for lesson in lessons)
    return Trial(context.number, trajectory, feedback, None, shown, dict(effects.usage), digests_of(lessons))


@dataclass(frozen=True, slots=True)
class Made:
    """A sample's three trials."""

    task: str
    trial: int
    lesson: str
    placebo: str
    passed: Mapping[Condition, bool]
    scores: Mapping[Condition, float]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Trials with the lesson against trials without it, or with the placebo, in pairs."""

    against: Condition
    passing: Estimate
    """Share that passed with the lesson, less the share that passed without."""
    higher: int
    """Pairs in which the score was higher with the lesson."""
    same: int
    lower: int
    mean_score_gain: float | None


@dataclass(frozen=True, slots=True)
class CausalReport:
    """What the lessons caused."""

    made: tuple[Made, ...]
    faults: int
    """Samples that came to no verdict under some condition, and count nowhere."""
    passed: Mapping[Condition, Estimate]
    contrasts: tuple[Contrast, ...]


def report_of(made: Sequence[Made], faults: int) -> CausalReport:
    """All pairs counted."""
    passed = {name: wilson(sum(one.passed[name] for one in made), len(made)) for name in CONDITIONS}
    return CausalReport(tuple(made), faults, passed, tuple(_contrast(made, name) for name in ("without", "placebo")))


def _contrast(made: Sequence[Made], against: Condition) -> Contrast:
    only_other = sum(one.passed[against] and not one.passed["with"] for one in made)
    only_with = sum(one.passed["with"] and not one.passed[against] for one in made)
    gains = [one.scores["with"] - one.scores[against] for one in made]
    return Contrast(
        against,
        tango(only_other, only_with, len(made)),
        sum(gain > 0 for gain in gains),
        sum(gain == 0 for gain in gains),
        sum(gain < 0 for gain in gains),
        sum(gains) / len(gains) if gains else None,
    )
