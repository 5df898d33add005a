"""Pilots that never were, with a known truth: how often each answer comes out, and after how many tasks.

The rules are those of real pilots; only the tasks are drawn.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

from afterword.experiments.pilot.deciding import Answer, Counts, Rules, answer_of, is_clear


@dataclass(frozen=True, slots=True)
class Truth:
    """How tasks come out. Each has a difficulty of its own, which both arms share, and a first trial that is one."""

    first: float = 0.5
    """Share solved by the first trial."""
    later: float = 0.4
    """Share that retry solves of those it did not."""
    gain: float = 0.0
    """How many more of all tasks reflexion solves than retry."""
    wrong: float = 0.0
    """Share of passed outputs that are wrong."""
    judged: bool = True
    """Whether there is a held-out check."""
    useful: float = 0.6
    """Share of tasks with lessons that get further with one."""
    sound: float = 0.8
    """Share of lessons that are sound by the look of their text."""
    spread: float = 1.0
    """How far tasks differ in difficulty: 0 not at all, 1 as far as can be."""

    def draw(self, chance: random.Random) -> tuple[int, float | None, float | None, float | None]:
        """Reflexion less retry, and what one task adds to `wrong`, `useful` and `sound`."""
        wrong = float(chance.random() < self.wrong) if self.judged else None
        if chance.random() < self.first:
            return 0, wrong, None, None
        alike = chance.random() < self.spread  # one draw for both arms, or one each
        retry = chance.random()
        reflexion = retry if alike else chance.random()
        by_retry = retry < self.later
        by_reflexion = reflexion < self.later + self.gain / (1 - self.first)
        passed = by_retry or by_reflexion
        useful = float(chance.random() < self.useful)
        return int(by_reflexion) - int(by_retry), wrong if passed else None, useful, self.sound


@dataclass(frozen=True, slots=True)
class Simulated:
    """Pilots of one truth."""

    pilots: int
    answers: Mapping[Answer, int]
    tasks: Mapping[Answer, float] = field(default_factory=dict)
    """The median of tasks until each answer."""

    def share(self, answer: Answer) -> float:
        """How often the answer came out."""
        return self.answers.get(answer, 0) / self.pilots


def simulate(truth: Truth, rules: Rules, *, pilots: int, most_tasks: int = 200, seed: int = 0) -> Simulated:
    """So many pilots, each looked at after every task and stopped at the first answer, or after the last task."""
    chance = random.Random(seed)  # noqa: S311
    answers: Counter[Answer] = Counter()
    lengths: dict[Answer, list[int]] = {}
    for _ in range(pilots):
        answer, tasks = pilot(truth, rules, most_tasks, chance)
        answers[answer] += 1
        lengths.setdefault(answer, []).append(tasks)
    return Simulated(pilots, answers, {answer: median(tasks) for answer, tasks in lengths.items()})


def pilot(truth: Truth, rules: Rules, most_tasks: int, chance: random.Random) -> tuple[Answer, int]:
    """One pilot: its answer, and after how many tasks."""
    answer, tasks = Answer.MORE, 0
    for counts, clear in drawn(truth, rules, most_tasks, chance):
        tasks += 1
        if clear or tasks == most_tasks:
            answer = answer_of(counts, rules)
        if clear:
            break
    return answer, tasks


def drawn(truth: Truth, rules: Rules, most_tasks: int, chance: random.Random) -> Iterator[tuple[Counts, bool]]:
    """What is counted after each task, and whether the answer is clear."""
    ahead: Counter[int] = Counter()
    wrong: Counter[float] = Counter()
    useful: Counter[float] = Counter()
    sound: Counter[float] = Counter()
    for _ in range(most_tasks):
        difference, *values = truth.draw(chance)
        ahead[difference] += 1
        for seen, value in zip((wrong, useful, sound), values, strict=True):
            if value is not None:
                seen[value] += 1
        counts = Counts(ahead[-1], ahead[1], ahead[0], dict(wrong), dict(useful), dict(sound))
        yield counts, is_clear(counts, rules)
