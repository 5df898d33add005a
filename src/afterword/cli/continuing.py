"""What `afterword continue` may do with a task, and what is noted of it: burned checks, and fresh ones in their place.

Apart from `starting`, which opens runs; this looks at what one task of it came to.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from afterword.cli.departures import Departure, FreshChecks
from afterword.core.records import Outcome, Strategy
from afterword.errors import InputError
from afterword.experiments.results import BURNED, FRESH

if TYPE_CHECKING:
    from afterword.journal import Note


def what_is_new(task: str, revealed: int | None, fresh: FreshChecks | None) -> list[Note]:
    """What is to be noted of a task that is continued."""
    from afterword.journal import Note

    now = time.time()
    notes: list[Note] = []
    if revealed is not None:
        notes.append(Note(BURNED, task, f"held-out checks were shown to the agent after trial {revealed}", now))
    if fresh is not None:
        notes.append(Note(FRESH, task, f"{fresh.name}\n{fresh.text}", now))
    return notes


def refuse_uncontinuable(
    run: str,
    task: str,
    outcome: Outcome | None,
    before: Departure,
    strategy: Strategy,
    *,
    reveal: bool,
    fresh: FreshChecks | None,
) -> None:
    """Refuses what cannot be continued in this way.

    Raises:
        InputError: with what to do instead.
    """
    found = "no outcome" if outcome is None else repr(outcome.status)
    if outcome is None and before.revealed:
        raise InputError(f"{task!r} is being continued and has no outcome yet; go on with: afterword resume {run}")
    if outcome is None or outcome.best is None:
        raise InputError(f"expected a task of the run that was rejected, found {task!r} with {found}")
    if reveal:
        if outcome.status != "rejected":
            burned = "; its held-out checks are burned, give fresh ones with --held-out FILE" if before.burned else ""
            raise InputError(f"expected a task of the run that was rejected, found {task!r} with {found}{burned}")
        if not strategy.reflects and not strategy.shows_last_attempt:
            raise InputError(f"the strategy {strategy} shows the agent nothing of a failure; fork the run")
    elif fresh is not None:
        if not before.burned:
            raise InputError(
                f"the held-out checks of {task!r} are not burned, so they go on judging it; "
                "--held-out is for a task that was continued with --reveal-held-out"
            )
        if outcome.status != "unverified":
            raise InputError(f"expected a task that waits for fresh checks (unverified), found {task!r} with {found}")
