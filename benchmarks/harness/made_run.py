"""A run that never was, in a real journal: tasks x arms x seeds with programs, checks, lessons and model calls.

What looks back at a run is measured on it, so the texts are as long as those of real trials.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from afterword.core.messages import ChatRequest, Message, Reply
from afterword.core.protocols import EffectKey
from afterword.core.records import (
    Acceptance,
    CheckResult,
    Feedback,
    Outcome,
    Reflection,
    StopReason,
    Trajectory,
    Trial,
    Usage,
)
from afterword.journal import Journal, Run, RunSpec

GAINS: Mapping[str, float] = {"single": 0.9, "retry": 0.9, "best_of_n": 0.95, "reflexion": 1.35}
"""Arms, and how much better than chance each does after the first trial."""
MAX_TRIALS = 4
CHECKS = 8

PROGRAM = "\n".join(
    f"def step_{n}(values):\n    return [value + {n} for value in values if value % 7 != 3]\n" for n in range(9)
)
LESSON = (
    "In case:3 the call solution([4, 3, 7]) gave [5, 4] and [5] was expected: I kept a value that leaves 3 when "
    "divided by 7, since I compared before adding. I will filter the values first and add afterwards, and look at an "
    "empty list before anything else, so that case:5 does not fail with an index error again."
)


async def fill(journal: Journal, *, tasks: int, seeds: int, calls: bool = True, chance: int = 0) -> str:
    """Adds a finished run and returns its name; without `calls` the model calls are left out."""
    settings = {"family": "programming", "settings": {"models": {"model": "scripted:made.jsonl"}, "max_trials": 4}}
    run = await journal.start(RunSpec(("afterword", "experiment", "made.toml"), settings))
    draw = random.Random(chance)  # noqa: S311 - no secret
    for number in range(tasks):
        ease = draw.betavariate(1.2, 1.5)
        for seed in range(seeds):
            for arm, gain in GAINS.items():
                outcome = _outcome(f"task/{number}", arm, ease, gain, draw)
                if calls:
                    await _record(run, outcome, arm, seed)
                await run.finish(outcome, arm=arm, seed=seed)
    await run.end()
    await journal.let_go(run)
    return run.id


async def _record(run: Run, outcome: Outcome, arm: str, seed: int) -> None:
    for trial in outcome.trials:
        for role, usage in trial.usage.items():
            reply = Reply(PROGRAM, "stop", usage, "scripted:made")
            request = ChatRequest((Message("system", LESSON), Message("user", PROGRAM)))

            async def call(reply: Reply = reply) -> Reply:
                return reply

            key = EffectKey(outcome.task_id, arm, seed, trial.number, role, 0)
            await run.recorder.effect(key, ("scripted:made", request), call, Reply)


def _outcome(task: str, arm: str, ease: float, gain: float, draw: random.Random) -> Outcome:
    trials: list[Trial] = []
    most = 1 if arm == "single" else MAX_TRIALS
    while len(trials) < most and not (trials and trials[-1].feedback.passed):
        trials.append(_trial(len(trials) + 1, arm, min(0.97, ease * (gain if trials else 0.9)), draw))
    best = max(trials, key=lambda trial: trial.feedback.score)
    right = draw.random() < (0.9 if best.feedback.passed else 0.05)
    usage: dict[str, Usage] = {}
    for trial in trials:
        for role, spent in trial.usage.items():
            usage[role] = usage.get(role, Usage()) + spent
    acceptance = Acceptance(right, 20 if right else 13, 20, "isolated")
    if best.feedback.passed:
        return Outcome(
            task, "accepted" if right else "rejected", StopReason.PASSED, best, tuple(trials), acceptance, usage
        )
    return Outcome(task, "gave_up", StopReason.MAX_TRIALS, best, tuple(trials), acceptance, usage)


def _trial(number: int, arm: str, chance: float, draw: random.Random) -> Trial:
    passed = draw.random() < chance
    good = CHECKS if passed else draw.randrange(CHECKS)
    checks = tuple(
        CheckResult(f"case:{n}", n < good, "" if n < good else "solution([4, 3, 7]) gave [5, 4], expected [5]")
        for n in range(CHECKS)
    )
    message = "\n".join(f"{check.id} {check.message}" for check in checks if not check.passed)
    feedback = Feedback(passed, good / CHECKS, "isolated", "ok" if passed else "failed", message, checks)
    reflects = arm == "reflexion"
    lesson = None
    if reflects and not passed and number < MAX_TRIALS:
        lesson = Reflection(f"{LESSON} It was trial {number}, draw {draw.random()}.", number)
    usage = {"actor": _usage(draw, 400 + 150 * (reflects and number > 1))}
    if lesson is not None:
        usage["reflector"] = _usage(draw, 500)
    shown = (number - 1,) if reflects and number > 1 else ()
    return Trial(number, Trajectory(f"{PROGRAM}# {draw.random()}\n"), feedback, lesson, shown, usage)


def _usage(draw: random.Random, prompt: int) -> Usage:
    tokens_in, tokens_out = prompt + draw.randrange(200), draw.randrange(100, 400)
    cost = (tokens_in + 4 * tokens_out) / 1e6
    return Usage(1, tokens_in, tokens_out, cost_usd=cost, seconds=0.5 + draw.random() * 3)
