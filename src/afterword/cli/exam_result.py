"""An exam's settings and what came of it, and how that is told to a person and to a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.cli.jsonl import read_rows
from afterword.cli.roles import Role
from afterword.cli.shares import short_share
from afterword.cli.starting import JournalChoice
from afterword.cli.text import counted, plain, shortened
from afterword.core.budget import Allowance
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.experiments.exam import Examined


@dataclass(frozen=True, slots=True)
class Exam:
    """What is examined, and on what."""

    actors: tuple[Role, ...]
    reflectors: tuple[Role, ...]
    items: int
    seed: int
    data: Path | None
    baseline: bool
    allowance: Allowance
    max_tokens: int
    record: Path | None
    journal: JournalChoice | None
    """None: kept nowhere."""
    allow_weak: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of an exam."""

    examined: tuple[Examined, ...]
    told: str
    """What it cost."""
    ended: str = ""
    """Why it ended early."""
    run: str = ""
    """The journal run that keeps it; empty where there is none."""


def exam_json(exam: Exam, seen: Seen) -> dict[str, object]:
    """All of it as plain data."""
    from afterword.experiments.exam import BASELINE
    from afterword.experiments.statistics import wilson

    def rate(values: Sequence[bool]) -> dict[str, object]:
        estimate = wilson(sum(values), len(values))
        return {"count": sum(values), "total": len(values), "low": estimate.low, "high": estimate.high}

    reflectors = {
        role.name: {
            "named": rate(_named(seen, role.name)),
            "fix": rate(_fix(seen, role.name)),
            "pointed": rate(_pointed(seen, role.name)),
        }
        for role in exam.reflectors
    }
    names = [*([BASELINE] if exam.baseline else []), *(role.name for role in exam.reflectors)]
    table = [
        {"actor": actor.name, "reflector": name, "repaired": rate(_repaired(seen, actor.name, name))}
        for actor in exam.actors
        for name in names
    ]
    return {
        "seed": exam.seed,
        "items": [_item_json(item) for item in seen.examined],
        "reflectors": reflectors,
        "table": table,
        "ended": seen.ended or None,
        "spent": seen.told,
        "run": seen.run or None,
    }


def _item_json(item: Examined) -> dict[str, object]:
    return {
        "id": item.bug.id,
        "line": item.bug.lines[0],
        "wrong": str(item.bug.wrong),
        "fix": str(item.bug.fix),
        "diagnoses": [
            {
                "reflector": one.reflector,
                "lesson": None if one.lesson is None else one.lesson.text,
                "problems": [] if one.lesson is None else list(one.lesson.problems),
                "line": one.naming.line,
                "place": one.naming.place,
                "fix": one.naming.fix,
                "names": one.naming.names,
                "fault": one.fault or None,
            }
            for one in item.diagnoses
        ],
        "repairs": [
            {"actor": one.actor, "reflector": one.reflector, "passed": one.passed, "fault": one.fault or None}
            for one in item.repairs
        ],
    }


def named_in(file: Path, reflector: str) -> tuple[int, int]:
    """How many bugs a reflector's lessons named, and how many there were, from a file of `afterword exam --json`.

    Raises:
        InputError: it is no such file, or its exam was one of other reflectors.
    """
    rows = list(read_rows(file))
    found = rows[0].values.get("reflectors") if len(rows) == 1 else None
    if not isinstance(found, Mapping):
        raise InputError("expected the one object that `afterword exam --json` prints", file=file)
    seen = found.get(reflector)
    named = seen.get("named") if isinstance(seen, Mapping) else None
    if not isinstance(named, Mapping):
        names = ", ".join(map(str, found))
        raise InputError(
            f"the exam was one of {names}, and lessons are written by {reflector}; give its own", file=file
        )
    count, total = named.get("count"), named.get("total")
    if type(count) is not int or type(total) is not int or not 0 <= count <= total:
        raise InputError(f"expected how many bugs were named of how many, found {count!r} of {total!r}", file=file)
    return count, total


def exam_text(exam: Exam, seen: Seen) -> str:
    """The table of reflectors and actors, for a person."""
    from afterword.experiments.exam import BASELINE

    names = [*([BASELINE] if exam.baseline else []), *(role.name for role in exam.reflectors)]
    heads = ["", "names the bug", "gives the fix", *(f"repaired by {actor.name}" for actor in exam.actors)]
    rows = [heads]
    for name in names:
        said = [] if name == BASELINE else [_named(seen, name), _fix(seen, name)]
        cells = [*said, *(_repaired(seen, actor.name, name) for actor in exam.actors)]
        row = [name, *([] if said else ["", ""]), *(short_share(sum(cell), len(cell)) for cell in cells)]
        rows.append(row)
    rows = [[shortened(cell, 40) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    faults = [fault for item in seen.examined for fault in item.faults]
    lines = ["reflector, by " + counted(len(seen.examined), "planted bug"), *table, ""]
    lines.append("each as count/total and its 95 % interval; a lesson pays where it beats (no lesson)")
    if faults:
        lines.append(f"{counted(len(faults), 'call')} faulted and left out, e.g. {shortened(faults[0], 90)}")
    if seen.ended:
        lines.append(f"ended early: {seen.ended}")
    kept = f"; kept as run {seen.run}" if seen.run else ""
    lines.append(f"{seen.told}{kept}")
    if kept and (seen.ended or faults):
        lines.append("the same command goes on with it, and asks nothing twice")
    return plain("\n".join(lines)) + "\n"


def _named(seen: Seen, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.diagnoses if one.reflector == reflector)
    return [one.naming.named for one in found if not one.fault]


def _fix(seen: Seen, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.diagnoses if one.reflector == reflector)
    return [one.naming.fix for one in found if not one.fault]


def _pointed(seen: Seen, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.diagnoses if one.reflector == reflector)
    return [one.naming.pointed for one in found if not one.fault]


def _repaired(seen: Seen, actor: str, reflector: str) -> list[bool]:
    found = (one for item in seen.examined for one in item.repairs if (one.actor, one.reflector) == (actor, reflector))
    return [one.passed for one in found if one.passed is not None]
