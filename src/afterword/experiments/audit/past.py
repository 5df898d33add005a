"""What a run has left of one task, for whoever looks at its lessons: from a journal, or from a line of `run --json`.

Both come down to the trials. A line of JSON has no steps and no names of the checks that passed, which limits what can
be found in a lesson, and never lets it look better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from afterword.core.records import CheckResult, End, Feedback, Reflection, Trajectory, Trial
from afterword.errors import InputError

_SOURCES: Mapping[str, Literal["person", "placeholder"]] = {"person": "person", "placeholder": "placeholder"}


@dataclass(frozen=True, slots=True)
class PastTask:
    """The trials of one task, in one arm and with one seed."""

    task: str
    trials: tuple[Trial, ...]
    family: str = "unknown"
    model: str = "unknown"
    """Which model wrote the lessons."""
    arm: str = ""
    seed: int = 0


def past_task(row: Mapping[str, object], family: str = "unknown", model: str = "unknown") -> PastTask:
    """A task from an object of `run --json`.

    Raises:
        InputError: it is none.
    """
    trials = row.get("trials")
    task = row.get("task")
    if not isinstance(trials, list) or not isinstance(task, str):
        raise InputError(f"expected an outcome of `afterword run --json`, found an object with {sorted(row)[:6]}")
    family, model = _text(row, "family") or family, _text(row, "reflector_model") or model
    seed = int(_number(row, "seed"))
    return PastTask(task, tuple(_trial(trial) for trial in trials), family, model, _text(row, "arm"), seed)


def reflected_by(plan: Mapping[str, object], arm: str = "") -> tuple[str, str]:
    """The family of a run, and the model that wrote the lessons of one of its arms, as far as its plan tells."""
    arms, settings, family = plan.get("arms"), plan.get("settings"), plan.get("family")
    own = [one for one in arms if isinstance(one, Mapping) and one.get("name") == arm] if isinstance(arms, list) else []
    common = settings.get("models") if isinstance(settings, Mapping) else None
    tables = [*own, *([common] if isinstance(common, Mapping) else [])]
    named = (table.get(role) for role in ("reflector_model", "model") for table in tables)
    model = next((name for name in named if isinstance(name, str) and name), "unknown")
    return family if isinstance(family, str) else "unknown", model


def _trial(row: object) -> Trial:
    if not isinstance(row, Mapping) or not isinstance(row.get("number"), int):
        raise InputError(f"expected a trial with its number, found {str(row)[:60]!r}")
    number = int(row["number"])
    failed = [name for name in _list(row, "failed") if isinstance(name, str)]
    passed = int(_number(row, "checks_passed"))
    checks = (
        *(CheckResult(name, False) for name in failed),
        *(CheckResult(f"passed:{place}", True) for place in range(1, passed + 1)),
    )
    score = min(1.0, max(0.0, _number(row, "score")))
    feedback = Feedback(row.get("passed") is True, score, "exact", _text(row, "reason"), _text(row, "feedback"), checks)
    text = row.get("reflection")
    reflection = None
    if isinstance(text, str):
        reflection = Reflection(
            text,
            number,
            _text(row, "evidence"),
            retracts=_numbers(row, "retracted"),
            disputes=_text(row, "disputed") or None,
            problems=tuple(str(problem) for problem in _list(row, "problems")),
            source=_SOURCES.get(_text(row, "source"), "model"),
        )
    end: End = "no_output" if row.get("end") == "no_output" else "finished"
    return Trial(
        number,
        Trajectory(_text(row, "output"), end=end),
        feedback,
        reflection,
        _numbers(row, "lessons_shown"),
        retired=_numbers(row, "retired"),
    )


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _number(row: Mapping[str, object], name: str) -> float:
    value = row.get(name)
    return float(value) if isinstance(value, (int, float)) and value == value else 0.0


def _list(row: Mapping[str, object], name: str) -> list[object]:
    value = row.get(name)
    return value if isinstance(value, list) else []


def _numbers(row: Mapping[str, object], name: str) -> tuple[int, ...]:
    return tuple(value for value in _list(row, name) if isinstance(value, int))
