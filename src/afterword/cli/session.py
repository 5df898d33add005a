"""One session of a run: its tasks, few or thousands, worked on until all have an outcome or it is given up.

`run`, `resume`, `fork` and `continue` differ in what they start from; from here on they are the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import anyio

from afterword.cli import bench
from afterword.cli.bench import Benches, ItemBench, RunLimits
from afterword.cli.cases import Case
from afterword.cli.departures import Departure
from afterword.cli.families import Family, Item, Settings
from afterword.cli.kept import Kept
from afterword.cli.plan import Plan, run_fingerprints
from afterword.cli.roles import Roles, roles_of
from afterword.cli.text import counted
from afterword.core.effects import SHARED, fingerprint
from afterword.core.faults import first_of_group
from afterword.core.messages import ChatRequest
from afterword.core.protocols import EffectKey
from afterword.core.records import Outcome, StopReason, Usage
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError, JournalFault, RecordingMismatch, ReplayMismatch
from afterword.experiments.limits import RunBudget, is_lasting
from afterword.experiments.pairing import PairedRecord, PairListener
from afterword.experiments.scheduler import Job, Listener, run_jobs, without_outcome
from afterword.experiments.shared import Shared, open_shared
from afterword.models import open_models
from afterword.models.opening import Models
from afterword.models.options import RetryNotice

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

MOST_HELD = 64
"""So many items are kept from the first look at the sources; of more, each is made again when its turn comes."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What is told when the first task of a session begins."""

    roles: Roles
    settings: Settings
    tasks: int
    at_once: int
    warnings: Sequence[str]
    run: str
    """Its name and where it is kept; empty where it is kept nowhere."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is told when a session ends before all tasks have their outcome, or with faults."""

    spent: Usage
    resume: str
    """The command that goes on with the run; empty where it is kept nowhere."""
    record: Path | None
    exhausted: str | None = None
    """The limit of the run that was reached."""
    lasting: str = ""
    """What would have failed each task that was not begun."""

    @property
    def why(self) -> str:
        """Why tasks are left; empty where neither the run's budget nor a lasting fault is why."""
        if self.lasting:
            return f"no more tasks are begun, since each would fail: {self.lasting}"
        return f"the {self.exhausted} budget of the run is used up" if self.exhausted else ""


class Screen(Listener, bench.Screen, Protocol):
    """Who is told what happens in a session."""

    def preparing(self, model: str) -> None: ...

    def retried(self, notice: RetryNotice) -> None: ...

    def opened(self, item: Item, opening: Opening) -> None:
        """The loop of an item is put together and begins."""
        ...

    def own_tests(self, task_id: str, tests: Sequence[OwnTest]) -> None: ...

    def interrupted(self, ending: Ending) -> None: ...

    def over(self, ending: Ending) -> None: ...


class Items:
    """The items of a plan, looked through once before anything is spent, then made as they are needed."""

    def __init__(self, plan: Plan, family: Family, only: str | None = None) -> None:
        variants = {case.variant: case.settings for case in reversed(plan.cases)}
        self._settings = [variants[number] for number in sorted(variants)]
        self._make: Callable[[Settings], Iterator[Item]] = partial(family.items, plan.sources)
        self._ids = frozenset(plan.ids)
        self._only = only
        self._held: list[tuple[Item, ...]] | None = []
        self.asks = False
        self.fingerprints: dict[str, str] = {}
        """Of each task, by `task:ID`."""
        for row in self._made():
            self._look_at(row)
        if missing := [name for name in plan.ids if f"task:{name}" not in self.fingerprints]:
            raise InputError(f"the sources hold no task {missing[0]!r}; ids names tasks of them")
        if not self.fingerprints:
            raise InputError("expected at least one task, found none in the sources")
        if only is not None and f"task:{only}" not in self.fingerprints:
            raise InputError(f"the sources hold no task {only!r} any more")
        self._drawn = None if plan.pilot is None else self._draw(plan.pilot.most_tasks, plan.settings.seed)

    def _draw(self, most: int, seed: int) -> int:
        """Holds so many tasks, drawn at random, in the order in which they were drawn; the number of them."""
        names = list(self.fingerprints)
        random.Random(f"pilot {seed}").shuffle(names)  # noqa: S311
        places = {name: place for place, name in enumerate(names[:most])}
        rows = self._made() if self._held is None else self._held
        drawn = {place: row for row in rows if (place := places.get(f"task:{row[0].task.id}")) is not None}
        self._held = [drawn[place] for place in sorted(drawn)]
        return len(drawn)

    def _made(self) -> Iterator[tuple[Item, ...]]:
        rows = zip(*(self._make(settings) for settings in self._settings), strict=True)
        return (row for row in rows if not self._ids or row[0].task.id in self._ids)

    def _look_at(self, row: tuple[Item, ...]) -> None:
        item = row[0]
        name = f"task:{item.task.id}"
        if name in self.fingerprints:
            raise InputError(f"expected an id for each task, found {item.task.id!r} twice; rename one of them")
        prints = list(dict.fromkeys(one.fingerprint for one in row))
        self.fingerprints[name] = prints[0] if len(prints) == 1 else fingerprint(prints)
        self.asks = self.asks or any(one.asks for one in row)
        if self._held is not None:
            self._held.append(row)
            if len(self._held) > MOST_HELD:
                self._held = None

    def __len__(self) -> int:
        if self._only is not None:
            return 1
        return len(self.fingerprints) if self._drawn is None else self._drawn

    def __iter__(self) -> Iterator[Item]:
        return (row[0] for row in self.rows())

    def rows(self) -> Iterator[tuple[Item, ...]]:
        """Each task as every variant of the plan's cases makes it: some arms judge it by other checks."""
        for row in self._made() if self._held is None else self._held:
            if self._only in (None, row[0].task.id):
                yield row


