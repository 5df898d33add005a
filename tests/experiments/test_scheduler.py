"""Many tasks at once: order, back-pressure, faults of one job, cancellation, and a shared budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import anyio
import pytest

from afterword import ActContext, Allowance, ChatRequest, EvaluateContext, Message, Outcome, Reflexion, Reply, Task
from afterword.core.events import NoEvents
from afterword.core.messages import FREE, Price
from afterword.core.protocols import EventSink, Model
from afterword.core.records import FaultRecord, StopReason, Usage
from afterword.errors import (
    BudgetExhausted,
    InputError,
    JournalFault,
    RecordingMismatch,
    ReplayDiverged,
    ServerFault,
    UnknownPrice,
)
from afterword.experiments.limits import RunBudget, RunModel
from afterword.experiments.scheduler import Job, Unrecorded, run_jobs

pytestmark = pytest.mark.anyio

CALL = Usage(calls=1, tokens_in=10, tokens_out=5, cost_usd=0.0)


class SlowModel:
    """Answers after some turns of the event loop, and counts who is being served."""

    name = "scripted:slow"
    price: Price | None = FREE

    def __init__(self, usage: Usage = CALL) -> None:
        self.usage = usage
        self.asked: list[str] = []
        self.under_way = 0
        self.most = 0

    async def complete(self, request: ChatRequest) -> Reply:
        self.asked.append(request.messages[0].content)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for _ in range(50):  # longer than a job takes between two calls
            await anyio.lowlevel.checkpoint()
        self.under_way -= 1
        return Reply("answer", "stop", self.usage, self.name)


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.begun_jobs: list[str] = []
        self.again: list[str] = []
        self.outcomes: dict[str, Outcome] = {}
        self.earlier: list[str] = []
        self.left_jobs: list[str] = []

    def begun(self, job: Job) -> EventSink:
        self.begun_jobs.append(job.task.id)
        return NoEvents()

    def begun_again(self, job: Job, fault: FaultRecord) -> None:
        self.again.append(f"{job.task.id}:{fault.trial}")

    def ended(self, job: Job, outcome: Outcome, *, earlier: bool) -> None:
        self.outcomes[job.task.id] = outcome
        if earlier:
            self.earlier.append(job.task.id)

    def left(self, job: Job, reason: StopReason) -> None:
        self.left_jobs.append(f"{job.task.id}:{reason}")

    @property
    def statuses(self) -> dict[str, str]:
        return {task: outcome.status for task, outcome in self.outcomes.items()}


def job(name: str, model: Model, *, trials: int = 3, opened: Callable[[], None] = lambda: None) -> Job:
    """A job that asks a model in each of its trials and never passes."""

    async def act(context: ActContext) -> str:
        request = ChatRequest((Message("user", f"{context.task.id}/{context.number}"),), max_tokens=5)
        reply = await context.effects.complete("actor", model, request)
        return f"{reply.text} {context.number}"

    async def judge(context: EvaluateContext) -> bool:  # one that is not asynchronous would run in a thread
        return False

    @asynccontextmanager
    async def loop() -> AsyncIterator[Reflexion]:
        opened()
        yield Reflexion(act, judge, max_trials=trials)

    return Job(Task(name, "do it"), loop, "retry")


async def test_every_job_comes_to_its_outcome_and_they_begin_in_order() -> None:
    heard, model = Heard(), SlowModel()
    await run_jobs((job(f"t{number}", model) for number in range(9)), at_once=4, record=Unrecorded(), listener=heard)
    assert heard.left_jobs == []
    assert heard.begun_jobs == [f"t{number}" for number in range(9)]
    assert set(heard.statuses.values()) == {"gave_up"}
    assert len(model.asked) == 27


async def test_a_job_is_made_only_when_there_is_room_for_it() -> None:
    made = most_ahead = 0
    heard, model = Heard(), SlowModel()

    def jobs() -> Iterator[Job]:
        nonlocal made, most_ahead
        for number in range(50):
            made += 1
            most_ahead = max(most_ahead, made - len(heard.outcomes))
            yield job(f"t{number}", model, trials=1)

    await run_jobs(jobs(), at_once=3, record=Unrecorded(), listener=heard)
    assert len(heard.outcomes) == 50
    assert most_ahead <= 4


async def test_jobs_at_work_take_turns_at_a_model() -> None:
    slots = anyio.CapacityLimiter(1)
    model = SlowModel()
    budget = RunBudget(Allowance())
    jobs = [job(f"t{number}", RunModel(model, budget, slots), trials=4) for number in range(3)]
    await run_jobs(jobs, at_once=3, record=Unrecorded(), listener=Heard())
    assert model.most == 1
    for turn in range(4):
        asked = model.asked[3 * turn : 3 * turn + 3]
        assert sorted(asked) == [f"t{number}/{turn + 1}" for number in range(3)]


async def test_model_calls_have_a_limit_of_their_own() -> None:
    slots, model, budget = anyio.CapacityLimiter(2), SlowModel(), RunBudget(Allowance())
    jobs = (job(f"t{number}", RunModel(model, budget, slots)) for number in range(10))
    await run_jobs(jobs, at_once=8, record=Unrecorded(), listener=Heard())
    assert model.most == 2


class Finished(Unrecorded):
    """Keeps what came of each job."""

    def __init__(self) -> None:
        super().__init__()
        self.statuses: dict[str, str] = {}

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        self.statuses[outcome.task_id] = outcome.status


async def test_what_is_wrong_with_the_record_is_no_outcome_of_the_job() -> None:
    def fail() -> None:
        raise RecordingMismatch("the request differs from the recorded one")

    heard, record = Heard(), Finished()
    await run_jobs([job("a", SlowModel(), opened=fail)], at_once=1, record=record, listener=heard)
    assert (heard.statuses, record.statuses) == ({"a": "faulted"}, {})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InputError("its tests are broken"), "InputError"),
        (ServerFault("down", model="m"), "ServerFault"),
        (ZeroDivisionError("a bug"), "ComponentFault"),
        (ExceptionGroup("of a task group", [InputError("inside")]), "InputError"),
    ],
)
async def test_one_failing_job_stops_no_other(error: Exception, kind: str) -> None:
    def fail() -> None:
        raise error

    heard, model, record = Heard(), SlowModel(), Finished()
    jobs = [job("a", model), job("bad", model, opened=fail), job("c", model)]
    await run_jobs(jobs, at_once=2, record=record, listener=heard)
    assert heard.statuses == record.statuses == {"a": "gave_up", "bad": "faulted", "c": "gave_up"}
    fault = heard.outcomes["bad"].fault
    assert fault is not None
    assert fault.kind == kind


async def test_the_caller_may_end_all_on_the_first_job_without_an_outcome() -> None:
    def fail() -> None:
        raise InputError("its tests are broken")

    def refuse(job: Job, error: Exception) -> Outcome:
        raise error

    with pytest.raises(ExceptionGroup) as raised:
        await run_jobs(
            [job("bad", SlowModel(), opened=fail)],
            at_once=1,
            record=Unrecorded(),
            listener=Heard(),
            failed=refuse,
        )
    assert raised.group_contains(InputError, match="its tests are broken")


class FullDisk(Unrecorded):
    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        raise JournalFault("the disk is full")


async def test_a_record_that_cannot_be_written_stops_all() -> None:
    heard, model = Heard(), SlowModel()
    jobs = (job(f"t{number}", model) for number in range(20))
    with pytest.raises(ExceptionGroup) as raised:
        await run_jobs(jobs, at_once=2, record=FullDisk(), listener=heard)
    assert raised.group_contains(JournalFault)
    assert heard.outcomes == {}
    assert len(heard.begun_jobs) <= 2


async def test_cancelled_jobs_close_what_they_opened() -> None:
    open_now: set[str] = set()

    def held(name: str) -> Job:
        @asynccontextmanager
        async def loop() -> AsyncIterator[Reflexion]:
            open_now.add(name)
            try:
                yield Reflexion(hang, lambda context: True)
            finally:
                open_now.discard(name)

        return Job(Task(name, "wait"), loop, "retry")

    async def hang(context: ActContext) -> str:
        await anyio.sleep_forever()
        return ""

    heard = Heard()
    with anyio.move_on_after(0.05) as scope:
        await run_jobs((held(f"t{number}") for number in range(5)), at_once=3, record=Unrecorded(), listener=heard)
    assert scope.cancelled_caught
    assert heard.begun_jobs == ["t0", "t1", "t2"]
    assert (heard.outcomes, open_now) == ({}, set())


class Remembering(Unrecorded):
    """Keeps outcomes, as a journal does."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Outcome] = {}
        self.forgotten: list[tuple[str, int]] = []

    async def outcome(self, task: str, *, arm: str, seed: int = 0) -> Outcome | None:
        return self.kept.get(task)

    async def finish(self, outcome: Outcome, *, arm: str, seed: int = 0) -> None:
        self.kept[outcome.task_id] = outcome

    async def forget(self, task: str, *, arm: str, seed: int = 0, trial: int, why: str) -> None:
        self.forgotten.append((task, trial))


