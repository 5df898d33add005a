"""Random runs of the loop against a model of it that was written from the rules and not from the code.

A run is drawn as a table: what happens in trial 1, 2, … if it comes to that. The model below says in plain
steps what the outcome has to be; the loop must agree in every part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
from hypothesis import event, given, settings
from hypothesis import strategies as st

from afterword import (
    ActContext,
    Allowance,
    EvaluateContext,
    Feedback,
    Outcome,
    Plateau,
    ReflectContext,
    Reflection,
    Reflexion,
    SlidingWindow,
    Strategy,
    Trajectory,
    Usage,
)
from afterword.core.budget import request_bound
from afterword.errors import ModelUnreachable
from tests.core.doubles import TASK, ListModel, ask
from tests.core.script import LESSONS

REQUEST = ask(max_tokens=6)
BOUND = request_bound(REQUEST, None).tokens
"""What each call may need at most; it really uses one token of prompt and one to six of reply."""


@dataclass(frozen=True)
class Row:
    """One trial of the table."""

    act_calls: tuple[int, ...]
    """Reply tokens of each model call that the actor makes."""
    output: str | None
    """None: nothing to judge."""
    act_faults: bool
    score: float
    graded: bool
    evaluate_faults: bool
    reflect_calls: tuple[int, ...]
    lesson: str | None
    retracts: tuple[int, ...]
    disputes: bool
    reflect_faults: bool
    held_out: bool | None
    """None: a fault."""


@dataclass(frozen=True)
class Table:
    """A run: its settings and its trials."""

    rows: tuple[Row, ...]
    strategy: Strategy
    window: int
    tokens: int | None
    repetition: bool
    plateau: bool
    has_held_out: bool


calls = st.lists(st.integers(1, 6), max_size=2).map(tuple)
rarely = st.integers(0, 29).map(lambda drawn: drawn == 13)
rows = st.builds(
    Row,
    act_calls=calls,
    output=st.sampled_from(["A", "B", "C", "D", "E", "F", None]),
    act_faults=rarely,
    score=st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.52, 0.52, 0.6, 1.0]),
    graded=st.sampled_from([True, True, False]),
    evaluate_faults=rarely,
    reflect_calls=calls,
    lesson=st.sampled_from([*LESSONS[:5], "", None]),
    retracts=st.lists(st.integers(1, 6), max_size=2).map(tuple),
    disputes=st.sampled_from([False, False, True]),
    reflect_faults=rarely,
    held_out=st.sampled_from([True, True, False, False, None]),
)
tables = st.builds(
    Table,
    rows=st.integers(1, 6).flatmap(lambda trials: st.tuples(*[rows] * trials)),
    strategy=st.sampled_from(Strategy),
    window=st.integers(1, 3),
    tokens=st.sampled_from([None, None, BOUND - 1, BOUND, BOUND + 3, 2 * BOUND, 30, 40]),
    repetition=st.booleans(),
    plateau=st.booleans(),
    has_held_out=st.booleans(),
)


@dataclass
class Expected:
    """What the model says of a run."""

    status: str = ""
    stop: str | None = None
    outputs: list[str | None] = field(default_factory=list)
    shown: list[list[int]] = field(default_factory=list)
    best: int | None = None
    accepted: bool | None = None
    used: dict[str, list[int]] = field(default_factory=dict)
    """Tokens of every call, by role."""


class Ended(Exception):
    """Ends the model's loop, with a stop reason or, for a fault, without."""


def expect(table: Table) -> Expected:
    """The rules, in plain steps."""
    told = Expected()
    memory: list[int] = []
    scores: list[float] = []
    reflects = table.strategy in ("reflexion", "last_attempt_and_reflexion")

    def spend(role: str, replies: tuple[int, ...]) -> None:
        for reply in replies:
            if table.tokens is not None and spent() + BOUND > table.tokens:
                raise Ended("tokens")
            told.used.setdefault(role, []).append(1 + reply)

    def spent() -> int:
        return sum(sum(used) for used in told.used.values())

    def out_of_tokens() -> bool:
        return table.tokens is not None and spent() >= table.tokens

    def disputed(number: int) -> bool:
        row = table.rows[number - 1]
        return reflects and row.lesson is not None and row.disputes

    try:
        for number, row in enumerate(table.rows, 1):
            lessons = list(memory)
            spend("actor", row.act_calls)
            if row.act_faults or (row.evaluate_faults and row.output is not None):
                raise Ended
            told.shown.append(lessons)
            told.outputs.append(row.output)
            scores.append(0.0 if row.output is None else row.score)

            if scores[-1] == 1.0:
                raise Ended("passed")
            if number == len(table.rows):
                raise Ended("max_trials")
            if out_of_tokens():
                raise Ended("tokens")
            if table.repetition and table.strategy != "retry" and row.output is not None:
                same = [n for n in range(1, number) if told.outputs[n - 1] == row.output]
                if same and not any(disputed(n) for n in same):
                    raise Ended("repeated_output")
            if table.plateau and number > 2 and all(r.graded and r.output is not None for r in table.rows[:number]):
                gain = max(scores[-2:]) - max(scores[:-2])
                if gain < 0.05:
                    raise Ended("plateau")

            if not reflects:
                continue
            spend("reflector", row.reflect_calls)
            if row.reflect_faults:
                raise Ended
            if out_of_tokens():
                raise Ended("tokens")
            if row.lesson is None:
                continue
            if table.repetition and row.lesson and row.lesson in [r.lesson for r in table.rows[: number - 1]]:
                raise Ended("repeated_reflection")
            memory = [n for n in memory if n not in row.retracts]
            if row.lesson:
                memory = [*memory, number][-table.window :]
    except Ended as ended:
        told.stop = ended.args[0] if ended.args else None

    for number, score in enumerate(scores, 1):
        if told.best is None or score >= scores[told.best - 1]:
            told.best = number
    told.status = judge(table, told, scores)
    return told


