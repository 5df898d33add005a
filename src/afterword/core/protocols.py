"""The seams of the loop: what an actor, an evaluator, a reflector and the rest must do.

Each protocol says in prose what its result means, what it must not change, how it stays deterministic,
and which failures it returns and which it raises. A plain function can stand for the first three
(`afterword.core.functions`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, runtime_checkable

from afterword.core.messages import ChatRequest, Price, Reply
from afterword.core.records import (
    Feedback,
    Limits,
    Reflection,
    RunResult,
    StopReason,
    Task,
    Trajectory,
    Trial,
    Usage,
)

if TYPE_CHECKING:
    from afterword.core.effects import Effects
    from afterword.core.events import Event

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ActContext:
    """All that an actor gets to see in one trial."""

    task: Task
    number: int
    """The trial, from 1."""
    lessons: tuple[Reflection, ...]
    """The active lessons, oldest first; they stand last in the prompt. Empty where the strategy carries none."""
    previous: Trial | None
    """The trial before this one, where the strategy shows it; else None."""
    effects: Effects
    """The way to a model, a random source or anything else that is not a function of this context."""


@dataclass(frozen=True, slots=True)
class EvaluateContext:
    """What an evaluator judges."""

    task: Task
    number: int
    trajectory: Trajectory
    effects: Effects
    role: str = "evaluator"
    """The role under which effects are recorded: `held_out` after the loop."""


@dataclass(frozen=True, slots=True)
class ReflectContext:
    """What a reflector draws its lesson from."""

    task: Task
    trial: Trial
    """The failed trial, with its trajectory and feedback."""
    lessons: tuple[Reflection, ...]
    """The lessons that were active in this trial, oldest first."""
    effects: Effects


@dataclass(frozen=True, slots=True)
class Tool:
    """Something an actor can use on the world."""

    name: str
    irreversible: bool = False
    """Its effect outlives a reset (mail sent, money spent); the loop refuses such a tool."""


class Actor(Protocol):
    """Attempts the task once.

    The trajectory's `output` is what the evaluator judges; an attempt that produced nothing to judge ends
    as `no_output` with a `detail` that tells the next trial why.
    It changes nothing outside itself but the world that its `reset` puts back.
    All that is not a function of the context (model calls, clock, randomness) goes through `context.effects`,
    so that a resumed run repeats it.
    A poor attempt is returned; a `Fault` is raised when something other than the agent failed.

    An actor that acts on a world also has `tools` or `environment`, and then either `async reset() -> str`
    (returns a fingerprint of the fresh state, equal before every trial) or `stateless = True`.
    """

    async def act(self, context: ActContext) -> Trajectory: ...


@runtime_checkable
class Resettable(Protocol):
    """An actor whose world can be put back."""

    async def reset(self) -> str:
        """Puts the world back and returns a fingerprint of its fresh state."""
        ...


class Evaluator(Protocol):
    """Judges one trajectory.

    `score` is in [0, 1] and 1.0 when passed; `passed` needs positive evidence for every check.
    It must not change the trajectory, nor anything that the next trial can see.
    The same trajectory gets the same verdict; a model judge calls its model through `context.effects`.
    A wrong answer is returned as feedback; a `Fault` is raised when no verdict could be reached. It is not
    called for a trajectory that ended as `no_output`.
    """

    @property
    def check_ids(self) -> tuple[str, ...]:
        """The checks that are known before anything runs; empty when none are."""
        ...

    async def evaluate(self, context: EvaluateContext) -> Feedback: ...


@runtime_checkable
class Preparable(Protocol):
    """An evaluator that has something to do once before the first trial, e.g. to have its checks written.

    `prepare` returns the evaluator that judges all trials of this task.
    It changes nothing, itself included: one evaluator may be prepared for many tasks at a time.
    All that is not a function of the task goes through `effects`, where it stands under trial 0.
    It raises a `Fault` when there is nothing to judge by.
    """

    async def prepare(self, task: Task, effects: Effects) -> Evaluator: ...


class Reflector(Protocol):
    """Turns a failed trial into a short verbal lesson.

    The text speaks in the first person to the next trial; None means that there is nothing to learn.
    It changes nothing.
    It calls its model through `context.effects`.
    A poor lesson is returned with its `problems`; a `Fault` is raised when the model could not be reached.
    """

    async def reflect(self, context: ReflectContext) -> Reflection | None: ...


class Memory(Protocol):
    """The bounded store of active lessons. It is a value: remembering makes a new one.

    `lessons` are the active ones, oldest first, and never more than its bound.
    `remember` must not change the memory it is called on.
    The same lessons in the same order give the same memory; one that condenses calls its model through `effects`.
    It raises only `Fault`.
    """

    @property
    def lessons(self) -> tuple[Reflection, ...]: ...

    async def remember(self, reflection: Reflection, effects: Effects) -> Memory: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """What a stop rule looks at, after a verdict and again after a reflection."""

    trials: tuple[Trial, ...]
    """All trials so far; the last one is the current one and has its reflection if there is one yet."""
    usage: Usage
    elapsed_s: float
    """0.0 where all rules are the library's own and none of them looks at it: the clock is not read then."""


