"""The actor of the decision family: ReAct over any environment, one thought or action at a time.

It is the paper's agent for games: two worked examples, then the trial as it goes, then the lessons. Its reset puts the
world back and tells the loop by which state to recognise a fresh one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from afterword.core.bounds import cut, quote_untrusted
from afterword.core.effects import Effects, fingerprint
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import ActContext, Environment, EnvironmentStep, Model
from afterword.core.records import End, Step, Task, Trajectory, Trial
from afterword.evaluators.environment import StuckHeuristic, Watch
from afterword.families.decision.moves import Move, read_moves
from afterword.families.decision.play import NOTED, Demonstration, as_text, turns
from afterword.templates import render

_PACKAGE = "afterword.families.decision"
MAX_STEPS = 49
"""The paper's logs allow so many; a thought uses one as an action does."""
NOTHING = "(nothing)"
"""Stands for the action of a reply that held none."""
NO_MOVE = "Your reply held no action. Write one line: an action, or think: and a thought."


@dataclass(frozen=True, slots=True)
class PlayBounds:
    """How much of each part enters a prompt, in characters; what is cut leaves a visible mark."""

    observation: int = 2_000
    """Of one answer of the world."""
    history: int = 8_000
    """Of the trial so far."""
    previous: int = 4_000
    """Of the trial before, where the strategy shows it."""
    lesson: int = 1_200
    """Of each lesson; the memory bounds their number."""


@dataclass(slots=True)
class EnvironmentActor:
    """Plays one environment, asking a model for each move.

    The trajectory has no output: what was reached in the world is in `won` and `reward`. Its first step has only what
    there was to see at first. It ends as `finished` when the
    episode is over, as `stuck` when `watch` says so, and as `step_limit` after `max_steps`.
    """

    model: Model
    environment: Environment
    help: str = ""
    """The forms of an action, as this world has them."""
    examples: tuple[Demonstration, ...] = ()
    max_steps: int = MAX_STEPS
    watch: Watch | None = field(default_factory=StuckHeuristic)
    """None: only the end of the episode and the step limit end a trial."""
    temperature: float | None = 0.0
    """As in the paper's logs; None leaves it out, for models that refuse it."""
    max_tokens: int = 100
    bounds: PlayBounds = PlayBounds()
    _started: _Started | None = None

    async def reset(self) -> str:
        """Puts the world back; returns the fingerprint of its first observation and of its state."""
        observation = await self.environment.reset()
        self._started = _Started(self.environment, observation)
        return fingerprint(observation, await self.environment.fingerprint())

    async def act(self, context: ActContext) -> Trajectory:
        """Plays one trial, from the state that `reset` left.

        Raises:
            Fault: the model or the world gave no answer.
            ReplayDiverged: the world answered a recorded action otherwise than before.
        """
        started, self._started = self._started, None
        effects = context.effects
        first = await effects.reset(started or self.environment)
        steps = [Step(observation=cut(first, self.bounds.observation))]
        limit = self.max_steps + 1  # with what there was to see at first
        reward = 0.0
        while len(steps) < limit:
            for move in await self._moves(context, steps):
                if len(steps) == limit:
                    break
                if move.kind == "thought":
                    steps.append(Step(thought=move.text, observation=NOTED))
                    continue
                answer = await self._answer(effects, move)
                steps.append(Step(action=move.text, observation=cut(answer.observation, self.bounds.observation)))
                reward = answer.reward
                if answer.won or answer.done:
                    return _trajectory(steps, "finished", won=answer.won, reward=reward)
                if why := await self._stuck(context.task, steps, effects):
                    return _trajectory(steps, "stuck", reward=reward, detail=why)
        return _trajectory(steps, "step_limit", reward=reward)

    def request(self, context: ActContext, steps: Sequence[Step]) -> ChatRequest:
        """The request for the move after these steps: what stays the same first, the lessons last."""
        messages = [Message("system", render(_PACKAGE, "actor_system.jinja", {"help": self.help}))]
        for number, example in enumerate(self.examples, start=1):
            start = self._opening("example", example.goal, example.start, number, None)
            messages += turns(start, example.steps, self.bounds.history)[:-1]
        start = self._opening("task", context.task.instructions, steps[0].observation, 0, context.previous)
        *earlier, last = turns(start, steps[1:], self.bounds.history)
        lessons = [
            {"trial": lesson.trial, "text": " ".join(cut(lesson.text, self.bounds.lesson).split())}
            for lesson in context.lessons
        ]
        ending = render(_PACKAGE, "actor_lessons.jinja", {"lessons": lessons})
        messages += [*earlier, Message("user", f"{last.content}\n\n{ending}" if ending else last.content)]
        # A sampling arm would get the same answer again from a provider that honours seeds.
        seed = context.effects.random(f"actor:{len(steps)}").getrandbits(31) if self.temperature else None
        return ChatRequest(tuple(messages), self.max_tokens, self.temperature, seed=seed)

    def _opening(self, kind: str, goal: str, first: str, number: int, previous: Trial | None) -> str:
        values = {
            "kind": kind,
            "number": number,
            "goal": goal.strip(),
            "start": quote_untrusted(first),
            "previous": None if previous is None else self._previous(previous),
        }
        return render(_PACKAGE, "actor_opening.jinja", values)

    def _previous(self, trial: Trial) -> dict[str, object]:
        return {
            "number": trial.number,
            "play": as_text(trial.trajectory.steps[1:], self.bounds.previous) or "Nothing was done.",
            "report": quote_untrusted(cut(trial.feedback.message or trial.feedback.reason, 600)),
        }

    async def _moves(self, context: ActContext, steps: Sequence[Step]) -> tuple[Move, ...]:
        reply = await context.effects.complete("actor", self.model, self.request(context, steps))
        return read_moves(reply.text) or (Move("action", NOTHING),)

    async def _answer(self, effects: Effects, move: Move) -> EnvironmentStep:
        if move.text == NOTHING:  # a reply without a move uses a step, and the world is not asked
            return EnvironmentStep(NO_MOVE)
        return await effects.step(self.environment, move.text)

    async def _stuck(self, task: Task, steps: list[Step], effects: Effects) -> str:
        return "" if self.watch is None else await self.watch.stuck(task, steps, effects)


def _trajectory(steps: list[Step], end: End, *, won: bool = False, reward: float = 0.0, detail: str = "") -> Trajectory:
    return Trajectory("", tuple(steps), end, detail, won=won, reward=reward)


@dataclass(frozen=True, slots=True)
class _Started:
    """A world that the loop has reset already: its first reset gives what that one gave, for the record."""

    world: Environment
    observation: str

    async def reset(self) -> str:
        return self.observation

    async def step(self, action: str) -> EnvironmentStep:
        return await self.world.step(action)

    async def fingerprint(self) -> str:
        return await self.world.fingerprint()

    async def close(self) -> None:
        await self.world.close()
