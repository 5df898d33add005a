"""Divides the checks of one suite into visible ones, which the loop sees, and held-out ones, which accept."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar

from afterword.errors import InputError


class Divisible(Protocol):
    """Checks of one file, of whichever language."""

    @property
    def check_ids(self) -> tuple[str, ...]: ...

    @property
    def shared_state(self) -> tuple[str, ...]: ...

    @property
    def file(self) -> Path | None: ...

    def select(self, ids: Sequence[str]) -> Self: ...


Checks = TypeVar("Checks", bound=Divisible)

MIN_CHECKS = 4


def split(suite: Checks, share: float, seed: int) -> tuple[Checks, Checks]:
    """(visible, held out), with about `share` of the checks held out and at least one on each side.

    The same seed gives the same division.

    Raises:
        InputError: the share is not between 0 and 1, there are fewer than 4 checks, or they share state.
    """
    if not 0 < share < 1:
        raise InputError(f"split must be between 0 and 1, found {share!r}", file=suite.file)
    ids = list(suite.check_ids)
    if len(ids) < MIN_CHECKS:
        raise InputError(
            f"split needs {MIN_CHECKS} checks or more, found {len(ids)}; add checks or write held-out tests apart",
            file=suite.file,
        )
    if suite.shared_state:
        raise InputError(
            f"split needs checks that do not share state, found {suite.shared_state[0]}; "
            "make each check stand alone or write held-out tests apart",
            file=suite.file,
        )
    count = min(max(round(share * len(ids)), 1), len(ids) - 1)
    held_out = set(random.Random(seed).sample(ids, count))  # noqa: S311  a division, not a secret
    visible = [check_id for check_id in ids if check_id not in held_out]
    return suite.select(visible), suite.select(sorted(held_out, key=ids.index))
