"""The lessons of a run counted: shares over all of them and by family and model.

Lessons of one task are alike, so the intervals go by task (see `shares`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from afterword.experiments.audit.labels import LABELS, Label
from afterword.experiments.audit.lessons import AuditedLesson
from afterword.experiments.shares import share_of_items
from afterword.experiments.statistics import Estimate

ALL = ("all", "all")

_ASPECTS: Mapping[str, Callable[[AuditedLesson], bool]] = {
    "quotes evidence": lambda lesson: bool(lesson.evidence),
    "names a check": lambda lesson: lesson.names_check,
    "prescribes a change": lambda lesson: lesson.prescribes,
    "repeats an earlier one": lambda lesson: lesson.repeats,
    "copies an example": lambda lesson: lesson.copies,
    "retracted later": lambda lesson: lesson.retracted,
    "retired by the score": lambda lesson: lesson.retired,
}
_EFFECTS = ("gained", "same", "lost")


@dataclass(frozen=True, slots=True)
class Group:
    """The lessons of one family and model."""

    family: str
    model: str
    lessons: int
    tasks: int
    arms: int
    """Arms and seeds in which the tasks were worked on."""
    aspects: Mapping[str, Estimate]
    """Shares of all lessons."""
    effects: Mapping[str, Estimate]
    """Shares of the lessons that a further trial had in its prompt."""
    checks_gained: int
    checks_lost: int
    labels: Mapping[Label, Estimate]
    """Shares of the lessons that a person classed; empty where nobody did."""


def summarise(lessons: Iterable[AuditedLesson], labels: Mapping[str, Label] | None = None) -> tuple[Group, ...]:
    """Each family and model; where there is more than one, all lessons before them."""
    groups: dict[tuple[str, str], list[AuditedLesson]] = defaultdict(list)
    for lesson in lessons:
        groups[ALL].append(lesson)
        groups[lesson.family, lesson.model].append(lesson)
    found = [
        _group(family, model, members, labels or {}) for (family, model), members in sorted(groups.items(), key=_order)
    ]
    return tuple(found[1:] if len(found) == 2 else found)


def _order(item: tuple[tuple[str, str], list[AuditedLesson]]) -> tuple[bool, tuple[str, str]]:
    return item[0] != ALL, item[0]


def _group(family: str, model: str, lessons: list[AuditedLesson], labels: Mapping[str, Label]) -> Group:
    followed = [lesson for lesson in lessons if lesson.effect is not None]
    classed = [lesson for lesson in lessons if lesson.key in labels]
    return Group(
        family,
        model,
        len(lessons),
        len({lesson.task for lesson in lessons}),
        len({(lesson.arm, lesson.seed) for lesson in lessons}),
        {name: _share((one.task, holds(one)) for one in lessons) for name, holds in _ASPECTS.items()},
        {name: _share((one.task, one.effect == name) for one in followed) for name in _EFFECTS},
        sum(lesson.checks_gained for lesson in followed),
        sum(lesson.checks_lost for lesson in followed),
        {label: _share((one.task, labels[one.key] == label) for one in classed) for label in LABELS} if classed else {},
    )


def _share(found: Iterable[tuple[str, bool]]) -> Estimate:
    """Of how many lessons something holds; each is given by its task and whether it does."""
    by_task: dict[str, list[bool]] = defaultdict(list)
    for task, holds in found:
        by_task[task].append(holds)
    return share_of_items(by_task.values())