class StopRule(Protocol):
    """Says whether the loop ends here.

    Returns the reason to stop, or None to go on.
    It changes nothing and keeps no state: it sees all trials each time.
    It is a function of the progress alone.
    It does not raise; a rule that raises ends the run as a fault and is never taken for "go on".
    """

    def check(self, progress: Progress) -> StopReason | None: ...


class Environment(Protocol):
    """A world to act in, one step at a time.

    `reset` and `step` return the observation as text; `won` says that the goal is reached and `done` that the
    episode is over, which are different things (a step limit is `done` and not `won`). `fingerprint` stands for
    the state that the world is in now, at least for what the last observation shows of it.
    A step changes this environment only; asking for the fingerprint changes nothing.
    After `reset` the fingerprint is always the same, and the same actions give the same observations.
    An unknown action is an observation, not an error; a broken world raises `Fault`.
    """

    async def reset(self) -> str: ...

    async def step(self, action: str) -> EnvironmentStep: ...

    async def fingerprint(self) -> str: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EnvironmentStep:
    """What the world answered to an action."""

    observation: str
    done: bool = False
    won: bool = False
    reward: float = 0.0
    """How far the goal is reached after this step, in [0, 1], where the world grades it; 1 or 0 where it does not."""


class Model(Protocol):
    """Answers chat requests.

    The reply's `usage` is what the provider reports, with the cost where the price is known.
    A request is never changed.
    The same request may be answered differently; the recorder is what makes a run repeatable.
    A cut reply is returned (`finish` is "length"); a `ModelFault` is raised after the last try.
    """

    @property
    def name(self) -> str:
        """`provider:name`, as the user writes it."""
        ...

    @property
    def price(self) -> Price | None:
        """None when it is unknown."""
        ...

    async def complete(self, request: ChatRequest) -> Reply: ...


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Where an effect stands in a run; `n` counts from 0 within a trial and role."""

    task: str
    arm: str
    seed: int
    trial: int
    role: str
    n: int


class Recorder(Protocol):
    """The seam through which every effect passes: model calls, verdicts, environment steps, clock, randomness.

    Returns a stored result, or makes the call and stores its result before it is used.
    It never changes a result. `request` is plain data or a record: what was asked for.
    `strict` lookup needs the fingerprint of the request to match; `positional` takes the n-th of its role.
    What the call raises is passed on and not stored as a result.
    """

    async def effect(
        self,
        key: EffectKey,
        request: object,
        call: Callable[[], Awaitable[T]],
        kind: type[T],
    ) -> T: ...


class EventSink(Protocol):
    """Takes events for display. Losing one loses no data; it must be quick and must not raise."""

    def emit(self, event: Event) -> None: ...


class Peer(Protocol):
    """A submission loaded in a jail, to which calls go over a socket.

    `detach` hands the socket's descriptor to whoever speaks the wire protocol, once.
    Closing ends every process of the jail; it may be called at any time and more than once.
    It adds nothing to what the submission itself does.
    `let_go` closes it without waiting: the sandbox sees to its end, and to it that not many are ending at a time. It
    returns false if the program has printed more than it may: then how it ended is still of interest.
    `wait` returns how the jail ended and raises `SandboxFault` if that cannot be known.
    """

    isolation: str

    def detach(self) -> int: ...

    async def wait(self) -> RunResult: ...

    async def close(self) -> None: ...

    def let_go(self) -> bool: ...


class Sandbox(Protocol):
    """Runs untrusted programs.

    `open` loads a Python submission and returns a peer that calls go to; `run` runs a command over given files.
    Nothing of the host changes, and no process is left when either is over.
    The same program gets the same limits every time.
    How a program ends is returned; `SandboxFault` is raised when the sandbox itself broke.
    """

    @property
    def isolation(self) -> str:
        """The level probed at start: `namespaces`, `bubblewrap`, `container`, `seatbelt` or `process`."""
        ...

    async def open(self, source: str, limits: Limits) -> Peer: ...

    async def run(
        self, argv: Sequence[str], files: Mapping[str, bytes], limits: Limits, *, collect: Sequence[str] = ()
    ) -> RunResult: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


__all__ = [
    "ActContext",
    "Actor",
    "EffectKey",
    "Environment",
    "EnvironmentStep",
    "EvaluateContext",
    "Evaluator",
    "EventSink",
    "Limits",
    "Memory",
    "Model",
    "Peer",
    "Preparable",
    "Progress",
    "Recorder",
    "ReflectContext",
    "Reflector",
    "Resettable",
    "RunResult",
    "Sandbox",
    "StopRule",
    "Tool",
]