async def test_what_came_to_an_outcome_before_is_told_and_not_done_again() -> None:
    record, model = Remembering(), SlowModel()
    await run_jobs([job("a", model)], at_once=1, record=record, listener=Heard())
    heard = Heard()
    await run_jobs([job("a", model), job("b", model)], at_once=1, record=record, listener=heard)
    assert (heard.earlier, heard.begun_jobs) == (["a"], ["b"])
    assert [asked for asked in model.asked if asked.startswith("a/")] == ["a/1", "a/2", "a/3"]


async def test_a_faulted_job_is_tried_again_when_the_run_is_resumed() -> None:
    class Broken(SlowModel):
        async def complete(self, request: ChatRequest) -> Reply:
            raise ServerFault("down", model="m")

    record, model = Remembering(), SlowModel()
    await run_jobs([job("a", Broken())], at_once=1, record=record, listener=Heard())
    assert record.kept["a"].status == "faulted"
    heard = Heard()
    await run_jobs([job("a", model)], at_once=1, record=record, listener=heard)
    assert (heard.earlier, heard.statuses) == ([], {"a": "gave_up"})


def diverging(name: str, times: int) -> Job:
    left = times

    async def act(context: ActContext) -> str:
        nonlocal left
        if context.number == 2 and left:
            left -= 1
            raise ReplayDiverged(name, 2, "look", "a lamp", "a desk")
        return str(context.number)

    @asynccontextmanager
    async def loop() -> AsyncIterator[Reflexion]:
        yield Reflexion(act, lambda context: False, max_trials=2)

    return Job(Task(name, "play"), loop, "retry")


