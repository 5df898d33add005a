"""Copies into a new run what another one did on a task up to a trial."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, and_, insert, literal, select

from afterword.core.effects import SHARED
from afterword.errors import InputError
from afterword.journal import tables
from afterword.journal.records import ForkPoint


def refuse_missing(connection: Connection, run: int, point: ForkPoint) -> None:
    """Checks that there is something to fork.

    Raises:
        InputError: the run did not work on the task, or did not judge this trial.
    """
    query = select(tables.tasks.c.unit).where(*_meant(run, point)).limit(1)
    where = (
        ""
        if point.arm is None
        else f" in the arm {point.arm!r}" + f" with seed {point.seed}" * (point.seed is not None)
    )
    if connection.execute(query).first() is None:
        raise InputError(
            f"run {point.run} did not work on a task {point.task!r}{where}; afterword show {point.run} lists its"
        )
    if point.trial < 0 or (point.trial > 0 and not _judged(connection, run, point)):
        raise InputError(
            f"run {point.run} did not judge a trial {point.trial} of task {point.task!r}{where}; "
            f"afterword show {point.run} {point.task} lists them"
        )


def _meant(run: int, point: ForkPoint) -> tuple[ColumnElement[bool], ...]:
    """Which tasks, arms and seeds are meant."""
    columns = tables.tasks.c
    stated = ((columns.arm, point.arm), (columns.seed, point.seed))
    return (
        columns.run == run,
        columns.task == point.task,
        *(column == value for column, value in stated if value is not None),
    )


def _judged(connection: Connection, run: int, point: ForkPoint) -> list[tuple[int, int]]:
    """The arms and seeds in which the trial was judged, each with the effect that it was judged by."""
    tasks, trials = tables.tasks, tables.trials
    query = (
        select(tasks.c.unit, trials.c.judged_at)
        .join(trials, (trials.c.run == tasks.c.run) & (trials.c.unit == tasks.c.unit))
        .where(*_meant(run, point), trials.c.number == point.trial)
        .order_by(tasks.c.unit)
    )
    return [(unit, judged_at) for unit, judged_at in connection.execute(query)]


def copy_effects(connection: Connection, parent: int, run: int, point: ForkPoint) -> None:
    """Copies the effects up to the verdict on the trial. What was drawn from the verdict is not among them."""
    if point.trial == 0:
        return
    effects = tables.effects.c
    for unit, judged_at in _judged(connection, parent, point):
        _copy(connection, parent, run, unit, effects.seq <= judged_at)
    columns = tables.tasks.c
    query = select(columns.unit).where(columns.run == parent, columns.task == point.task, columns.arm == SHARED)
    if point.seed is not None:
        query = query.where(columns.seed == point.seed)
    for unit in connection.execute(query).scalars().all():  # what arms asked alike
        _copy(connection, parent, run, unit, effects.trial <= point.trial)


def _copy(connection: Connection, parent: int, run: int, unit: int, until: ColumnElement[bool]) -> None:
    effects, tasks = tables.effects.c, tables.tasks.c
    wanted: tuple[tuple[Table, ColumnElement[bool]], ...] = (
        (tables.tasks, tasks.unit == unit),
        (tables.effects, and_(effects.unit == unit, until, effects.superseded == 0)),
    )
    for table, condition in wanted:
        names = [column.name for column in table.columns]
        source = [literal(run).label("run") if name == "run" else table.c[name] for name in names]
        rows = select(*source).where(table.c.run == parent, condition)
        connection.execute(insert(table).from_select(names, rows))
