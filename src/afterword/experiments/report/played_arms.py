"""What the arms of a run are, told from its plan: how each spends its allowance, and what is other in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from afterword.experiments.arms import ARMS

_NAMES = ("name", "arm")


@dataclass(frozen=True, slots=True)
class PlayedArm:
    """An arm as a run had it."""

    kind: str
    """One of `ARMS`; a plain run's is called as its strategy."""
    does: str
    """What it does, in a few words; empty for a kind that this version does not know."""
    other: str
    """What its plan says of it alone, e.g. `memory 3, own_tests true`; empty: it is as the rest."""


def played_arms(plan: Mapping[str, object]) -> dict[str, PlayedArm]:
    """By name. Of a plain run there is one."""
    tables = plan.get("arms")
    stated = [table for table in tables if isinstance(table, Mapping)] if isinstance(tables, list) else []
    if not stated:
        settings = plan.get("settings")
        strategy = settings.get("strategy") if isinstance(settings, Mapping) else None
        return {strategy: _played(strategy, "")} if isinstance(strategy, str) else {}
    return {
        str(table.get("name")): _played(
            str(table.get("arm")), ", ".join(f"{name} {value}" for name, value in _own(table))
        )
        for table in stated
    }


def _played(kind: str, other: str) -> PlayedArm:
    return PlayedArm(kind, ARMS[kind].told if kind in ARMS else "", other)


def _own(table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What is set, options of the family by their own names."""
    for name, value in table.items():
        if name in _NAMES or value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping):
            yield from _own(value)
        else:
            yield name, value if isinstance(value, str) else json.dumps(value, default=str)