async def test_a_world_that_answers_otherwise_has_its_trial_taken_anew() -> None:
    record, heard = Remembering(), Heard()
    await run_jobs([diverging("a", 1)], at_once=1, record=record, listener=heard)
    assert (record.forgotten, heard.again, heard.statuses) == ([("a", 2)], ["a:2"], {"a": "gave_up"})


async def test_a_world_that_always_answers_otherwise_is_given_up_as_a_fault() -> None:
    record, heard = Remembering(), Heard()
    await run_jobs([diverging("a", 99)], at_once=1, record=record, listener=heard)
    assert heard.statuses == {"a": "faulted"}
    assert len(record.forgotten) == 2


async def test_nothing_is_begun_once_the_budget_of_the_run_is_used_up() -> None:
    model = SlowModel()
    budget = RunBudget(Allowance(calls=7))
    heard = Heard()
    await run_jobs(
        (job(f"t{number}", RunModel(model, budget)) for number in range(10)),
        at_once=2,
        record=Unrecorded(),
        listener=heard,
        stopped=lambda: budget.exhausted,
    )
    assert len(model.asked) == 7
    assert budget.exhausted == StopReason.CALLS
    assert len(heard.outcomes) + len(heard.left_jobs) == 10
    assert len(heard.left_jobs) >= 6
    assert heard.left_jobs[-1] == "t9:calls"
    stopped = [outcome for outcome in heard.outcomes.values() if outcome.stop_reason == StopReason.CALLS]
    assert [outcome.status for outcome in stopped] == ["gave_up"] * len(stopped)
    assert 1 <= len(stopped) <= 2


