"""`Reflexion`: defaults, what it refuses, and the synchronous door."""

from __future__ import annotations

from typing import ClassVar

import anyio
import pytest

from afterword import (
    ActContext,
    Allowance,
    EvaluateContext,
    Feedback,
    InputError,
    MaxTrials,
    Plateau,
    Price,
    ReflectContext,
    Reflection,
    Reflexion,
    SlidingWindow,
    StopReason,
    Strategy,
    Task,
    Tool,
    Trajectory,
)
from afterword.core.budget import request_bound
from afterword.errors import IrreversibleTool, NotResettable, RecordingMismatch
from tests.core.doubles import Heard, ListModel, StrictRecorder, ask
from tests.core.script import LESSONS, Script


def count(context: ActContext) -> str:
    return f"output {context.number}"


def same(context: ActContext) -> str:
    return "always this"


def wrong(context: EvaluateContext) -> bool:
    return False


def learn(context: ReflectContext) -> str:
    return LESSONS[context.trial.number - 1]


def test_three_plain_functions_make_an_agent() -> None:
    def act(context: ActContext) -> str:
        return "hot" if any("hotter" in lesson.text for lesson in context.lessons) else "cold"

    def evaluate(context: EvaluateContext) -> tuple[bool, str]:
        return context.trajectory.output == "hot", "too cold"

    def reflect(context: ReflectContext) -> str:
        return f"I was told: {context.trial.feedback.message}. Next time I will be hotter."

    outcome = Reflexion(act, evaluate, reflect).run_sync("Be hot.")
    assert (outcome.status, len(outcome.trials)) == ("unverified", 2)
    assert outcome.trials[1].lessons_shown == (1,)


def test_asynchronous_functions_do_as_well() -> None:
    async def act(context: ActContext) -> str:
        return context.task.instructions

    async def evaluate(context: EvaluateContext) -> Feedback:
        return Feedback(True, 1.0, "exact")

    outcome = anyio.run(Reflexion(act, evaluate, held_out=evaluate).run, Task("x", "echo"))
    assert (outcome.task_id, outcome.status) == ("x", "accepted")
    assert outcome.best is not None
    assert outcome.best.trajectory.output == "echo"


def test_a_held_out_function_can_reject() -> None:
    outcome = Reflexion(count, lambda context: True, held_out=wrong).run_sync("x")
    assert outcome.status == "rejected"


@pytest.mark.parametrize(
    ("reflector", "strategy", "chosen"),
    [
        (None, None, Strategy.RETRY),
        (learn, None, Strategy.REFLEXION),
        (learn, "last_attempt_and_reflexion", Strategy.LAST_ATTEMPT_AND_REFLEXION),
        (learn, Strategy.RETRY, Strategy.RETRY),
        (None, "last_attempt", Strategy.LAST_ATTEMPT),
    ],
)
def test_the_strategy_follows_from_the_parts_or_is_named(
    reflector: object, strategy: Strategy | str | None, chosen: Strategy
) -> None:
    made = learn if reflector is not None else None
    assert Reflexion(count, wrong, made, strategy=strategy).strategy is chosen


@pytest.mark.parametrize("strategy", ["reflexion", "last_attempt_and_reflexion"])
def test_a_strategy_that_reflects_needs_a_reflector(strategy: str) -> None:
    with pytest.raises(InputError, match="needs a reflector"):
        Reflexion(count, wrong, strategy=strategy)


def test_an_unknown_strategy_is_told_the_known_ones() -> None:
    with pytest.raises(InputError, match="'reflection'; choose one of retry, last_attempt, reflexion"):
        Reflexion(count, wrong, learn, strategy="reflection")


def test_four_trials_and_three_lessons_are_the_default() -> None:
    outcome = Reflexion(count, wrong, learn).run_sync("x")
    assert outcome.stop_reason is StopReason.MAX_TRIALS
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (1, 2), (1, 2, 3)]


def test_max_trials_and_memory_can_be_set() -> None:
    outcome = Reflexion(count, wrong, learn, max_trials=3, memory=SlidingWindow(1)).run_sync("x")
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (2,)]


