"""Reads runs back out of a journal, a piece at a time: nothing here holds a whole run in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection, Row, case, func, select, true, tuple_

from afterword.core.effects import SHARED
from afterword.core.records import Outcome, Trial, Usage
from afterword.errors import InputError
from afterword.journal import tables
from afterword.journal.encoding import decode
from afterword.journal.lease import holder_of
from afterword.journal.records import EffectRow, ForkPoint, ModelUse, Note, RunSpec, RunSummary, TaskSummary, TrialRow
from afterword.journal.unit import UnitKey

PIECE = 200
"""Rows that are read at a time."""


def find_run(connection: Connection, name: str | None, where: str) -> int:
    """The number of a run: by its name, the beginning of it or its last word; without one, the latest unfinished.

    Raises:
        InputError: there is none, or more than one.
    """
    columns = tables.runs.c
    query = select(columns.run, columns.id)
    if name is None:
        latest = connection.execute(
            query.where(columns.finished.is_(False)).order_by(columns.run.desc()).limit(1)
        ).first()
        if latest is None:
            raise InputError(
                f"the journal {where} holds no run that is unfinished; name one: afterword runs lists them"
            )
        return int(latest.run)
    wanted = name.strip().lower()
    found = [row for row in connection.execute(query) if _is_called(row.id, wanted)]
    if len(found) > 1:
        names = ", ".join(sorted(row.id for row in found)[:4])
        raise InputError(f"{name!r} can be any of {len(found)} runs ({names}); write more of its name")
    if not found:
        raise InputError(f"the journal {where} holds no run {name!r}; afterword runs lists those it holds")
    return int(found[0].run)


def _is_called(run_id: str, wanted: str) -> bool:
    return bool(wanted) and (run_id.startswith(wanted) or run_id.rpartition("-")[2] == wanted)


def spec_of(connection: Connection, run: int) -> tuple[str, RunSpec, ForkPoint | None]:
    """What a run was started with."""
    row = connection.execute(select(tables.runs).where(tables.runs.c.run == run)).one()
    columns = tables.fingerprints.c
    pairs = connection.execute(select(columns.name, columns.value).where(columns.run == run))
    spec = RunSpec(
        tuple(json.loads(row.command)), json.loads(row.settings), row.seed, {pair.name: pair.value for pair in pairs}
    )
    return row.id, spec, _fork(row.fork)


def _fork(text: str | None) -> ForkPoint | None:
    return None if text is None else ForkPoint(**json.loads(text))


def units_of(connection: Connection, run: int) -> dict[UnitKey, int]:
    """Where the tasks of a run stand."""
    columns = tables.tasks.c
    query = select(columns.task, columns.arm, columns.seed, columns.unit).where(columns.run == run)
    return {UnitKey(task, arm, seed): unit for task, arm, seed, unit in connection.execute(query)}


def notes_of(connection: Connection, run: int) -> tuple[Note, ...]:
    """The notes of a run, oldest first."""
    columns = tables.notes.c
    query = select(tables.notes).where(columns.run == run).order_by(columns.number)
    return tuple(Note(row.kind, row.task, row.text, row.at) for row in connection.execute(query))


def summaries(connection: Connection) -> list[RunSummary]:
    """All runs, the latest first."""
    rows = connection.execute(select(tables.runs).order_by(tables.runs.c.run.desc()))
    return [summary(connection, row.run, row) for row in rows.all()]


def summary(connection: Connection, run: int, row: Row[tuple[object, ...]] | None = None) -> RunSummary:
    """One run."""
    if row is None:
        row = connection.execute(select(tables.runs).where(tables.runs.c.run == run)).one()
    outcomes, tasks, trials, prints = tables.outcomes.c, tables.tasks.c, tables.trials.c, tables.fingerprints.c
    statuses = connection.execute(
        select(outcomes.status, func.count().label("number")).where(outcomes.run == run).group_by(outcomes.status)
    )
    holder = None if row.holder is None else holder_of(row.holder)
    at_work = holder is not None and (not holder.here or holder.alive)
    jobs, begun, *kinds = connection.execute(
        select(func.count(), *(func.count(column.distinct()) for column in (tasks.task, tasks.arm, tasks.seed))).where(
            tasks.run == run, tasks.arm != SHARED
        )
    ).one()
    settings = {} if row.fork is not None else json.loads(row.settings)
    stated = (settings.get("arms"), settings.get("seeds"))
    arms, seeds = (
        max(1, known, len(plan) if isinstance(plan, list) else 0) for known, plan in zip(kinds, stated, strict=True)
    )
    planned = connection.execute(select(func.count()).where(prints.run == run, prints.name.like("task:%"))).scalar_one()
    # A pilot ends when enough is known, and a fork has one task.
    of_one_choice = row.finished or row.fork is not None or bool(settings.get("pilot"))
    return RunSummary(
        id=row.id,
        state="finished" if row.finished else "running" if at_work else "interrupted",
        started=row.started,
        ended=row.ended,
        command=tuple(json.loads(row.command)),
        tasks=begun,
        not_begun=0 if of_one_choice else max(0, planned - begun),
        jobs=jobs,
        jobs_left=0 if of_one_choice else max(0, planned * arms * seeds - jobs),
        arms=arms,
        seeds=seeds,
        statuses={row.status: row.number for row in statuses},
        trials=connection.execute(select(func.count()).where(trials.run == run)).scalar_one(),
        usage=usage_of(connection, run),
        fork=_fork(row.fork),
        holder=str(holder) if at_work else None,
        version=row.version,
    )


def _sums() -> tuple[object, ...]:
    columns = tables.effects.c
    return (
        func.count(),
        func.coalesce(func.sum(columns.tokens_in), 0),
        func.coalesce(func.sum(columns.tokens_out), 0),
        func.coalesce(func.sum(columns.tokens_cached), 0),
        func.coalesce(func.sum(columns.tokens_reasoning), 0),
        func.sum(columns.cost_usd),
        func.sum(case((columns.cost_usd.is_(None), 1), else_=0)),
        func.coalesce(func.sum(columns.seconds), 0.0),
    )


def _usage(sums: tuple[object, ...]) -> Usage:
    calls, tokens_in, tokens_out, cached, reasoning, cost, unknown, seconds = sums
    return Usage(
        int(str(calls)),
        int(str(tokens_in)),
        int(str(tokens_out)),
        int(str(cached)),
        int(str(reasoning)),
        None if unknown else float(str(cost or 0.0)),
        float(str(seconds)),
    )


def usage_of(connection: Connection, run: int) -> Usage:
    """All that was paid for in a run, in trials that were started again too."""
    columns = tables.effects.c
    query = select(*_sums()).where(columns.run == run, columns.model.is_not(None))  # type: ignore[call-overload]
    return _usage(tuple(connection.execute(query).one()))


def model_uses(connection: Connection, run: int) -> tuple[ModelUse, ...]:
    """Which models were asked in which roles, in trials that were started again too."""
    columns = tables.effects.c
    rows = connection.execute(
        select(columns.role, columns.model, *_sums())
        .where(columns.run == run, columns.model.is_not(None))
        .group_by(columns.role, columns.model)
    )
    uses: dict[tuple[str, str], Usage] = {}
    for row in rows:
        role, model, *sums = tuple(row)
        key = (role.partition(":")[0], model)  # a call that arms share has its fingerprint after the role
        uses[key] = uses.get(key, Usage()) + _usage(tuple(sums))
    return tuple(ModelUse(*key, usage) for key, usage in sorted(uses.items()))


def task_summaries(
    connection: Connection, run: int, after: int, task: str | None = None
) -> list[tuple[int, TaskSummary]]:
    """The next tasks of a run, or those of one name, with their numbers."""
    tasks, trials, outcomes, effects = tables.tasks, tables.trials, tables.outcomes, tables.effects
    named = tasks.c.task == task if task is not None else true()
    rows = connection.execute(
        select(tasks.c.unit, tasks.c.task, tasks.c.arm, tasks.c.seed, outcomes.c.status)
        .outerjoin(outcomes, (outcomes.c.run == tasks.c.run) & (outcomes.c.unit == tasks.c.unit))
        .where(tasks.c.run == run, tasks.c.unit > after, tasks.c.arm != SHARED, named)
        .order_by(tasks.c.unit)
        .limit(PIECE)
    ).all()
    if not rows:
        return []
    units = [row.unit for row in rows]
    judged = {
        unit: (count, best)
        for unit, count, best in connection.execute(
            select(trials.c.unit, func.count(), func.max(trials.c.score))
            .where(trials.c.run == run, trials.c.unit.in_(units))
            .group_by(trials.c.unit)
        )
    }
    spent = {
        row[0]: _usage(tuple(row[1:]))
        for row in connection.execute(
            select(effects.c.unit, *_sums())
            .where(effects.c.run == run, effects.c.unit.in_(units), effects.c.model.is_not(None))
            .group_by(effects.c.unit)
        )
    }
    spent |= _charged(connection, run, units)
    return [
        (
            row.unit,
            TaskSummary(
                row.task, row.arm, row.seed, row.status, *judged.get(row.unit, (0, None)), spent.get(row.unit, Usage())
            ),
        )
        for row in rows
    ]


def _charged(connection: Connection, run: int, units: Sequence[int]) -> dict[int, Usage]:
    """Of arms that share calls, what each that is finished was charged: its share in those calls counts in full."""
    tasks, outcomes = tables.tasks.c, tables.outcomes.c
    if connection.execute(select(tasks.unit).where(tasks.run == run, tasks.arm == SHARED).limit(1)).first() is None:
        return {}
    rows = connection.execute(
        select(outcomes.unit, outcomes.outcome).where(outcomes.run == run, outcomes.unit.in_(units))
    )
    return {row.unit: decode(row.outcome, Outcome).total_usage for row in rows}


def trial_rows(
    connection: Connection, run: int, after: tuple[int, int], task: str | None = None
) -> list[tuple[tuple[int, int], TrialRow]]:
    """The next trials of a run, or of one of its tasks, each with its place."""
    trials, tasks = tables.trials, tables.tasks
    query = (
        select(trials, tasks.c.task, tasks.c.arm, tasks.c.seed)
        .join(tasks, (tasks.c.run == trials.c.run) & (tasks.c.unit == trials.c.unit))
        .where(trials.c.run == run, tuple_(trials.c.unit, trials.c.number) > after)
        .order_by(trials.c.unit, trials.c.number)
        .limit(PIECE)
    )
    if task is not None:
        query = query.where(tasks.c.task == task)
    return [((row.unit, row.number), _trial_row(row)) for row in connection.execute(query)]


def _trial_row(row: Row[tuple[object, ...]]) -> TrialRow:
    return TrialRow(row.task, row.arm, row.seed, decode(row.trial, Trial), row.complete)


def effect_rows(
    connection: Connection, run: int, after: tuple[int, int], unit: int | None = None
) -> list[tuple[tuple[int, int], EffectRow]]:
    """The next effects of a run, or of one of its tasks, each with its place."""
    effects, tasks = tables.effects, tables.tasks
    query = (
        select(effects, tasks.c.task, tasks.c.arm, tasks.c.seed)
        .join(tasks, (tasks.c.run == effects.c.run) & (tasks.c.unit == effects.c.unit))
        .where(effects.c.run == run, tuple_(effects.c.unit, effects.c.seq) > after)
        .order_by(effects.c.unit, effects.c.seq)
        .limit(PIECE)
    )
    if unit is not None:
        query = query.where(effects.c.unit == unit)
    return [((row.unit, row.seq), _effect_row(row)) for row in connection.execute(query)]


def _effect_row(row: Row[tuple[object, ...]]) -> EffectRow:
    usage = None
    if row.model is not None:
        usage = Usage(
            1, row.tokens_in, row.tokens_out, row.tokens_cached, row.tokens_reasoning, row.cost_usd, row.seconds
        )
    return EffectRow(
        row.task,
        row.arm,
        row.seed,
        row.trial,
        row.role,
        row.n,
        row.kind,
        row.fingerprint,
        None if row.request is None else json.loads(row.request),
        json.loads(row.result),
        usage,
        row.tries,
        row.at,
        bool(row.superseded),
    )


def outcomes(connection: Connection, run: int, units: Sequence[int]) -> dict[int, Outcome]:
    """What the finished ones of some tasks came to, by their numbers."""
    columns, mine = tables.outcomes.c, tables.trials.c
    texts = connection.execute(
        select(mine.unit, mine.trial).where(mine.run == run, mine.unit.in_(units)).order_by(mine.unit, mine.number)
    )
    trials: dict[int, list[Trial]] = {}
    for unit, text in texts:
        trials.setdefault(unit, []).append(decode(text, Trial))
    rows = connection.execute(
        select(columns.unit, columns.outcome, columns.best).where(columns.run == run, columns.unit.in_(units))
    )
    return {row.unit: _outcome(row.outcome, row.best, trials.get(row.unit, [])) for row in rows}


def outcome(connection: Connection, run: int, unit: int) -> Outcome | None:
    """What a task came to, put together from its rows; None if it is not finished."""
    return outcomes(connection, run, [unit]).get(unit)


def _outcome(text: str, best: int | None, trials: Sequence[Trial]) -> Outcome:
    chosen = next((trial for trial in trials if trial.number == best), None)
    return replace(decode(text, Outcome), trials=tuple(trials), best=chosen)