async def test_an_outcome_that_is_not_final_is_told_and_not_kept() -> None:
    record, heard = Remembering(), Heard()
    await run_jobs(
        [job("a", SlowModel())], at_once=1, record=record, listener=heard, is_final=lambda _job, _outcome: False
    )
    assert (record.kept, heard.statuses) == ({}, {"a": "gave_up"})


async def test_a_call_waits_for_others_that_may_use_less_than_they_reserved() -> None:
    budget = RunBudget(Allowance(tokens=100))
    bound, used = Usage(calls=1, tokens_in=60, cost_usd=0.0), Usage(calls=1, tokens_in=20, cost_usd=0.0)
    done = []

    async def call(name: str) -> None:
        async with budget.call(bound, "m"):
            await anyio.lowlevel.checkpoint()
            budget.charge(used)
            done.append(name)

    async with anyio.create_task_group() as group:
        for name in "abc":
            group.start_soon(call, name)
    assert done == ["a", "b", "c"]
    with pytest.raises(BudgetExhausted):
        await call("d")
    assert budget.spent.tokens == 60
    assert budget.exhausted == StopReason.TOKENS


async def test_what_earlier_sessions_spent_counts() -> None:
    budget = RunBudget(Allowance(calls=3), spent=Usage(calls=3))
    with pytest.raises(BudgetExhausted):
        await RunModel(SlowModel(), budget).complete(ChatRequest((Message("user", "hi"),), max_tokens=5))


async def test_a_cost_limit_of_the_run_needs_a_price() -> None:
    model = SlowModel()
    model.price = None
    with pytest.raises(UnknownPrice):
        await RunModel(model, RunBudget(Allowance(cost_usd=1.0))).complete(
            ChatRequest((Message("user", "hi"),), max_tokens=5)
        )


async def test_time_of_the_run_ends_it_before_the_next_call() -> None:
    now = 0.0
    budget = RunBudget(Allowance(seconds=10.0), clock=lambda: now)
    model = RunModel(SlowModel(), budget)
    request = ChatRequest((Message("user", "hi"),), max_tokens=5)
    await model.complete(request)
    now = 10.0
    assert budget.exhausted == StopReason.TIME
    with pytest.raises(BudgetExhausted):
        await model.complete(request)
    assert model.refused
    assert budget.exhausted == StopReason.TIME


async def test_a_failed_call_gives_its_reservation_back() -> None:
    budget = RunBudget(Allowance(calls=1))

    class Broken(SlowModel):
        async def complete(self, request: ChatRequest) -> Reply:
            raise ServerFault("down", model="m")

    request = ChatRequest((Message("user", "hi"),), max_tokens=5)
    with pytest.raises(ServerFault):
        await RunModel(Broken(), budget).complete(request)
    assert (await RunModel(SlowModel(), budget).complete(request)).text == "answer"


async def test_jobs_at_a_time_must_be_at_least_one() -> None:
    with pytest.raises(InputError, match="at least 1"):
        await run_jobs([], at_once=0, record=Unrecorded(), listener=Heard())
