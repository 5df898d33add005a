"""What a report holds below its first screen, as plain tables and lists of facts: the page and the summary show these.

Every cell is text, so that whoever renders them has one thing to escape.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from afterword.core.records import StopReason, Usage
from afterword.experiments.audit import Group
from afterword.experiments.comparison import ArmReport, Comparison
from afterword.experiments.report.gathering import RunFacts
from afterword.experiments.report.played_arms import PlayedArm
from afterword.experiments.report.wording import NONE, counted, duration, name_of, number, share, usd
from afterword.experiments.spending import Spread

ENDS: Mapping[StopReason, str] = {
    StopReason.PASSED: "a trial that passed",
    StopReason.MAX_TRIALS: "the number of trials",
    StopReason.CALLS: "the allowance of calls",
    StopReason.COST: "the allowance of cost",
    StopReason.TOKENS: "the allowance of tokens",
    StopReason.TIME: "the time",
    StopReason.PLATEAU: "a plateau",
    StopReason.REPEATED_REFLECTION: "a repeated lesson",
    StopReason.REPEATED_OUTPUT: "a repeated output",
    StopReason.CANCELLED: "a person",
}
"""What ended a loop, in words."""
_SETTINGS = 60
_OTHER = 400
_NO_BREAK = "\N{NO-BREAK SPACE}"
_VALUE = 120
"""Settings that are listed, and characters of each; the whole of it is in the journal."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; the first column names the row."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """What the evaluator said of the results of an arm, against the held-out check."""

    arm: str
    right_passed: int
    wrong_passed: int
    right_failed: int
    wrong_failed: int
    told: str


def matrices(comparison: Comparison) -> tuple[Matrix, ...]:
    """One for each arm that a held-out check judged."""
    return tuple(_matrix(arm) for arm in comparison.arms if arm.judged)


def _matrix(arm: ArmReport) -> Matrix:
    counts = arm.evaluator
    of_itself = "the model judged itself: " if arm.judges_itself else ""
    told = (
        f"{of_itself}passed but wrong {share(arm.false_positives)}, failed but right {share(arm.false_negatives)}; "
        f"{counted(arm.judged, 'result')} of {arm.results:,} judged"
    )
    return Matrix(
        arm.arm, counts.true_positive, counts.false_positive, counts.false_negative, counts.true_negative, told
    )


def spending(comparison: Comparison) -> Grid:
    """What a task took in each arm: mean, median and 95th percentile."""
    rows = tuple(_spent_by(arm) for arm in comparison.arms)
    heads = ("arm", "tokens", "calls", "USD", "waiting for models", "waiting per solved task")
    return Grid(heads, rows)


def _spent_by(arm: ArmReport) -> tuple[str, ...]:
    spent = arm.spending
    return (
        arm.arm,
        _spread(spent.tokens, number),
        _spread(spent.calls, number),
        _spread(spent.cost_usd, usd) if spent.cost_usd.mean is not None else "unknown",
        _spread(spent.seconds, duration),
        duration(spent.seconds_per_solved),
    )


def _spread(spread: Spread, form: Callable[[float | None], str]) -> str:
    if spread.mean is None:
        return NONE
    values = (form(spread.mean), form(spread.median), form(spread.p95))
    return ", ".join(value.replace(" ", _NO_BREAK) for value in values)


def by_role(comparison: Comparison) -> Grid:
    """The same for each role, and what it took over all results of an arm."""
    rows = [
        (
            arm.arm,
            name_of(role),
            _spread(spent.tokens, number),
            _spread(spent.calls, number),
            _spread(spent.cost_usd, usd) if spent.cost_usd.mean is not None else "unknown",
            _spread(spent.seconds, duration),
            _spent(spent.total),
        )
        for arm in comparison.arms
        for role, spent in arm.spending.by_role.items()
    ]
    return Grid(("arm", "role", "tokens", "calls", "USD", "waiting", "in all"), tuple(rows))


def played(comparison: Comparison, arms: Mapping[str, PlayedArm]) -> Grid:
    """What each arm is, and what ended its loops."""
    rows = []
    for arm in comparison.arms:
        one = arms.get(arm.arm)
        kind = "" if one is None or one.kind == arm.arm else name_of(one.kind)
        does = "" if one is None else one.does
        other = "" if one is None else name_of(one.other, _OTHER) if one.other else ""
        rows.append((arm.arm, ": ".join(part for part in (kind, does) if part) or NONE, other or NONE, _ends(arm)))
    return Grid(("arm", "what it is", "what is other in it", "what ended its loops"), tuple(rows))


def _ends(arm: ArmReport) -> str:
    told = [f"{count:,} by {ENDS[reason]}" for reason, count in arm.ends.items()]
    return ", ".join(told) or NONE


