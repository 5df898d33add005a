"""What every journal must do, in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from afterword import (
    Allowance,
    Feedback,
    Reflexion,
    Reply,
    Task,
    Trajectory,
    Usage,
)
from afterword.core.effects import Metered
from afterword.core.protocols import EffectKey
from afterword.core.records import Reflection, Step
from afterword.errors import InputError, ReplayMismatch, RunBusy, RunChanged
from afterword.journal import Journal, Run, RunSpec, open_journal
from tests.core.doubles import Heard, ask
from tests.core.script import Script

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Place:
    """Where a journal is kept during a test, and how it is opened again."""

    where: str
    lasting: bool

    def open(self) -> AbstractAsyncContextManager[Journal]:
        return open_journal(self.where)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "memory":
        return Place(":memory:", lasting=False)
    if request.param == "sqlite":
        return Place(str(tmp_path / "journal.sqlite"), lasting=True)
    return Place(request.getfixturevalue("postgres_url"), lasting=True)


@pytest.fixture
async def journal(place: Place) -> AsyncIterator[Journal]:
    async with place.open() as journal:
        yield journal


@dataclass
class Calls:
    """Makes calls that are counted."""

    made: int = 0

    async def record(self, run: Run, key: EffectKey, request: object, result: object) -> object:
        async def call() -> object:
            self.made += 1
            return result

        return await run.recorder.effect(key, request, call, type(result))


def key(role: str = "actor", n: int = 0, *, task: str = "t", trial: int = 1) -> EffectKey:
    return EffectKey(task, "reflexion", 0, trial, role, n)


async def resumed(journal: Journal, run: Run) -> Run:
    """The run as another process would take it up."""
    await journal.let_go(run)
    return await journal.resume(run.id)


ODD_RESULTS = [
    "a\0b\ud800c\N{SNOWMAN}\U0001f600",
    float("inf"),
    3.5,
    Reply("text", "stop", Usage(1, 10, 5, 2, 1, None, 0.25), "provider:name", tries=3),
    Trajectory("x = '\ud83d'\n", (Step("think", "act", "see"),), "no_output", "why"),
    Feedback(True, 1, "exact", "ok"),
    Reflection("lesson", 2, "evidence", (1,), "case:1", ("vague",), "person"),
]


@pytest.mark.parametrize("result", ODD_RESULTS, ids=lambda result: type(result).__name__)
async def test_a_result_comes_back_as_it_was(journal: Journal, result: object) -> None:
    calls = Calls()
    run = await journal.start(RunSpec())
    first = await calls.record(run, key(), ("q",), result)
    second = await calls.record(await resumed(journal, run), key(), ("q",), result)
    assert first == second == result
    assert calls.made == 1


async def test_the_loop_goes_on_with_what_a_resumed_run_will_see(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    calls = Calls()
    first = await calls.record(run, key(), (), Feedback(True, 1, "exact"))
    second = await calls.record(await resumed(journal, run), key(), (), Feedback(True, 1, "exact"))
    assert isinstance(first, Feedback)
    assert isinstance(second, Feedback)
    assert repr(first.score) == repr(second.score) == "1.0"


async def test_a_generic_record_comes_back(journal: Journal) -> None:
    async def call() -> Metered[Trajectory]:
        return Metered(Trajectory("x"), {"actor": Usage(1, 2, 3)})

    async def no_call() -> Metered[Trajectory]:
        raise AssertionError("it is recorded")

    run = await journal.start(RunSpec())
    first = await run.recorder.effect(key(), (), call, Metered[Trajectory])
    again = await resumed(journal, run)
    assert await again.recorder.effect(key(), (), no_call, Metered[Trajectory]) == first == await call()


async def test_a_result_that_does_not_come_back_is_refused(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    with pytest.raises(InputError, match="cannot be kept in a journal"):
        await Calls().record(run, key(), (), object())


async def test_what_a_call_raises_is_passed_on_and_not_kept(journal: Journal) -> None:
    run = await journal.start(RunSpec())

    async def call() -> str:
        raise TimeoutError("no answer")

    with pytest.raises(TimeoutError, match="no answer"):
        await run.recorder.effect(key(), (), call, str)
    calls = Calls()
    assert await calls.record(run, key(), (), "answer") == "answer"
    assert calls.made == 1


async def test_another_request_at_the_same_place_is_refused_and_the_difference_named(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    calls = Calls()
    reply = Reply("4", "stop", Usage(calls=1), "m")
    await calls.record(run, key(n=2, trial=3), ("m", ask("What is 2 + 2?")), reply)
    run = await resumed(journal, run)
    with pytest.raises(ReplayMismatch) as refused:
        await calls.record(run, key(n=2, trial=3), ("m", ask("What is 2 + 3?")), reply)
    assert (refused.value.task, refused.value.trial, refused.value.role, refused.value.n) == ("t", 3, "actor", 2)
    assert refused.value.first == "[1].messages[0].content differs at character 12: was '2?', now '3?'"
    assert calls.made == 1


async def test_a_change_of_what_a_run_was_started_with_is_refused_by_name(journal: Journal) -> None:
    run = await journal.start(RunSpec(fingerprints={"prompts": "p1", "model:actor": "m1", "code": "c1"}))
    run.check({"prompts": "p1", "task:a": "a1"})
    run = await resumed(journal, run)
    run.check({"prompts": "p1", "task:a": "a1", "task:b": "b1"})
    with pytest.raises(RunChanged, match="another prompts, task:a; put back") as refused:
        run.check({"prompts": "p2", "model:actor": "m1", "task:a": "a2"})
    assert refused.value.names == ("prompts", "task:a")


async def test_what_a_run_was_started_with_is_given_back(journal: Journal) -> None:
    spec = RunSpec(("afterword", "run", "x"), {"trials": 3, "tasks": ["ä", "b"]}, 7, {"code": "1"})
    run = await journal.start(spec)
    assert (await resumed(journal, run)).spec == spec


async def test_trials_and_outcome_are_read_back(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    script = Script(scores=[0.0, 0.5, 1.0])
    loop = Reflexion(script, script, script, held_out=script)
    heard = Heard()
    outcome = await loop.run(Task("t", "Do."), recorder=run.recorder, events=run.events(heard, arm="reflexion"))
    assert await run.outcome("t", arm="reflexion") is None
    await run.finish(outcome, arm="reflexion")
    assert await run.outcome("t", arm="reflexion") == outcome
    assert heard.names()[0] == "RunStarted"
    rows = [row async for row in journal.trials(run.id)]
    assert [row.trial for row in rows] == list(outcome.trials)
    assert all(row.complete for row in rows)
    assert [found async for _, found in journal.outcomes(run.id)] == [outcome]


async def test_a_run_replays_without_a_call(journal: Journal) -> None:
    async def act(context: object) -> str:
        made.append("act")
        return f"output {len(made)}"

    async def judge(context: object) -> bool:
        made.append("judge")
        return len(made) > 4

    made: list[str] = []
    run = await journal.start(RunSpec())
    first = await Reflexion(act, judge).run("Do.", recorder=run.recorder)
    assert len(made) == 6
    again = await resumed(journal, run)
    assert await Reflexion(act, judge).run("Do.", recorder=again.recorder) == first
    assert len(made) == 6


async def test_a_trial_that_is_forgotten_starts_again(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    calls = Calls()
    for trial in (0, 1, 2, 3):
        await calls.record(run, key(trial=trial), (trial,), "old")
    await calls.record(run, key(task="other", trial=3), (), "old")
    await run.forget("t", arm="reflexion", trial=2, why="the world answered otherwise")
    results = [await calls.record(run, key(trial=trial), (trial,), "new") for trial in (0, 1, 2, 3)]
    assert results == ["old", "old", "new", "new"]
    run = await resumed(journal, run)
    results = [await calls.record(run, key(trial=trial), (trial,), "newest") for trial in (0, 1, 2, 3)]
    assert results == ["old", "old", "new", "new"]
    assert await calls.record(run, key(task="other", trial=3), (), "new") == "old"
    assert [note.text for note in run.notes] == ["from trial 2 on: the world answered otherwise"]
    kept = [(effect.trial, effect.superseded) async for effect in journal.effects(run.id, task="t")]
    assert sorted(kept) == [(0, False), (1, False), (2, False), (2, True), (3, False), (3, True)]


async def test_a_fork_goes_on_after_the_verdict_on_a_trial(journal: Journal) -> None:
    run = await journal.start(RunSpec(settings={"a": 1}))
    script = Script()
    for task in ("t", "other"):
        timed = Allowance(seconds=600)  # so that the clock is read, which is all that is recorded here
        outcome = await Reflexion(script, script, script, max_trials=3, allowance=timed).run(
            Task(task, "Do."), recorder=run.recorder, events=run.events(arm="reflexion")
        )
        await run.finish(outcome, arm="reflexion")
    fork = await journal.fork(run.id, at=("t", 2), lesson="Look at zero.")
    assert fork.spec.settings == {"a": 1}
    assert fork.fork is not None
    assert (fork.fork.run, fork.fork.trial, fork.fork.lesson) == (
        run.id,
        2,
        "Look at zero.",
    )
    kept = [(effect.task, effect.trial, effect.role) async for effect in journal.effects(fork.id)]
    assert {task for task, _, _ in kept} <= {"t"}
    assert max(trial for _, trial, _ in kept) <= 2
    with pytest.raises(InputError, match="did not judge a trial 4 of task 't'"):
        await journal.fork(run.id, at=("t", 4))
    with pytest.raises(InputError, match="did not work on a task 'x'"):
        await journal.fork(run.id, at=("x", 1))


async def test_a_run_is_found_by_a_part_of_its_name(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    await journal.let_go(run)
    day, minute, word = run.id.split("-")
    for name in (run.id, f"{day}-{minute}", word, None):
        again = await journal.resume(name)
        assert again.id == run.id
        await journal.let_go(again)
    for name in ("nothing", ""):
        with pytest.raises(InputError, match="holds no run"):
            await journal.resume(name)


async def test_the_latest_unfinished_run_is_resumed(journal: Journal) -> None:
    first = await journal.start(RunSpec())
    second = await journal.start(RunSpec())
    await second.end()
    await journal.let_go(first)
    assert (await journal.resume()).id == first.id
    await first.end()
    with pytest.raises(InputError, match="holds no run that is unfinished"):
        await journal.resume()


async def test_a_run_that_is_held_is_refused(place: Place, journal: Journal) -> None:
    run = await journal.start(RunSpec())
    with pytest.raises(RunBusy, match="is being worked on by this process"):
        await journal.resume(run.id)


async def test_a_lasting_journal_outlives_its_process(place: Place) -> None:
    if not place.lasting:
        pytest.skip("it lives in memory")
    calls = Calls()
    async with place.open() as journal:
        run = await journal.start(RunSpec())
        await calls.record(run, key(), ("q",), "answer")
    async with place.open() as journal:
        run = await journal.resume()
        assert await calls.record(run, key(), ("q",), "other") == "answer"
    assert calls.made == 1


async def test_many_writers_wait_for_one_commit(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    calls = Calls()
    async with anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(calls.record, run, key(task=f"t{number % 20}", n=number), number, f"answer {number}")
    rows = [effect async for effect in journal.effects(run.id)]
    assert sorted(str(row.result) for row in rows) == sorted(f"answer {number}" for number in range(200))


async def test_spending_is_summed_and_an_unknown_cost_stays_unknown(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    calls = Calls()
    for n, cost in enumerate((0.25, 0.5)):
        await calls.record(run, key(n=n), n, Reply("", "stop", Usage(1, 10, 5, 1, 2, cost, 0.5), "m"))
    assert (await journal.summary(run.id)).usage == Usage(2, 20, 10, 2, 4, 0.75, 1.0)
    await calls.record(run, key(n=2), 2, Reply("", "stop", Usage(1, 10, 5, cost_usd=None), "m"))
    (task,) = [task async for task in journal.tasks(run.id)]
    assert task.usage == Usage(3, 30, 15, 2, 4, None, 1.0)
    assert (await journal.summary(run.id)).usage.cost_usd is None


async def test_the_state_of_a_run_is_told(journal: Journal) -> None:
    run = await journal.start(RunSpec(command=("run", "x")))
    assert (await journal.summary(run.id)).state == "running"
    await journal.let_go(run)
    assert (await journal.summary(run.id)).state == "interrupted"
    await run.end()
    (summary,) = await journal.runs()
    assert (summary.state, summary.command) == ("finished", ("run", "x"))


async def test_odd_texts_are_kept_where_a_column_holds_them(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    reply = Reply("x", "stop", Usage(calls=1), "model\0\ud800")
    assert await Calls().record(run, key(), (), reply) == reply
    await run.note("kind", "t", "text\0\ud800")
    (note,) = await journal.notes(run.id)
    assert note.text == "text\\x00\\ud800"
    for name in ("\ud800", "a\0"):
        with pytest.raises(InputError, match="has a name that cannot be kept in a journal"):
            await Calls().record(run, key(task=name), (), "x")
    assert await Calls().record(run, key(n=1), (), "goes on") == "goes on"


async def test_a_cancelled_call_is_not_kept_and_a_paid_one_is(journal: Journal) -> None:
    run = await journal.start(RunSpec())
    calls = Calls()

    async def endless() -> str:
        await anyio.sleep_forever()
        return ""

    with anyio.move_on_after(0.01):
        await run.recorder.effect(key("slow"), (), endless, str)

    async def paid() -> str:
        scope.cancel()  # it has answered, and the run is given up in the same moment
        return "paid"

    with anyio.CancelScope() as scope:
        await run.recorder.effect(key("paid"), (), paid, str)
    run = await resumed(journal, run)
    assert await calls.record(run, key("paid"), (), "other") == "paid"
    assert calls.made == 0