@pytest.mark.parametrize("strategy", [Strategy.LAST_ATTEMPT, Strategy.REFLEXION, Strategy.LAST_ATTEMPT_AND_REFLEXION])
def test_a_repeated_output_stops_strategies_that_learn(strategy: Strategy) -> None:
    outcome = Reflexion(same, wrong, learn, strategy=strategy).run_sync("x")
    assert (len(outcome.trials), outcome.stop_reason) == (2, StopReason.REPEATED_OUTPUT)


def test_a_repeated_output_is_chance_where_trials_are_samples() -> None:
    outcome = Reflexion(same, wrong, strategy=Strategy.RETRY).run_sync("x")
    assert (len(outcome.trials), outcome.stop_reason) == (4, StopReason.MAX_TRIALS)


def test_an_output_may_stay_while_the_reflector_disputes_the_check() -> None:
    def dispute(context: ReflectContext) -> Reflection:
        number = context.trial.number
        return Reflection(LESSONS[number - 1], number, disputes="case:1")

    outcome = Reflexion(same, wrong, dispute).run_sync("x")
    assert outcome.stop_reason is StopReason.MAX_TRIALS


def test_a_repeated_lesson_stops() -> None:
    outcome = Reflexion(count, wrong, lambda context: "I will be more careful.").run_sync("x")
    assert (len(outcome.trials), outcome.stop_reason) == (2, StopReason.REPEATED_REFLECTION)


def test_stopping_on_repetition_can_be_switched_off() -> None:
    outcome = Reflexion(same, wrong, lambda context: "the same", stop_on_repetition=False).run_sync("x")
    assert outcome.stop_reason is StopReason.MAX_TRIALS


def test_a_plateau_is_off_by_default_and_on_when_asked_for() -> None:
    flat = Script(scores=[0.5] * 4)
    assert Reflexion(flat, flat, learn).run_sync("x").stop_reason is StopReason.MAX_TRIALS
    assert Reflexion(flat, flat, learn, stop=[Plateau()]).run_sync("x").stop_reason is StopReason.PLATEAU


def test_rules_of_the_user_come_after_the_built_in_ones() -> None:
    outcome = Reflexion(count, wrong, learn, stop=[MaxTrials(2)]).run_sync("x")
    assert len(outcome.trials) == 2


BOUND = request_bound(ask(), None).tokens
"""What a call below may need; it uses 6 tokens."""


@pytest.mark.parametrize(
    ("allowance", "reason", "trials"),
    [
        (Allowance(calls=2), StopReason.CALLS, 2),
        (Allowance(tokens=BOUND + 15), StopReason.TOKENS, 3),
        (Allowance(cost_usd=(BOUND + 6.5) / 1e6), StopReason.COST, 2),
        (Allowance(cost_usd=1e-9), StopReason.COST, 0),
    ],
)
def test_an_allowance_ends_the_loop_and_is_not_overrun(allowance: Allowance, reason: StopReason, trials: int) -> None:
    model = ListModel(["a b c d e"] * 9, price=Price(1.0, 1.0))

    async def act(context: ActContext) -> str:
        return f"{(await context.effects.complete('actor', model, ask())).text} {context.number}"

    outcome = Reflexion(act, wrong, allowance=allowance, max_trials=9).run_sync("x")
    assert (outcome.status, outcome.stop_reason, len(outcome.trials)) == ("gave_up", reason, trials)
    assert len(model.requests) == outcome.total_usage.calls == trials


class Clicker:
    tools: ClassVar[list[Tool]] = [Tool("click")]

    async def act(self, context: ActContext) -> Trajectory:
        return Trajectory("clicked")


class Mailer(Clicker):
    tools: ClassVar[list[Tool]] = [Tool("send mail", irreversible=True)]
    stateless = True


def test_an_actor_that_cannot_be_tried_again_is_refused_before_anything_runs() -> None:
    with pytest.raises(NotResettable):
        Reflexion(Clicker(), wrong)
    with pytest.raises(IrreversibleTool):
        Reflexion(Mailer(), wrong)


def test_an_object_that_is_called_like_a_function_is_held_to_the_same() -> None:
    class CalledMailer:
        tools = (Tool("send mail", irreversible=True),)

        def __call__(self, context: ActContext) -> str:
            return "sent"

    with pytest.raises(IrreversibleTool):
        Reflexion(CalledMailer(), wrong)


