"""Copies into a new run what another one did on a task up to a trial."""

from __future__ import annotations

from sqlalchemy import Connection, insert, literal, select

from afterword.errors import InputError
from afterword.journal import tables
from afterword.journal.records import ForkPoint


def refuse_missing(connection: Connection, run: int, point: ForkPoint) -> None:
    """Checks that there is something to fork.

    Raises:
        InputError: the run did not work on the task, or did not judge this trial.
    """
    columns = tables.tasks.c
    query = select(columns.unit).where(columns.run == run, columns.task == point.task).limit(1)
    if connection.execute(query).first() is None:
        raise InputError(f"run {point.run} did not work on a task {point.task!r}; afterword show {point.run} lists its")
    if point.trial < 0 or (point.trial > 0 and not _judged(connection, run, point)):
        raise InputError(
            f"run {point.run} did not judge a trial {point.trial} of task {point.task!r}; "
            f"afterword show {point.run} {point.task} lists them"
        )


def _judged(connection: Connection, run: int, point: ForkPoint) -> list[tuple[int, int]]:
    """The arms and seeds in which the trial was judged, each with the effect that it was judged by."""
    tasks, trials = tables.tasks, tables.trials
    query = (
        select(tasks.c.unit, trials.c.judged_at)
        .join(trials, (trials.c.run == tasks.c.run) & (trials.c.unit == tasks.c.unit))
        .where(tasks.c.run == run, tasks.c.task == point.task, trials.c.number == point.trial)
        .order_by(tasks.c.unit)
    )
    return [(unit, judged_at) for unit, judged_at in connection.execute(query)]


def copy_effects(connection: Connection, parent: int, run: int, point: ForkPoint) -> None:
    """Copies the effects up to the verdict on the trial. What was drawn from the verdict is not among them."""
    if point.trial == 0:
        return
    effects, tasks = tables.effects, tables.tasks
    for unit, judged_at in _judged(connection, parent, point):
        for table, condition in (
            (tasks, tasks.c.unit == unit),
            (effects, (effects.c.unit == unit) & (effects.c.seq <= judged_at) & (effects.c.superseded == 0)),
        ):
            names = [column.name for column in table.columns]
            source = [literal(run).label("run") if name == "run" else table.c[name] for name in names]
            rows = select(*source).where(table.c.run == parent, condition)
            connection.execute(insert(table).from_select(names, rows))
