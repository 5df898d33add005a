"""What a session starts from: a new run, one that is taken up again, one that is forked off, or none that is kept.

Here the journal is opened and what it holds is compared with what the tasks, prompts, models and code are now.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.cli.continuing import refuse_uncontinuable, what_is_new
from afterword.cli.departures import Departure, FreshChecks
from afterword.cli.families import family_named
from afterword.cli.kept import Kept
from afterword.cli.plan import Plan, plan_of
from afterword.cli.session import Items, Start
from afterword.cli.stalls import stalls_told
from afterword.core.budget import Allowance
from afterword.core.messages import ChatRequest
from afterword.errors import InputError, RunChanged
from afterword.experiments.results import BURNED, FRESH
from afterword.models.opening import split_name

if TYPE_CHECKING:
    from afterword.journal import Journal, Note, Run, RunSpec

_TRIAL = re.compile(r"(\d+)\Z")
_PASSWORD = re.compile(r"(://[^:/@]*:)[^@]*(?=@)")


@dataclass(frozen=True, slots=True)
class JournalChoice:
    """Which journal, as a command line says it."""

    where: str | None = None
    fsync: bool = False
    secrets: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """What has to be added to a command for it to find this journal."""
        if self.where is None:
            return ""
        where = _PASSWORD.sub(r"\1***", self.where)
        return f" --journal {shlex.quote(where)}"

    @asynccontextmanager
    async def opened(self, *, create: bool) -> AsyncIterator[Journal]:
        """The journal, open."""
        from afterword.journal import open_journal

        opening = open_journal(self.where, fsync=self.fsync, create=create, secrets=self.secrets)
        async with opening as journal, stalls_told(journal):
            yield journal


def secrets_of(api_key: str | None, base_url: str | None) -> tuple[str, ...]:
    """What a command line and the addresses in the environment say that must not be kept."""
    from afterword.models.inventory import URL_VARIABLES
    from afterword.models.options import secrets_in

    addresses = (base_url, *map(os.environ.get, URL_VARIABLES))
    return (api_key or "", *(secret for address in addresses for secret in secrets_in(address)))


@dataclass(frozen=True, slots=True)
class Changes:
    """What may differ when a run is resumed: how quickly it goes, what it may spend, and what is never kept."""

    api_key: str | None = None
    base_url: str | None = None
    jobs: int | None = None
    model_calls: int | None = None
    verdicts: int | None = None
    total: Allowance | None = None
    """None: as before."""
    data: Path | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be kept."""
        return secrets_of(self.api_key, self.base_url)

    def made(self, plan: Plan) -> Plan:
        """The plan with these changes."""
        models = plan.settings.models
        models = replace(models, api_key=self.api_key, base_url=self.base_url or models.base_url)
        return replace(
            plan,
            settings=replace(plan.settings, models=models, data=self.data or plan.settings.data),
            jobs=self.jobs or plan.jobs,
            model_calls=self.model_calls or plan.model_calls,
            verdicts=self.verdicts or plan.verdicts,
            total=_merged(plan.total, self.total),
        )


def _merged(before: Allowance, now: Allowance | None) -> Allowance:
    if now is None:
        return before
    return Allowance(
        calls=now.calls or before.calls,
        tokens=now.tokens or before.tokens,
        cost_usd=now.cost_usd or before.cost_usd,
        seconds=now.seconds or before.seconds,
    )


def unkept(plan: Plan, record: Path | None = None) -> Start:
    """A run that is kept nowhere.

    Raises:
        InputError: a source, a task or an option is wrong.
    """
    family = family_named(plan.family)
    return Start(plan, family, Items(plan, family), Kept(None), record=record)


@asynccontextmanager
async def unkept_run(plan: Plan, record: Path | None) -> AsyncIterator[Start]:
    """As `unkept`, for whoever expects something to be opened."""
    yield unkept(plan, record)


