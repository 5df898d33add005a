"""`afterword failures RUN`: why trials in a world failed, counted by trial, as in the paper's figure 3b."""

from __future__ import annotations

from collections import defaultdict
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from afterword.cli import options
from afterword.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from afterword.families.decision.failures import FailureClass

Run = Annotated[str, typer.Argument(help="A run of the journal, of the decision family.", metavar="RUN")]
Hallucinated = Annotated[
    int, typer.Option("--hallucinated", help="So many refused actions of a kind make a hallucinated trial.")
]


def failures(
    run: Run, journal: options.JournalPlace = None, hallucinated: Hallucinated = 2, as_json: options.AsJson = False
) -> int:
    """Class the failed trials of a run.

    Hallucinated possession or location, inefficient planning, other.
    """
    from rich.console import Console

    if hallucinated < 1:
        raise InputError(f"--hallucinated takes a number from 1, found {hallucinated}")
    anyio.run(_failures, run, journal, hallucinated, Console(), as_json)
    return 0


async def _failures(run: str, journal: str | None, hallucinated: int, console: Console, as_json: bool) -> None:
    from afterword.cli.looking_back import print_json
    from afterword.cli.past_runs import PastRun, tasks_of
    from afterword.families.decision.failures import FailureRule, classify

    rule = FailureRule(hallucinated=hallucinated)
    rows: list[dict[str, object]] = []
    counts: dict[tuple[str, int], list[FailureClass | None]] = defaultdict(list)
    async with aclosing(tasks_of(PastRun(run, None, journal))) as tasks:  # it holds the journal open
        async for past in tasks:
            if past.family != "decision":
                raise InputError(f"the run {run} is of the family {past.family}; failure classes are for decision")
            for trial in past.trials:
                kind = classify(trial.trajectory, rule)
                counts[past.arm, trial.number].append(kind)
                row = {"task": past.task, "arm": past.arm, "seed": past.seed, "trial": trial.number, "class": kind}
                rows.append(row)
    if as_json:
        by_trial = [{"arm": arm, "trial": number, **_counted(kinds)} for (arm, number), kinds in sorted(counts.items())]
        print_json({"by_trial": by_trial, "trials": rows})
    else:
        _print(console, counts)


def _counted(kinds: list[FailureClass | None]) -> dict[str, int]:
    from afterword.families.decision.failures import FailureClass

    failed = sum(kind is not None for kind in kinds)
    return {"trials": len(kinds), "failed": failed, **{kind.value: kinds.count(kind) for kind in FailureClass}}


def _print(console: Console, counts: dict[tuple[str, int], list[FailureClass | None]]) -> None:
    from rich.table import Table

    from afterword.cli.text import plain
    from afterword.families.decision.failures import FailureClass

    table = Table(box=None, pad_edge=False)
    names = [kind.value.replace("_", "\n") for kind in FailureClass]
    for name in ("arm", "trial", "trials", "failed", *names):
        table.add_column(name, justify="left" if name == "arm" else "right")
    for (arm, number), kinds in sorted(counts.items()):
        table.add_row(plain(arm), str(number), *map(str, _counted(kinds).values()))
    console.print(table)
