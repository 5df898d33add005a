"""An exam in the journal: a run of its own, in which each bug is a task and each lesson or repair an arm of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterword.cli.exam_result import Exam
from afterword.cli.own_run import Used, taken_up, used_before
from afterword.cli.plan import package_hash, role_fingerprint
from afterword.core.effects import Effects, fingerprint
from afterword.core.judging import status_of
from afterword.core.records import Outcome

if TYPE_CHECKING:
    from afterword.experiments.exam import Examined
    from afterword.journal import Run

_CODE = ("afterword.core", "afterword.families.programming", "afterword.experiments.exam")
"""Of these packages the bugs are made, and how their lessons are read."""
_PROMPTS = ("afterword.families.programming", "afterword.reflectors")


@dataclass(frozen=True, slots=True)
class KeptExam:
    """The run, and what its models were asked in it before."""

    run: Run
    used: Used

    async def finish(self, examined: Examined, effects: Mapping[str, Effects]) -> None:
        """Keeps what came of one bug."""
        for arm, trial in examined.trials:
            status = status_of(trial, None, faulted=False)
            usage = dict(effects[arm].total_usage)
            outcome = Outcome(examined.bug.id, status, None, trial, (trial,), None, usage)
            await self.run.finish(outcome, arm=arm, seed=effects[arm].seed)


async def open_kept(exam: Exam, stack: AsyncExitStack) -> KeptExam | None:
    """The run of this exam that was interrupted, or a new one; None where it is kept nowhere.

    Raises:
        InputError: the journal cannot be opened.
    """
    if exam.journal is None:
        return None
    from afterword.journal import RunSpec

    journal = await stack.enter_async_context(exam.journal.opened(create=True))
    settings: dict[str, object] = {
        "command": "exam",
        "actors": [role.name for role in exam.actors],
        "reflectors": [role.name for role in exam.reflectors],
        "items": exam.items,
        "data": None if exam.data is None else str(exam.data.resolve()),
        "baseline": exam.baseline,
        "max_tokens": exam.max_tokens,
    }
    roles = [*((f"actor:{role.name}", role) for role in exam.actors)]
    roles += [(f"reflector:{role.name}", role) for role in exam.reflectors]
    fingerprints = {
        "code": fingerprint([package_hash(package, code=True) for package in _CODE]),
        "prompts": fingerprint([package_hash(package, code=False) for package in _PROMPTS]),
        **{f"model:{name}": role_fingerprint(role) for name, role in roles},
    }
    run = await taken_up(journal, RunSpec(_command(exam), settings, exam.seed, fingerprints))
    return KeptExam(run, await used_before(journal, run))


def _command(exam: Exam) -> tuple[str, ...]:
    """As it stands in a list of runs."""
    models = [word for role in exam.actors for word in ("--model", role.name)]
    models += [word for role in exam.reflectors for word in ("--reflector-model", role.name)]
    return ("afterword", "exam", *models, "--items", str(exam.items), "--seed", str(exam.seed))
