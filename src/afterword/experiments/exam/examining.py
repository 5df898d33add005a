"""The exam: each reflector writes a lesson on each planted bug, and each actor tries again with each lesson.

An actor also tries without any lesson, from the program and its verdict alone: a lesson is worth what it adds to that.
What is examined are the reflector and the actor of the programming family, as a run has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from afterword.core.effects import Effects
from afterword.core.judging import evaluate
from afterword.core.protocols import ActContext, Actor, ReflectContext, Reflector
from afterword.core.records import Reflection, Trajectory, Trial
from afterword.errors import ModelFault
from afterword.evaluators.function_tests import FunctionTests, JudgePool
from afterword.experiments.exam.naming import Naming, naming
from afterword.experiments.exam.planting import PlantedBug

BASELINE = "(no lesson)"
"""Stands for a reflector where an actor tries again without a lesson."""

MakeEffects = Callable[[str, str], Effects]
"""From a bug's id and what is done to the effects that it is done with."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a reflector said of a bug; `lesson` is None where its model gave no answer."""

    reflector: str
    lesson: Reflection | None
    naming: Naming
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """How an actor's next attempt was judged; None where its model gave no answer."""

    actor: str
    reflector: str
    passed: bool | None
    fault: str = ""
    trial: Trial | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """All that was seen on one bug."""

    bug: PlantedBug
    diagnoses: tuple[Diagnosis, ...]
    repairs: tuple[Repair, ...]

    @property
    def answered(self) -> bool:
        """Whether any model answered at all."""
        return any(not one.fault for one in self.diagnoses) or any(not one.fault for one in self.repairs)

    @property
    def faults(self) -> tuple[str, ...]:
        """What kept a model from answering; nothing is concluded from it."""
        said = [one.fault for one in self.diagnoses] + [one.fault for one in self.repairs]
        return tuple(filter(None, said))

    @property
    def trials(self) -> tuple[tuple[str, Trial], ...]:
        """What was made of the bug, by the arm in which it was: lessons on it, and repairs."""
        failed = Trial(1, Trajectory(self.bug.buggy), self.bug.verdict)
        lessons = [(one.reflector, replace(failed, reflection=one.lesson)) for one in self.diagnoses if not one.fault]
        repairs = [(arm_of(one.actor, one.reflector), one.trial) for one in self.repairs if one.trial is not None]
        return (*lessons, *repairs)


def arm_of(actor: str, reflector: str) -> str:
    """The arm in which an actor repairs with a reflector's lesson."""
    return f"{actor} / {reflector}"


async def examine(
    bug: PlantedBug,
    reflectors: Sequence[tuple[str, Reflector]],
    actors: Sequence[tuple[str, Actor]],
    judges: JudgePool,
    effects: MakeEffects,
    *,
    baseline: bool = True,
) -> Examined:
    """Examines every reflector and every pair of actor and reflector on one bug.

    Raises:
        BudgetExhausted: the allowance could not carry a call.
        SandboxFault: a verdict could not be reached.
    """
    failed = Trial(1, Trajectory(bug.buggy), bug.verdict)
    diagnoses = [await _diagnose(bug, failed, name, one, effects) for name, one in reflectors]
    repairs = []
    for actor_name, actor in actors:
        lessons = [(one.reflector, (one.lesson,)) for one in diagnoses if one.lesson is not None]
        tries: list[tuple[str, tuple[Reflection, ...]]] = [*([(BASELINE, ())] if baseline else []), *lessons]
        for reflector, shown in tries:
            made = effects(bug.id, arm_of(actor_name, reflector))
            repairs.append(await _repair(bug, failed, (actor_name, reflector), actor, shown, judges, made))
    return Examined(bug, tuple(diagnoses), tuple(repairs))


async def _diagnose(bug: PlantedBug, failed: Trial, name: str, reflector: Reflector, effects: MakeEffects) -> Diagnosis:
    made = effects(bug.id, name)
    made.begin_trial(1)
    try:
        lesson = await reflector.reflect(ReflectContext(bug.task, failed, (), made))
    except ModelFault as fault:
        return Diagnosis(name, None, Naming(), str(fault))
    if lesson is None or not lesson.text.strip():
        return Diagnosis(name, Reflection("", 1), Naming())
    return Diagnosis(name, lesson, naming(lesson.text, bug))


async def _repair(
    bug: PlantedBug,
    failed: Trial,
    pair: tuple[str, str],
    actor: Actor,
    lessons: tuple[Reflection, ...],
    judges: JudgePool,
    effects: Effects,
) -> Repair:
    effects.begin_trial(2)
    shown = tuple(lesson for lesson in lessons if lesson.text.strip())
    try:
        trajectory = await actor.act(ActContext(bug.task, 2, shown, failed, effects))
    except ModelFault as fault:
        return Repair(*pair, None, str(fault))
    verdict = await evaluate(bug.task, trajectory, FunctionTests(bug.suite, judges, bug.limits), effects)
    trial = Trial(2, trajectory, verdict, lessons_shown=tuple(lesson.trial for lesson in shown))
    return Repair(*pair, verdict.passed, trial=trial)
