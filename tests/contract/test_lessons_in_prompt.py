"""What every actor must do with lessons: all that the trial's record says were shown stand last in its prompts, in
full, and no other lesson does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import pytest

from afterword import (
    FREE,
    ActContext,
    Actor,
    ChatRequest,
    Feedback,
    Memory,
    Outcome,
    Price,
    ReflectContext,
    Reflexion,
    Reply,
    SlidingWindow,
    Strategy,
    Task,
    Trajectory,
    Trial,
    Usage,
)
from afterword.core.protocols import EnvironmentStep, EvaluateContext, Model
from afterword.families.decision import EnvironmentActor
from afterword.families.programming.actor import ProgramActor
from afterword.families.qa import ChainOfThought, ClosedArticles, Paragraph, ReActActor
from afterword.memories import ClusteredMemory, SimilarityMemory, SummarisingMemory
from tests.core.doubles import ListModel

LESSONS = (
    "I split at the colon although there is none; I will look for the colon first.",
    "I returned early for `None` alone; I will return early for an empty list as well.",
    "I kept the order of the keys; I will sort the pairs by descending count.",
    "I read the file as text; I will open it in binary mode and decode each line.",
)
DIGEST = "I will look for the colon, and return early for an empty list."


@dataclass
class AnsweringModel:
    """Answers every request alike, and keeps it with the trial it was made in."""

    reply: str
    name: str = "test:same"
    price: Price | None = FREE
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        return Reply(self.reply, "stop", Usage(1, 1, 1), self.name)


class Room:
    """A world in which nothing is ever reached."""

    async def reset(self) -> str:
        return "You are in a room."

    async def step(self, action: str) -> EnvironmentStep:
        return EnvironmentStep(f"You {action}; nothing happens.")

    async def fingerprint(self) -> str:
        return "room"

    async def close(self) -> None:
        pass


ACTORS: dict[str, tuple[Callable[[Model], Actor], str]] = {
    "program": (ProgramActor, "```python\ndef half(n):\n    return n\n```"),
    "chain of thought": (ChainOfThought, "Thought: I guess.\nAnswer: Paris"),
    "ReAct": (
        lambda model: ReActActor(model, ClosedArticles([Paragraph("Ada", ("Ada was born in 1815.",))]), max_steps=2),
        "Thought: I search.\nAction: Search[Ada]",
    ),
    "game": (lambda model: EnvironmentActor(model, Room(), max_steps=3), "> look"),
}
MEMORIES: dict[str, Callable[[], Memory]] = {
    "window": lambda: SlidingWindow(2),
    "summary": lambda: SummarisingMemory(ListModel([DIGEST] * 9), 2),
    "clusters": lambda: ClusteredMemory(2),
    "similar": lambda: SimilarityMemory(3),
}
TASK = Task("t", "Do what is asked.", {"entry_point": "half", "language": "python"})


@dataclass
class Watched:
    """An actor, with what its model was asked in each trial."""

    actor: Actor
    model: AnsweringModel
    prompts: dict[int, list[str]] = field(default_factory=dict)
    stateless = True

    async def reset(self) -> str:
        reset = getattr(self.actor, "reset", None)
        return "" if reset is None else str(await reset())

    async def act(self, context: ActContext) -> Trajectory:
        before = len(self.model.requests)
        trajectory = await self.actor.act(context)
        self.prompts[context.number] = [request.messages[-1].content for request in self.model.requests[before:]]
        return trajectory


class Failing:
    """Fails every trial."""

    check_ids: tuple[str, ...] = ()

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        return Feedback(False, 0.0, "exact", "failed", "It is wrong.")


def reflect(context: ReflectContext) -> str:
    return LESSONS[context.trial.number - 1]


def run(make: Callable[[Model], Actor], reply: str, memory: Memory, strategy: Strategy) -> tuple[Watched, Outcome]:
    model = AnsweringModel(reply)
    watched = Watched(make(model), model)
    agent = Reflexion(
        watched, Failing(), reflect, strategy=strategy, memory=memory, max_trials=5, stop_on_repetition=False
    )
    return watched, anyio.run(agent.run, TASK)


def shown_texts(trial: Trial) -> list[str]:
    digests = {digest.trial: digest.text for digest in trial.digests}
    return [digests.get(number, LESSONS[number - 1]) for number in trial.lessons_shown]


@pytest.mark.parametrize("strategy", [Strategy.REFLEXION, Strategy.LAST_ATTEMPT_AND_REFLEXION])
@pytest.mark.parametrize("memory", MEMORIES.values(), ids=MEMORIES)
@pytest.mark.parametrize(("make", "reply"), ACTORS.values(), ids=ACTORS)
def test_the_lessons_of_the_record_stand_last_in_every_prompt(
    make: Callable[[Model], Actor], reply: str, memory: Callable[[], Memory], strategy: Strategy
) -> None:
    watched, outcome = run(make, reply, memory(), strategy)
    assert len(outcome.trials) == 5, outcome.fault
    assert len(outcome.trials[4].lessons_shown) >= 2
    for trial in outcome.trials:
        shown = shown_texts(trial)
        assert watched.prompts[trial.number]
        for prompt in watched.prompts[trial.number]:
            assert [text for text in (*LESSONS, DIGEST) if text in prompt] == sorted(
                shown, key=(*LESSONS, DIGEST).index
            )
            if shown:
                places = [prompt.index(text) for text in shown]
                assert places == sorted(places)
                assert len(prompt.rpartition(shown[-1])[2].strip()) < 20  # room for "Your next line:"


@pytest.mark.parametrize("strategy", [Strategy.RETRY, Strategy.LAST_ATTEMPT])
@pytest.mark.parametrize(("make", "reply"), ACTORS.values(), ids=ACTORS)
def test_without_lessons_none_is_in_the_record_or_the_prompt(
    make: Callable[[Model], Actor], reply: str, strategy: Strategy
) -> None:
    watched, outcome = run(make, reply, SlidingWindow(), strategy)
    assert [trial.lessons_shown for trial in outcome.trials] == [()] * 5
    prompts = [prompt for asked in watched.prompts.values() for prompt in asked]
    assert [prompt for prompt in prompts if "esson" in prompt] == []
