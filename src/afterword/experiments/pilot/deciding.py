"""The answer of a pilot as a function of what was counted so far: which of five it is, and how many tasks are missing.

Apart from how tasks are worked on, so that its error rates can be simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from afterword.errors import InputError
from afterword.experiments.pilot.evidence import (
    ALPHA,
    Values,
    evidence_of_less,
    evidence_of_more,
    is_enough,
    pairs,
)

MOST_TASKS = 10_000
"""So many more tasks are as good as never."""
MOST_LESSONS = 50
"""Of so many tasks with lessons it is as clear as is worth waiting for whether these are useless."""


class Answer(StrEnum):
    """Whether to use reflexion on tasks like these with this model."""

    USE = "use it"
    RETRY = "retry is as good"
    EVALUATOR = "fix the evaluator first"
    LESSONS = "your model does not write useful lessons"
    MORE = "not enough tasks to tell"


@dataclass(frozen=True, slots=True)
class Rules:
    """Where answers part. Stated before the first task, and never moved by what is seen."""

    alpha: float = ALPHA
    """Each answer but the last is wrong in at most this share of pilots, whenever they stop."""
    margin: float = 0.1
    """A gain over retry of less than this share of all tasks is not worth it."""
    false_positives: float = 0.1
    """The evaluator may be wrong about so many of the outputs it passes; between the paper's benchmarks with 1.4 %,
    where reflexion gained, and with 16.3 %, where it lost."""
    useful: float = 0.25
    """Lessons are useless if fewer of the tasks that have any get further with one."""
    sound: float = 0.5
    """And if fewer of them quote what happened, prescribe a change and say something new."""
    exam_named: float = 0
    """Known before the first task: how many planted bugs of an exam the model's lessons named. If that is less than the
    share `useful`, it is a reason too."""
    exam_bugs: float = 0

    def __post_init__(self) -> None:
        for option, value, most in (
            ("--alpha", self.alpha, 0.5),
            ("--margin", self.margin, 1.0),
            ("--false-positives", self.false_positives, 1.0),
            ("useful", self.useful, 1.0),
            ("sound", self.sound, 1.0),
        ):
            if not 0 < value < most:
                raise InputError(f"{option} takes a number between 0 and {most:g}, found {value:g}")
        if not 0 <= self.exam_named <= self.exam_bugs:
            raise InputError(f"an exam names at most all of its bugs, found {self.exam_named:g} of {self.exam_bugs:g}")

    @property
    def exam(self) -> Values:
        """A value for each planted bug: 1 where a lesson named it."""
        return {1.0: self.exam_named, 0.0: self.exam_bugs - self.exam_named} if self.exam_bugs else {}


@dataclass(frozen=True, slots=True)
class Counts:
    """What the answer rests on; a task without a fault adds one pair, and a value to what it has something to say of.

    Numbers may be fractions where they are projected.
    """

    only_retry: float = 0
    """Tasks that only retry solved."""
    only_reflexion: float = 0
    alike: float = 0
    wrong: Values = field(default_factory=dict)
    """Of tasks with outputs that the evaluator passed and a held-out check judged: the share of these that is wrong."""
    useful: Values = field(default_factory=dict)
    """Of tasks with a lesson that a further trial saw: 1 where one of these got further."""
    sound: Values = field(default_factory=dict)
    """Of tasks with lessons: the share that is sound by the look of its text."""

    @property
    def tasks(self) -> float:
        """Tasks without a fault."""
        return self.only_retry + self.only_reflexion + self.alike

    @property
    def pairs(self) -> Values:
        """Retry against reflexion, a value a task."""
        return pairs(self.only_retry, self.only_reflexion, self.alike)

    def projected(self, more: float) -> Counts:
        """What is to be expected after so many more tasks, if they are like those before.

        Two pairs are added in thought, half of them ties: otherwise one lucky task would promise an early answer.
        """
        factor = (self.tasks + more) / self.tasks if self.tasks else 1.0
        share = (self.tasks + more) / (self.tasks + 2)
        return Counts(
            (self.only_retry + 0.5) * share,
            (self.only_reflexion + 0.5) * share,
            (self.alike + 1) * share,
            _scaled(self.wrong, factor),
            _scaled(self.useful, factor),
            _scaled(self.sound, factor),
        )


def answer_of(counts: Counts, rules: Rules) -> Answer:
    """The answer so far. An evaluator that is wrong comes first: with it nothing else can be trusted."""

    def more(values: Values, than: float) -> bool:
        return is_enough(evidence_of_more(values, than), rules.alpha)

    def less(values: Values, than: float) -> bool:
        return is_enough(evidence_of_less(values, than), rules.alpha)

    if more(counts.wrong, rules.false_positives):
        return Answer.EVALUATOR
    if more(counts.pairs, 0.5):
        return Answer.USE
    if not less(counts.pairs, (1 + rules.margin) / 2):
        return Answer.MORE
    useless = less(counts.useful, rules.useful) or less(counts.sound, rules.sound) or less(rules.exam, rules.useful)
    if useless or less(counts.pairs, 0.5):
        return Answer.LESSONS
    return Answer.RETRY


def is_clear(counts: Counts, rules: Rules) -> bool:
    """Whether nothing more has to be asked.

    That retry is as good is told a little later where its reason may be that lessons are useless, which is the better
    answer if it can be shown.
    """
    answer = answer_of(counts, rules)
    if answer is not Answer.RETRY:
        return answer is not Answer.MORE
    looks_useless = _mean(counts.useful, 1.0) < rules.useful or _mean(counts.sound, 1.0) < rules.sound
    return not looks_useless or sum(counts.useful.values()) >= MOST_LESSONS


def tasks_missing(counts: Counts, rules: Rules) -> int | None:
    """About how many more tasks an answer takes, if they are like those before; None if that is out of reach."""

    def is_told(more: int) -> bool:
        return answer_of(counts.projected(more), rules) is not Answer.MORE

    return _first(is_told, MOST_TASKS)


def _first(holds: Callable[[int], bool], most: int) -> int | None:
    """The least number from 1 at which something holds that holds from then on, as far as that matters here."""
    high = 1
    while not holds(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _mean(values: Values, of_none: float) -> float:
    n = sum(values.values())
    return sum(value * times for value, times in values.items()) / n if n else of_none


def _scaled(values: Values, factor: float) -> Mapping[float, float]:
    return {value: times * factor for value, times in values.items()}