@asynccontextmanager
async def new_run(
    plan: Plan, choice: JournalChoice, command: tuple[str, ...], record: Path | None
) -> AsyncIterator[Start]:
    """A run that begins with its first task.

    Raises:
        InputError: a source, a task or an option is wrong, or the journal cannot be opened.
    """
    from afterword.journal import RunSpec

    start = unkept(plan, record)
    async with choice.opened(create=True) as journal:
        spec = RunSpec(command, plan.data(), plan.settings.seed, start.fingerprints)
        yield replace(
            start,
            kept=Kept(None, lambda: journal.start(spec)),
            where=journal.where,
            journal_option=choice.option,
        )


@asynccontextmanager
async def resumed_run(
    name: str | None, choice: JournalChoice, changes: Changes, record: Path | None
) -> AsyncIterator[Start]:
    """A run that is taken up again.

    Raises:
        InputError: there is no such run, or it was not started by the command line.
        RunChanged: a task, a prompt, a model or the code differs from what it was started with.
        RunBusy: another process is at work on it.
    """
    async with choice.opened(create=False) as journal:
        run = await journal.resume(name, reopen=False)
        with _there(run.spec):
            start = await _taken_up(journal, run, choice, changes)
            check(run, start)
            yield replace(start, record=record)


@asynccontextmanager
async def forked_run(
    name: str | None,
    at: tuple[str, int],
    lesson: str | None,
    choice: JournalChoice,
    changes: Changes,
    arm: str | None = None,
    seed: int | None = None,
) -> AsyncIterator[Start]:
    """A new run from a trial of one task of another run; what has changed since then counts for it.

    Raises:
        InputError: there is no such run, task or trial, or no lesson in its strategy.
    """
    async with choice.opened(create=False) as journal:
        spec = await journal.spec(name)
        with _there(spec):
            plan = changes.made(plan_of(spec.settings)).narrowed(arm, seed)
            case = plan.cases[0]
            if lesson is not None and not case.settings.strategy.reflects:
                raise InputError(
                    f"--lesson needs a strategy with lessons, and the run's is {case.settings.strategy}; leave it out"
                )
            _refuse_revealed(at, await journal.notes(name))
            family = family_named(plan.family)
            now = replace(spec, settings=plan.data(), fingerprints=unkept(plan).fingerprints)
            run = await journal.fork(name, at, lesson, arm=str(case.arm), seed=case.seed, spec=now)
            start = await _taken_up(journal, run, choice, changes)
            yield replace(start, items=Items(plan, family, only=at[0]))


@asynccontextmanager
async def continued_run(
    name: str, task: str, choice: JournalChoice, changes: Changes, reveal: bool, fresh: FreshChecks | None
) -> AsyncIterator[Start]:
    """A run of which one task is taken up again: its held-out failure is revealed, fresh checks are given, or both.

    What is new is written down once the task's loop has opened, so that checks that cannot be used leave no mark.

    Raises:
        InputError: there is no such run or task, or what it came to does not allow this.
        RunChanged, RunBusy: as `resumed_run`.
    """
    async with choice.opened(create=False) as journal:
        run = await journal.resume(name, reopen=False)
        with _there(run.spec):
            start = await _taken_up(journal, run, choice, changes)
            if len(start.plan.cases) > 1:
                raise InputError(
                    "that run compares arms, and goes on comparing them as they are; continue a fork of one: "
                    f"afterword fork {run.id} --at {task}:TRIAL --arm ARM"
                )
            check(run, start)
            if fresh is not None and start.family.name != "programming":
                raise InputError(f"--held-out is for programs; the run is of the family {start.family.name}")
            case = start.plan.cases[0]
            settings, arm, seed = case.settings, case.arm, case.seed
            outcome = await run.outcome(task, arm=arm, seed=seed)
            before = start.departures.get(task, Departure())
            refuse_uncontinuable(run.id, task, outcome, before, settings.strategy, reveal=reveal, fresh=fresh)
            statuses = (await journal.summary(run.id)).statuses
            concluded = sum(number for status, number in statuses.items() if status != "faulted")
            best = 0 if outcome is None or outcome.best is None else outcome.best.number
            notes = what_is_new(task, best if reveal and not before.burned else None, fresh)

            async def reopen() -> None:
                await run.forget(task, arm=arm, seed=seed, trial=best + 1, why="it is continued", notes=notes)

            yield replace(
                start,
                items=Items(start.plan, start.family, only=task),
                kept=Kept(run, reopened={task: reopen}),
                departures=departures_of(run, (*run.notes, *notes)),
                others_left=concluded < len(start.items),
            )


