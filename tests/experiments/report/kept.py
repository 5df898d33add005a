"""Runs that never were, in a journal: outcomes by their marks, without a loop."""

from __future__ import annotations

from collections.abc import Mapping

from afterword.core.protocols import EffectKey
from afterword.core.records import (
    Acceptance,
    FaultRecord,
    Feedback,
    Outcome,
    Reflection,
    StopReason,
    Trajectory,
    Trial,
    Usage,
)
from afterword.journal import Journal, RunSpec

LESSON = "In test_zero half(0) gave 1: I added one. I will return n // 2 instead."


def outcome(task: str, mark: str) -> Outcome:
    """`+` accepted, `x` rejected, `-` gave up after a lesson, `?` unverified, `!` a fault."""
    passed = mark in "+x?"
    one = Usage(1, 90, 10, cost_usd=0.01, seconds=1.5)
    first = Trial(
        1,
        Trajectory("a long text of a trial"),
        Feedback(passed, float(passed), "isolated", "ok" if passed else "failed", "half(0) gave 1"),
        None if passed else Reflection(LESSON, 1),
        usage={"actor": one},
    )
    trials: tuple[Trial, ...] = (first,)
    if mark == "-":
        second = Trial(2, Trajectory("y"), Feedback(False, 0.5, "isolated"), None, (1,), {"actor": one})
        trials = (first, second)
    usage = {"actor": sum((trial.usage["actor"] for trial in trials), Usage())}
    accepted = None if mark in "?!" else Acceptance(mark == "+", 1, 1, "isolated")
    if mark == "!":
        return Outcome(task, "faulted", None, None, (), None, usage, FaultRecord("ServerFault", "no answer", 1))
    status = {"+": "accepted", "x": "rejected", "-": "gave_up", "?": "unverified"}[mark]
    stop = StopReason.PASSED if passed else StopReason.MAX_TRIALS
    return Outcome(task, status, stop, trials[-1], trials, accepted, usage)  # type: ignore[arg-type]  # a text of the table


async def keep(
    journal: Journal,
    arms: Mapping[str, str],
    *,
    seed: int = 0,
    end: bool = True,
    settings: Mapping[str, object] | None = None,
    fingerprints: Mapping[str, str] | None = None,
    prefix: str = "t",
    command: tuple[str, ...] = ("afterword", "run", "tasks"),
) -> str:
    """A run with a mark for each task of each arm; ` ` is a task that was begun only. Returns its name."""
    run = await journal.start(RunSpec(command, settings or {}, seed, fingerprints or {}))
    for arm, marks in arms.items():
        for number, mark in enumerate(marks):
            task = f"{prefix}{number}"
            if mark == " ":

                async def call() -> str:
                    return "begun"

                await run.recorder.effect(EffectKey(task, arm, seed, 1, "evaluator", 0), "?", call, str)
            else:
                await run.finish(outcome(task, mark), arm=arm, seed=seed)
    if end:
        await run.end()
    await journal.let_go(run)
    return run.id