def strata(comparison: Comparison) -> Grid | str:
    """Solved by difficulty, or why that cannot be said."""
    if comparison.seeds < 2:
        return (
            "How hard a task is would be taken from the other seeds, so that no arm is judged by its own luck. "
            "There is one seed, so tasks are not split."
        )
    names = list(dict.fromkeys(stratum.name for arm in comparison.arms for stratum in arm.strata))
    if not names:
        return "No task was worked on with more than one seed, so tasks are not split."
    rows = []
    for arm in comparison.arms:
        found = {stratum.name: stratum for stratum in arm.strata}
        cells = [
            f"{share(one.solved)} of {one.tasks:,}" if (one := found.get(name)) is not None and one.tasks else NONE
            for name in names
        ]
        rows.append((arm.arm, *cells))
    return Grid(("arm", *names), tuple(rows))


def lessons(comparison: Comparison, groups: Mapping[str, Group]) -> Grid | str:
    """What the lessons of each arm held and what followed them, or why there is nothing to say."""
    if not any(group.lessons for group in groups.values()):
        return "No arm drew a lesson."
    columns = {
        arm.arm: dict(_lessons(group))
        for arm in comparison.arms
        if (group := groups.get(arm.arm)) is not None and group.lessons
    }
    rows = tuple(
        (name, *(column[name] for column in columns.values())) for name in next(iter(columns.values()))
    )  # a row for each thing that is measured: only some arms have lessons
    return Grid(("", *columns), rows)


def _lessons(group: Group) -> Iterator[tuple[str, str]]:
    yield "lessons", f"{group.lessons:,} on {counted(group.tasks, 'task')}"
    for name, part in group.aspects.items():
        yield name, share(part)
    for name, told in (
        ("gained", "then gained checks"),
        ("same", "then stayed the same"),
        ("lost", "then lost checks"),
    ):
        yield told, share(group.effects[name])
    yield "checks gained, lost", f"{group.checks_gained:,}, {group.checks_lost:,}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the results of one run come from."""

    run: str
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    again: tuple[str, ...]
    """Commands."""


def provenance(facts: RunFacts, option: str) -> Provenance:
    """Of one of the runs; the option is what its commands need to find the journal."""
    summary, spec = facts.summary, facts.spec
    guards = spec.fingerprints
    tasks = sum(name.startswith("task:") for name in guards)
    told = [
        ("state", f"{summary.state}, {counted(summary.trials, 'trial')}"),
        ("started", _moment(summary.started)),
        ("ended", NONE if summary.ended is None else _moment(summary.ended)),
        ("version", f"afterword {summary.version}"),
        ("paid for in all", _paid(facts)),
        *((f"model, {name_of(use.role)}", f"{name_of(use.model, 80)}: {_spent(use.usage)}") for use in facts.models),
        ("seeds", name_of(", ".join(map(str, facts.seeds)), 80)),
        *((f"fingerprint of {name_of(name, 80)}", value[:16]) for name, value in _guards(guards)),
        ("tasks with a fingerprint", number(tasks)),
    ]
    hidden = ("arms", "settings.strategy") if spec.settings.get("arms") else ()  # the arms have a table of their own
    stated = ((name, value) for name, value in _flat(spec.settings) if name not in hidden)
    settings = [(name_of(name, 80), name_of(value, _VALUE)) for name, value in stated]
    if len(settings) > _SETTINGS:
        settings = [*settings[:_SETTINGS], ("…", f"{len(settings) - _SETTINGS:,} more in the journal")]
    return Provenance(summary.id, tuple(told), tuple(settings), tuple(_again(facts, option)))


def _guards(guards: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The fingerprints, without those of tasks; one for each model of a role, and its arms where they differ."""
    models: dict[str, dict[str, list[str]]] = {}
    for name, value in sorted(guards.items()):
        kind, _, rest = name.partition(":")
        if kind == "model":
            arm, _, role = rest.rpartition(":")
            models.setdefault(role, {}).setdefault(value, []).append(arm)
        elif kind != "task":
            yield name, value
    for role, values in models.items():
        for value, arms in values.items():
            yield f"model, {role}" + (f" of {', '.join(arms)}" if len(values) > 1 else ""), value


def _paid(facts: RunFacts) -> str:
    return f"{_spent(facts.summary.usage)}; what arms shared counts once here, and in full for each of them above"


def _spent(usage: Usage) -> str:
    cost = usd(usage.cost_usd) if usage.cost_usd is not None else "cost unknown"
    return f"{counted(usage.calls, 'call')}, {usage.tokens_in:,} + {usage.tokens_out:,} tokens, {cost}"


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _flat(value: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The settings that are set, a line each."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{prefix}.{name}" if prefix else str(name))
    elif value not in (None, "", [], False):
        yield prefix, value if isinstance(value, str) else json.dumps(value, default=str)


def _again(facts: RunFacts, option: str) -> Iterator[str]:
    summary = facts.summary
    if summary.command:
        yield name_of(shlex.join(summary.command), 400)
    if summary.state != "finished":
        yield f"afterword resume {summary.id}{option}"
    yield f"afterword compare {summary.id}{option}"
    yield f"afterword export {summary.id}{option} --out {summary.id}.jsonl"