def _refuse_revealed(at: tuple[str, int], notes: Sequence[Note]) -> None:
    """What came after held-out checks were revealed rests on them, and a fork has them held out again."""
    task, trial = at
    for note in notes:
        found = _TRIAL.search(note.text)
        if note.kind == BURNED and note.task == task and found is not None and trial > int(found[1]):
            raise InputError(
                f"the held-out checks of {task!r} were revealed after trial {found[1]}; fork at that trial or before it"
            )


async def _taken_up(journal: Journal, run: Run, choice: JournalChoice, changes: Changes) -> Start:
    plan = changes.made(plan_of(run.spec.settings))
    family = family_named(plan.family)
    only = None if run.fork is None else run.fork.task
    return Start(
        plan,
        family,
        Items(plan, family, only=only),
        Kept(run),
        where=journal.where,
        journal_option=choice.option,
        spent=(await journal.summary(run.id)).usage,
        used=await _used(journal, run, plan),
        departures=departures_of(run, run.notes),
    )


def check(run: Run, start: Start) -> None:
    """Compares with what the run was started with; a task that is gone is a change too.

    Raises:
        RunChanged: something differs.
    """
    now = start.fingerprints
    gone = tuple(name for name in run.spec.fingerprints if name.startswith("task:") and name not in now)
    if gone:
        raise RunChanged(run.id, gone)
    run.check(now)


def departures_of(run: Run, notes: Sequence[Note]) -> dict[str, Departure]:
    """How the tasks of a run depart from what was recorded."""
    departures: dict[str, Departure] = {}
    if run.fork is not None and run.fork.lesson is not None:
        departures[run.fork.task] = Departure(lesson_of=run.fork.trial, lesson=run.fork.lesson)
    for note in notes:
        before = departures.get(note.task, Departure())
        if note.kind == BURNED and (trial := _TRIAL.search(note.text)) is not None:
            departures[note.task] = replace(before, revealed=(*before.revealed, int(trial[1])))
        elif note.kind == FRESH:
            file, _, text = note.text.partition("\n")
            departures[note.task] = replace(before, fresh=(*before.fresh, FreshChecks(file, text)))
    return departures


@contextlib.contextmanager
def _there(spec: RunSpec) -> Iterator[None]:
    """In the folder in which the run was started: its paths start there."""
    folder = Path(str(spec.settings.get("folder") or "."))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(contextlib.chdir(folder))
        except OSError as error:
            raise InputError(
                f"the run was started here: {error.strerror}; bring the folder back", file=folder
            ) from None
        yield


async def _used(journal: Journal, run: Run, plan: Plan) -> Mapping[tuple[str, str], list[ChatRequest]]:
    """What was asked before, of models that have each reply once."""
    providers = {split_name(role.name)[0] for roles in plan.roles for role in roles.played.values()}
    used: dict[tuple[str, str], list[ChatRequest]] = {}
    if not providers & {"scripted", "recorded"}:
        return used
    from pydantic import TypeAdapter

    adapter = TypeAdapter(tuple[str, ChatRequest])
    async for effect in journal.effects(run.id):
        if effect.kind == "Reply" and not effect.superseded and effect.request is not None:
            _, request = adapter.validate_python(effect.request)
            role = effect.role.rpartition("/")[2].partition(":")[0]  # what arms shared stands as `actor:FINGERPRINT`
            used.setdefault((role, effect.task), []).append(request)
    return used