def judge(table: Table, told: Expected, scores: list[float]) -> str:
    """The held-out check and the status; says in `told` what the check found."""
    if told.stop is None:
        return "faulted"
    if table.has_held_out and told.best is not None:
        judged = told.outputs[told.best - 1] is not None
        told.accepted = table.rows[told.best - 1].held_out if judged else False
        if told.accepted is None:
            return "faulted"
    if told.best is None or scores[told.best - 1] < 1.0:
        return "gave_up"
    return {None: "unverified", True: "accepted", False: "rejected"}[told.accepted]


@dataclass
class Player:
    """Plays a table in all roles."""

    table: Table
    check_ids: tuple[str, ...] = ()
    shown: list[list[int]] = field(default_factory=list)

    async def act(self, context: ActContext) -> Trajectory:
        row = self.table.rows[context.number - 1]
        self.shown.append([lesson.trial for lesson in context.lessons])
        for reply in row.act_calls:
            await context.effects.complete("actor", ListModel(["word " * reply]), REQUEST)
        if row.act_faults:
            raise ModelUnreachable("refused", model="m")
        return Trajectory("", end="no_output") if row.output is None else Trajectory(row.output)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        row = self.table.rows[context.number - 1]
        if row.evaluate_faults:
            raise RuntimeError("the evaluator crashed")
        return Feedback(row.score == 1.0, row.score, "exact", graded=row.graded)

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        number = context.trial.number
        row = self.table.rows[number - 1]
        for reply in row.reflect_calls:
            await context.effects.complete("reflector", ListModel(["word " * reply]), REQUEST)
        if row.reflect_faults:
            raise ModelUnreachable("refused", model="m")
        if row.lesson is None:
            return None
        return Reflection(row.lesson, number, retracts=row.retracts, disputes="case:1" if row.disputes else None)


class HeldOut:
    """The held-out check of a table."""

    check_ids = ("hidden:1",)

    def __init__(self, table: Table) -> None:
        self.table = table

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        passes = self.table.rows[context.number - 1].held_out
        if passes is None:
            raise RuntimeError("the held-out check crashed")
        return Feedback(passes, float(passes), "exact")


def play(table: Table) -> tuple[Outcome, Player]:
    """The real loop on a table."""
    player = Player(table)
    reflexion = Reflexion(
        player,
        player,
        player,
        strategy=table.strategy,
        memory=SlidingWindow(table.window),
        max_trials=len(table.rows),
        allowance=Allowance(tokens=table.tokens),
        stop=[Plateau()] if table.plateau else [],
        stop_on_repetition=table.repetition,
        held_out=HeldOut(table) if table.has_held_out else None,
    )
    return anyio.run(reflexion.run, TASK), player


@settings(max_examples=500)
@given(tables)
def test_the_loop_agrees_with_a_simple_model_of_it(table: Table) -> None:
    expected = expect(table)
    outcome, player = play(table)
    event(f"{outcome.status}, {outcome.stop_reason}")

    assert (outcome.status, outcome.stop_reason) == (expected.status, expected.stop)
    assert [trial.number for trial in outcome.trials] == list(range(1, len(expected.outputs) + 1))
    assert [trial.trajectory.output for trial in outcome.trials] == [output or "" for output in expected.outputs]
    assert [list(trial.lessons_shown) for trial in outcome.trials] == expected.shown
    assert player.shown[: len(expected.shown)] == expected.shown
    assert (outcome.best and outcome.best.number) == expected.best
    assert (outcome.acceptance and outcome.acceptance.passed) == expected.accepted
    assert (outcome.fault is None) == (outcome.status != "faulted")
    usage = {role: Usage(len(used), len(used), sum(used) - len(used)) for role, used in expected.used.items()}
    assert outcome.usage == usage


@settings(max_examples=100)
@given(tables)
def test_what_holds_of_every_run(table: Table) -> None:
    outcome, _ = play(table)
    unfinished = 1 if outcome.fault is not None or outcome.stop_reason == "tokens" else 0
    of_trials = sum((sum(trial.usage.values(), Usage()) for trial in outcome.trials), Usage())

    assert table.tokens is None or outcome.total_usage.tokens <= table.tokens
    assert of_trials.calls <= outcome.total_usage.calls
    assert unfinished or of_trials == outcome.total_usage
    assert all(len(trial.lessons_shown) <= table.window for trial in outcome.trials)
    assert [trial.feedback.passed for trial in outcome.trials[:-1]] == [False] * (len(outcome.trials) - 1)
    assert outcome.status != "accepted" or (outcome.acceptance is not None and outcome.acceptance.passed)
    if outcome.stop_reason in ("passed", "max_trials") or not table.strategy.reflects:
        assert not outcome.trials or outcome.trials[-1].reflection is None