def test_an_empty_memory_of_the_user_is_not_replaced() -> None:
    class Sized(SlidingWindow):
        def __len__(self) -> int:
            return len(self.lessons)

    outcome = Reflexion(count, wrong, learn, memory=Sized(1)).run_sync("x")
    assert outcome.trials[3].lessons_shown == (3,)


def test_a_sink_that_is_an_empty_list_hears_everything() -> None:
    heard = Heard()
    Reflexion(count, lambda context: True).run_sync("x", events=heard)
    assert heard.names() == ["RunStarted", "TrialStarted", "Evaluated", "Stopped", "RunEnded"]


def test_one_agent_runs_many_tasks_at_once_and_mixes_nothing() -> None:
    async def act(context: ActContext) -> str:
        await anyio.lowlevel.checkpoint()
        return f"{context.task.id} {context.number} {[lesson.text for lesson in context.lessons]}"

    async def reflect(context: ReflectContext) -> str:
        await anyio.lowlevel.checkpoint()
        return f"{context.task.id}: {LESSONS[context.trial.number - 1]}"

    async def main() -> None:
        agent = Reflexion(act, wrong, reflect)
        outputs: dict[str, list[str]] = {}

        async def one(task: Task) -> None:
            outcome = await agent.run(task)
            outputs[task.id] = [trial.trajectory.output for trial in outcome.trials]

        tasks = [Task(f"task-{number}", "x") for number in range(8)]
        async with anyio.create_task_group() as group:
            for task in tasks:
                group.start_soon(one, task)
        for task in tasks:
            assert len(outputs[task.id]) == 4
            others = [other.id for other in tasks if other is not task]
            assert not any(other in output for output in outputs[task.id] for other in others)

    anyio.run(main)


def test_a_function_that_asks_models_is_replayed_with_its_usage() -> None:
    model = ListModel(["one two"] * 9)

    async def act(context: ActContext) -> str:
        return f"{(await context.effects.complete('actor', model, ask())).text} {context.number}"

    recorder = StrictRecorder()
    agent = Reflexion(act, wrong, learn, allowance=Allowance(calls=9, seconds=60.0))
    whole = agent.run_sync("x", recorder=recorder)
    asked = len(model.requests)
    again = agent.run_sync("x", recorder=recorder.after_restart())
    assert again == whole
    assert len(model.requests) == asked == 4
    assert again.usage["actor"].calls == 4


def test_arm_and_seed_stand_in_every_key() -> None:
    recorder = StrictRecorder()
    Reflexion(count, wrong, learn).run_sync("x", seed=7, recorder=recorder)
    assert {(key.arm, key.seed) for key in recorder.called} == {("reflexion", 7)}
    recorder = StrictRecorder()
    Reflexion(count, wrong, learn).run_sync("x", arm="ablation", recorder=recorder)
    assert {key.arm for key in recorder.called} == {"ablation"}


def test_another_program_on_the_same_record_is_refused() -> None:
    recorder = StrictRecorder()
    Reflexion(count, wrong, learn).run_sync("x", recorder=recorder)
    with pytest.raises(RecordingMismatch):
        Reflexion(count, wrong, learn).run_sync("another task", recorder=recorder)


def test_run_sync_inside_an_event_loop_says_what_to_do() -> None:
    async def main() -> None:
        with pytest.raises(InputError, match="await"):
            Reflexion(count, wrong).run_sync("x")

    anyio.run(main)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_trials": "3"}, "max_trials is an int"),
        ({"allowance": {"calls": 1}}, "allowance is an Allowance"),
        ({"memory": 3}, "memory is a Memory"),
        ({"stop": lambda progress: None}, "stop is a list of rules"),
        ({"stop": [lambda progress: None]}, "stop is a list of rules"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_name(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Reflexion(lambda context: "x", lambda context: True, **wrong)  # type: ignore[arg-type]  # as an untyped user would


def test_a_task_of_another_type_is_refused() -> None:
    with pytest.raises(InputError, match="a Task or its instructions"):
        Reflexion(lambda context: "x", lambda context: True).run_sync(None)  # type: ignore[arg-type]  # as above
