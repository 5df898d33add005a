"""A finished run by its name: in a journal, or as the file that `afterword run --json` printed."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from afterword.cli.jsonl import read_rows
from afterword.cli.looking_back import existing_journal
from afterword.core.records import Trial
from afterword.errors import InputError
from afterword.experiments.audit import PastTask, past_task, reflected_by


@dataclass(frozen=True, slots=True)
class PastRun:
    """Which run was meant."""

    name: str
    file: Path | None
    """Where it is a file."""
    journal: str | None = None

    def beside(self, ending: str) -> Path:
        """A file that belongs to the run: beside its own file, else in the current folder."""
        return Path(f"{self.name}{ending}") if self.file is None else self.file.with_name(self.file.name + ending)


def past_run(name: str, journal: str | None) -> PastRun:
    """A run by the path of its file or by its name in a journal.

    Raises:
        InputError: it looks like a path and there is no file.
    """
    path = Path(name)
    if path.is_file():
        return PastRun(name, path)
    if path.suffix in (".json", ".jsonl") or "/" in name:
        raise InputError("expected a file that `afterword run --json` printed, found none; check the path", file=path)
    return PastRun(name, None, journal)


def lessons_run(name: str | None, journal: str | None) -> PastRun:
    """The run of this name; without one the latest of the journal in which lessons were written, told on stderr.

    Raises:
        InputError: there is none.
    """
    if name is not None:
        return past_run(name, journal)
    run = anyio.run(_latest_with_lessons, journal)
    sys.stderr.write(f"run {run.name}, the latest with lessons\n")
    return run


async def _latest_with_lessons(journal: str | None) -> PastRun:
    async with existing_journal(journal) as opened:
        for summary in await opened.runs():
            if "command" in (await opened.spec(summary.id)).settings:
                continue  # an exam, or trials that an audit made again
            if any(use.role == "reflector" for use in await opened.models(summary.id)):
                return PastRun(summary.id, None, journal)
    raise InputError("no run of the journal has lessons; name a file of what `afterword run --json` printed")


async def tasks_of(run: PastRun) -> AsyncGenerator[PastTask]:
    """The tasks of a run, with all their trials. Whoever may stop before the last one closes it (`aclosing`).

    Raises:
        InputError: the file is no outcomes, or the journal has no such run.
    """
    if run.file is not None:
        for row in read_rows(run.file):
            try:
                yield past_task(row.values)
            except InputError as error:
                raise InputError(error.message, file=row.file, line=row.line) from None
        return
    async with existing_journal(run.journal) as journal:
        plan = (await journal.spec(run.name)).settings
        trials: list[Trial] = []
        of = PastTask("", ())
        async for kept in journal.trials(run.name):
            if trials and (kept.task, kept.arm, kept.seed) != (of.task, of.arm, of.seed):
                yield replace(of, trials=tuple(trials))
                trials = []
            family, model = reflected_by(plan, kept.arm)
            of = PastTask(kept.task, (), family, model, kept.arm, kept.seed)
            trials.append(kept.trial)
        if trials:
            yield replace(of, trials=tuple(trials))


async def reflected_on(run: PastRun) -> dict[tuple[str, str, int, int], str]:
    """What the reflector was shown of each trial, by task, arm, seed and trial; a file has no prompts."""
    shown: dict[tuple[str, str, int, int], str] = {}
    if run.file is not None:
        return shown
    async with existing_journal(run.journal) as journal:
        async for effect in journal.effects(run.name):
            place = (effect.task, effect.arm, effect.seed, effect.trial)
            if effect.role == "reflector" and not effect.superseded and place not in shown:
                shown[place] = _last_message(effect.request)
    return {place: text for place, text in shown.items() if text}


def _last_message(request: object) -> str:
    """The last message of a model call as the journal has it; empty where it is none."""
    asked = request[1] if isinstance(request, Sequence) and len(request) == 2 else None
    messages = asked.get("messages") if isinstance(asked, Mapping) else None
    last = messages[-1] if isinstance(messages, Sequence) and messages else None
    content = last.get("content") if isinstance(last, Mapping) else None
    return content if isinstance(content, str) else ""
