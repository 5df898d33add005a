"""What earlier runs give: their lessons with what followed each, and their first trials."""

from __future__ import annotations

from collections.abc import Iterator

from afterword.core.records import Feedback
from afterword.experiments.audit import PastTask
from afterword.experiments.lessons.distil import SourceLesson
from afterword.experiments.lessons.transfer import FirstTrial
from afterword.reflectors.shape import Problem


def lessons_of(past: PastTask) -> Iterator[SourceLesson]:
    """The lessons of a task, each with the checks that the next trial gained.

    None that a later one took back, no placeholder, and none that copies a worked example: those are alike on all
    tasks, since what they say is of none of them.
    """
    taken_back = {
        number for trial in past.trials if trial.reflection is not None for number in trial.reflection.retracts
    } | {number for trial in past.trials for number in trial.retired}
    following = {before.number: after for before, after in zip(past.trials, past.trials[1:], strict=False)}
    for trial in past.trials:
        lesson = trial.reflection
        if lesson is None or not lesson.text.strip() or trial.number in taken_back:
            continue
        if lesson.source == "placeholder" or Problem.FROM_EXAMPLE in lesson.problems:
            continue
        after = following.get(trial.number)
        gained = None if after is None else _passed(after.feedback) - _passed(trial.feedback)
        yield SourceLesson(past.task, trial.number, lesson.text, gained)


def first_trial_of(past: PastTask) -> FirstTrial | None:
    """How the first trial of a task ended; None where there is none."""
    first = next((trial for trial in past.trials if trial.number == 1), None)
    if first is None:
        return None
    return FirstTrial(past.task, past.seed, first.feedback.passed, first.feedback.score)


def _passed(feedback: Feedback) -> int:
    return feedback.checks_passed if feedback.checks else int(feedback.passed)