@dataclass(frozen=True, slots=True)
class Start:
    """What a session starts from."""

    plan: Plan
    family: Family
    items: Items
    kept: Kept
    where: str = ""
    """The journal, as it is shown."""
    journal_option: str = ""
    """What has to be added to a command for it to find the journal."""
    record: Path | None = None
    spent: Usage = field(default_factory=Usage)
    """In earlier sessions."""
    used: Mapping[tuple[str, str], Sequence[ChatRequest]] = field(default_factory=dict)
    """What models were asked in earlier sessions, by role and task; for models that have each reply once."""
    departures: Mapping[str, Departure] = field(default_factory=dict)
    others_left: bool = False
    """Whether the run has tasks without an outcome that this session does not work on."""

    @property
    def is_fork(self) -> bool:
        """Whether it goes on from a trial of another run: then nothing is compared."""
        return self.kept.run is not None and self.kept.run.fork is not None

    @property
    def jobs(self) -> int:
        """Tasks x arms x seeds."""
        return len(self.items) * len(self.plan.cases)

    @property
    def fingerprints(self) -> dict[str, str]:
        """Of all that must be the same when the run is resumed."""
        return {**run_fingerprints(self.plan, self.family), **self.items.fingerprints}


class Referee(Protocol):
    """Who says that enough is known before all tasks are worked on, and is told what cannot be counted."""

    def stopped(self) -> StopReason | None:
        """Asked before each job."""
        ...

    def cut_short(self, job: Job) -> None:
        """The run's budget has ended a job, which is told as ended next."""
        ...


async def work(start: Start, screen: Screen, referee: Referee | None = None) -> None:
    """Works on the tasks, telling the screen what happens.

    Raises:
        InputError: an option or a file is wrong, or a recording does not hold what was asked; where there is one task
            only, also what is wrong with it.
        JournalFault: what happens can no longer be kept.
    """
    try:
        await _Session(start, screen, referee).work()
    except BaseExceptionGroup as group:
        raise first_of_group(group) from None


