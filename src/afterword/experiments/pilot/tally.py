"""A pilot counted: what each task of the three arms came to, and the numbers that stand beside an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from afterword.core.records import Outcome, Usage
from afterword.experiments.audit import PastTask, audited
from afterword.experiments.pilot.deciding import Answer, Counts, Rules, answer_of, tasks_missing
from afterword.experiments.pilot.evidence import confidence_sequence, difference_sequence
from afterword.experiments.results import Result, result_of
from afterword.experiments.statistics import Estimate, percentile

ARMS = ("single", "retry", "reflexion")


@dataclass(frozen=True, slots=True)
class TaskSeen:
    """One task, worked on in all three arms under the same allowance; their first trial is one and the same."""

    single: Result
    retry: Result
    reflexion: Result
    sound: float | None = None
    """The share of its lessons that quote what happened, prescribe a change and say something new; None: no lesson."""

    @property
    def arms(self) -> tuple[Result, Result, Result]:
        """In the order of `ARMS`."""
        return self.single, self.retry, self.reflexion

    @property
    def faulted(self) -> bool:
        """Nothing is concluded where one arm could not be judged."""
        return any(result.faulted for result in self.arms)

    @property
    def unattempted(self) -> bool:
        """The allowance carried no attempt in one arm: nothing is concluded from that either."""
        return not self.faulted and not all(result.trials for result in self.arms)

    @property
    def tells(self) -> bool:
        """Whether it counts."""
        return not self.faulted and not self.unattempted

    @property
    def wrong(self) -> float | None:
        """The share of outputs that the evaluator passed and the held-out check did not; None: none to tell."""
        judged = [not result.accepted for result in self.arms if result.passed and result.accepted is not None]
        return fmean(judged) if judged else None

    @property
    def useful(self) -> float | None:
        """Whether a trial with a lesson passed or scored more than every trial before it; None: there is no such trial.

        A new attempt without a lesson gets further at times too, so this never makes lessons look worse than they are.
        """
        best, with_lesson, further = 0.0, False, False
        for trial in self.reflexion.trials:
            with_lesson = with_lesson or trial.lesson
            further = further or (trial.lesson and (trial.passed or trial.score > best))
            best = max(best, trial.score)
        return float(further) if with_lesson else None


def task_seen(single: Outcome, retry: Outcome, reflexion: Outcome) -> TaskSeen:
    """What the outcomes of a task in the three arms come to."""
    lessons = list(audited(PastTask(reflexion.task_id, reflexion.trials)))
    sound = [bool(one.evidence) and one.prescribes and not one.repeats and not one.copies for one in lessons]
    return TaskSeen(
        result_of(single, arm="single", seed=0),
        result_of(retry, arm="retry", seed=0),
        result_of(reflexion, arm="reflexion", seed=0),
        fmean(sound) if sound else None,
    )


def counted(tasks: Sequence[TaskSeen]) -> Counts:
    """The counts that an answer rests on; tasks with a fault or without an attempt are left out."""
    sound = [task for task in tasks if task.tells]
    pairs = Counter((task.retry.solved, task.reflexion.solved) for task in sound)
    return Counts(
        pairs[True, False],
        pairs[False, True],
        pairs[True, True] + pairs[False, False],
        _values([task.wrong for task in sound]),
        _values([task.useful for task in sound]),
        _values([task.sound for task in sound]),
    )


def _values(seen: Sequence[float | None]) -> dict[float, float]:
    return dict(Counter(value for value in seen if value is not None))


@dataclass(frozen=True, slots=True)
class ArmSeen:
    """One arm, so far."""

    arm: str
    solved: int
    share: Estimate
    calls: float
    """A task, on average."""
    tokens: float
    tokens_p95: float
    cost_usd: float | None
    """None where a price is not known."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a pilot stands: the answer so far, and what it rests on. Intervals hold at all times together."""

    answer: Answer
    more: int | None
    """About how many more tasks an answer takes; None if that is out of reach; 0 with an answer."""
    rules: Rules
    tasks: int
    """That count."""
    faults: int
    unattempted: int
    """Tasks of which the allowance carried no attempt in some arm."""
    only_retry: int
    only_reflexion: int
    difference: Estimate
    """Reflexion less retry, as share of all tasks."""
    false_positives: Estimate
    """Of the outputs that the evaluator passed, as far as a held-out check judged them."""
    useful: Estimate
    sound: Estimate
    arms: tuple[ArmSeen, ...]


def standing(tasks: Sequence[TaskSeen], rules: Rules) -> Standing:
    """Where a pilot stands after these tasks."""
    counts = counted(tasks)
    answer = answer_of(counts, rules)
    sound = [task for task in tasks if task.tells]
    return Standing(
        answer,
        None if not sound else tasks_missing(counts, rules) if answer is Answer.MORE else 0,
        rules,
        len(sound),
        sum(task.faulted for task in tasks),
        sum(task.unattempted for task in tasks),
        round(counts.only_retry),
        round(counts.only_reflexion),
        difference_sequence(counts.only_retry, counts.only_reflexion, counts.alike, rules.alpha),
        confidence_sequence(counts.wrong, rules.alpha),
        confidence_sequence(counts.useful, rules.alpha),
        confidence_sequence(counts.sound, rules.alpha),
        tuple(_arm(name, [task.arms[place] for task in sound], rules) for place, name in enumerate(ARMS)),
    )


def _arm(name: str, results: Sequence[Result], rules: Rules) -> ArmSeen:
    solved = sum(result.solved for result in results)
    total = sum((result.spent for result in results), Usage())
    n = max(1, len(results))
    return ArmSeen(
        name,
        solved,
        confidence_sequence({1.0: solved, 0.0: len(results) - solved}, rules.alpha),
        total.calls / n,
        total.tokens / n,
        percentile([result.spent.tokens for result in results], 0.95) or 0.0,
        None if total.cost_usd is None else total.cost_usd / n,
    )
