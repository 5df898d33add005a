"""Each lesson of a run looked at without a person: what its text holds, and what followed it in the next trial.

What followed is no proof of what caused it: the next trial also had another attempt's luck. `causal` asks for that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from afterword.core.effects import fingerprint
from afterword.core.lessons import check_ids_of, normalise, same_lesson
from afterword.core.records import Feedback, Reflection, Trial
from afterword.experiments.audit.past import PastTask
from afterword.reflectors.shape import Material, Problem, find_evidence, is_generic, names_change

Effect = Literal["gained", "lost", "same"]
ALIKE = 0.9
"""As the loop's own rule on repeated lessons."""
_COMMON_NAMES = frozenset({"solution", "return", "None", "True", "False"})


@dataclass(frozen=True, slots=True)
class AuditedLesson:
    """A lesson and what was found about it."""

    task: str
    family: str
    model: str
    arm: str
    seed: int
    trial: int
    text: str
    evidence: str
    """What it quotes from its trial; empty when it quotes nothing."""
    names_check: bool
    """A check of the task, whether it failed or passed."""
    prescribes: bool
    """Some change, and not one that would fit any task."""
    repeats: bool
    """It says the same as an earlier lesson of the task."""
    copies: bool
    """It repeats a worked example, as its reflector found."""
    retracted: bool
    retired: bool
    effect: Effect | None
    """Of the trial after it; None if there was none, or if the lesson was not in its prompt."""
    checks_gained: int = 0
    """Checks that failed before and passed after; 0 where there are no checks."""
    checks_lost: int = 0

    @property
    def key(self) -> str:
        """Names the lesson in a file of labels, also when the same run is looked at again."""
        return fingerprint(self.task, self.arm, self.seed, self.trial, self.text)[:16]


def audited(past: PastTask) -> Iterator[AuditedLesson]:
    """The lessons of a task, in order."""
    ids = check_ids_of(past.trials)
    real_ids = frozenset(name for name in ids if not name.startswith("passed:"))
    retracted = {
        number for trial in past.trials if trial.reflection is not None for number in trial.reflection.retracts
    }
    retired = {number for trial in past.trials for number in trial.retired}
    earlier: list[str] = []
    after = {trial.number: trial for trial in past.trials}
    for trial in past.trials:
        reflection = trial.reflection
        if reflection is None or reflection.source == "placeholder" or not reflection.text.strip():
            continue
        text = normalise(reflection.text, real_ids)
        next_trial = after.get(trial.number + 1)
        followed = next_trial is not None and trial.number in next_trial.lessons_shown
        gained, lost = _moved(trial.feedback, next_trial.feedback) if followed and next_trial is not None else (0, 0)
        yield AuditedLesson(
            past.task,
            past.family,
            past.model,
            past.arm,
            past.seed,
            trial.number,
            reflection.text,
            evidence=find_evidence(reflection.text, _material(trial)),
            names_check=_names_one(reflection, real_ids),
            prescribes=names_change(reflection.text) and not is_generic(reflection.text),
            repeats=any(same_lesson(one, text, ALIKE) for one in earlier),
            copies=Problem.FROM_EXAMPLE in reflection.problems,
            retracted=trial.number in retracted,
            retired=trial.number in retired,
            effect=_effect(trial.feedback, next_trial.feedback) if followed and next_trial is not None else None,
            checks_gained=gained,
            checks_lost=lost,
        )
        earlier.append(text)


def _material(trial: Trial) -> Material:
    feedback, trajectory = trial.feedback, trial.trajectory
    steps = (part for step in trajectory.steps for part in (step.action, step.observation) if part)
    return Material(
        instructions="",
        sources=(feedback.message, *(check.message for check in feedback.checks), trajectory.output, *steps),
        check_ids=feedback.failed_ids,
        common_names=_COMMON_NAMES,
        actions=tuple(step.action for step in trajectory.steps if step.observation),
    )


def _names_one(reflection: Reflection, ids: Collection[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", reflection.text) for name in ids)


def _moved(before: Feedback, after: Feedback) -> tuple[int, int]:
    """How many checks were gained and lost; a trial that passed has gained all that failed."""
    failed_before, failed_after = set(before.failed_ids), set(after.failed_ids)
    return len(failed_before - failed_after), len(failed_after - failed_before)


def _effect(before: Feedback, after: Feedback) -> Effect:
    """By the checks that moved; where there are none, or as many each way, by the score."""
    gained, lost = _moved(before, after)
    change = float(gained - lost) or after.score - before.score
    if abs(change) < 1e-9:
        return "same"
    return "gained" if change > 0 else "lost"