class _Session:
    def __init__(self, start: Start, screen: Screen, referee: Referee | None) -> None:
        self._start = start
        self._screen = screen
        self._referee = referee
        self._budget = RunBudget(start.plan.total, start.spent)
        self._at_work: dict[tuple[str, str, int], ItemBench] = {}
        self._unfinished = 0
        self._unanswered: list[RecordingMismatch] = []
        """What a script or a recording could not answer; no resumed run could either."""
        self._lasting, self._given_up = "", False
        self._record = PairedRecord(
            start.kept,
            shares=start.plan.is_experiment,
            untold=[arm.name for arm in start.plan.arms if arm.kind.untold],
            answered=self._answered,
        )

    async def work(self) -> None:
        start, screen = self._start, self._screen
        plan = start.plan
        cases = plan.cases
        async with open_models(record=start.record) as models, open_shared() as shared:
            benches = self._benches(cases, models, shared)
            for of_arm in benches.values():
                await of_arm.open_models()
            try:
                await run_jobs(
                    (self._job(row[case.variant], case, benches) for row in start.items.rows() for case in cases),
                    at_once=plan.at_once,
                    record=self._record,
                    listener=PairListener(screen, len(benches), self._pair_over),
                    stopped=self._stopped,
                    is_final=self._is_final,
                    failed=self._without_outcome,
                )
            except anyio.get_cancelled_exc_class():
                screen.interrupted(self._ending())  # what was paid for is told before the run is given up
                raise
            except BaseExceptionGroup as group:
                if group.subgroup(JournalFault) is not None:
                    screen.interrupted(self._ending())
                raise
        await self._conclude()

    def _stopped(self) -> StopReason | None:
        if self._lasting:
            self._given_up = True  # something is left
            return StopReason.CANCELLED
        return self._budget.exhausted or (None if self._referee is None else self._referee.stopped())

    def _benches(self, cases: Sequence[Case], models: Models, shared: Shared) -> dict[str, Benches]:
        """By arm; seeds share theirs."""
        start, plan = self._start, self._start.plan
        calls = None if plan.model_calls is None else anyio.CapacityLimiter(plan.model_calls)
        limits = RunLimits(self._budget, calls, plan.verdicts or min(plan.at_once, os.cpu_count() or 1))
        benches: dict[str, Benches] = {}
        for case in cases:
            if case.arm not in benches:
                choice = case.settings.models
                choice = replace(choice, concurrency=max(choice.concurrency, plan.at_once))
                roles = roles_of(choice, case.settings.strategy, self._screen.retried)
                if not benches:
                    self._screen.preparing(roles.actor.name)
                benches[case.arm] = Benches(case.settings, roles, models, shared, limits=limits, used=start.used)
        return benches

    def _answered(self, key: EffectKey) -> None:
        if (bench_of := self._at_work.get((key.task, key.arm, key.seed))) is not None:
            bench_of.answered(key.role)

    def _pair_over(self, task: str, seed: int) -> None:
        self._record.done(task, seed)
        self._start.kept.let_go(task, SHARED, seed)

    async def _conclude(self) -> None:
        run = self._start.kept.run
        left = self._unfinished > 0 or self._budget.exhausted is not None or self._start.others_left
        if run is not None and not left:
            await run.end()
        self._screen.over(self._ending(left=left and len(self._unanswered) < self._unfinished))
        if self._unanswered:
            met = counted(len(self._unanswered), "task")
            raise InputError(
                f"{self._unanswered[0]} (met by {met}); a run stays with the file that it was started with: "
                "begin a new one with a fuller file"
            )

    def _job(self, item: Item, case: Case, benches_of: Mapping[str, Benches]) -> Job:
        start, screen = self._start, self._screen
        benches = benches_of[case.arm]
        task_id = item.task.id
        place = (task_id, case.arm, case.seed)
        departure = start.departures.get(task_id, Departure())

        @asynccontextmanager
        async def loop() -> AsyncIterator[Reflexion]:
            if place not in self._at_work:
                written = partial(screen.own_tests, task_id)
                self._at_work[place] = benches.of_item(task_id, screen, written, departure)
            async with item.loop(self._at_work[place]) as reflexion:
                await start.kept.begin(task_id)
                told = Opening(
                    benches.roles,
                    case.settings,
                    start.jobs,
                    start.plan.at_once,
                    list(dict.fromkeys(warning for one in benches_of.values() for warning in one.warnings)),
                    self._told_run(),
                )
                screen.opened(item, told)
                yield reflexion

        return Job(item.task, loop, case.arm, case.seed)

    def _is_final(self, job: Job, outcome: Outcome) -> bool:
        """What the run's budget has ended goes on when the run is resumed with more."""
        bench_of = self._at_work.pop((job.task.id, job.arm, job.seed), None)
        final = bench_of is None or not bench_of.refused
        if not final and self._referee is not None:
            self._referee.cut_short(job)
        self._unfinished += not final or outcome.fault is not None
        self._heeded(outcome)
        return final

    def _heeded(self, outcome: Outcome) -> Outcome:
        if outcome.fault is not None and is_lasting(outcome.fault):
            self._lasting = outcome.fault.message
        return outcome

    def _without_outcome(self, job: Job, error: Exception) -> Outcome:
        self._at_work.pop((job.task.id, job.arm, job.seed), None)
        self._unfinished += 1
        if self._start.jobs == 1:
            raise error
        if isinstance(error, RecordingMismatch) and not isinstance(error, ReplayMismatch):
            self._unanswered.append(error)
        return self._heeded(without_outcome(job, error))

    def _told_run(self) -> str:
        run = self._start.kept.run
        return "" if run is None else f"{run.id}, kept in {self._start.where}"

    def _ending(self, *, left: bool = True) -> Ending:
        run = self._start.kept.run
        resume = f"afterword resume {run.id}{self._start.journal_option}" if run is not None and left else ""
        why = self._budget.exhausted, self._lasting if self._given_up else ""
        return Ending(self._budget.spent, resume, self._start.record, *why)
