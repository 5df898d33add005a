"""What a family gives to the command line, and what it gets: `Family`, `Item`, `Bench`, `Settings`.

Apart from the families, so that running tasks (one or thousands, new or resumed) is written once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from afterword.cli.departures import FreshChecks
from afterword.cli.roles import ModelChoice
from afterword.core.budget import Allowance
from afterword.core.protocols import Actor, Evaluator, Model, Reflector
from afterword.core.records import Strategy, Task
from afterword.core.reflexion import Reflexion
from afterword.errors import InputError
from afterword.memories import MemoryKind
from afterword.models.options import RetryNotice

if TYPE_CHECKING:
    from afterword.families.programming.own_tests import OwnTest

T = TypeVar("T")

OptionValue = str | int | float | bool | None

MakeReflector = Callable[[Model, float | None], Reflector]
"""From a model and its temperature to the family's reflector."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How tasks are worked on, whichever family they are of: plain data, kept in the journal without keys."""

    models: ModelChoice
    strategy: Strategy = Strategy.LAST_ATTEMPT_AND_REFLEXION
    max_trials: int = 4
    memory: int | None = None
    """How many lessons are kept; None: what is usual in the family."""
    memory_kind: MemoryKind = MemoryKind.WINDOW
    """How they are kept."""
    max_tokens: int | None = None
    """Most tokens of one reply of the actor; None: what is usual in the family."""
    allowance: Allowance = field(default_factory=Allowance)
    """Of each task."""
    min_gain: float | None = None
    patience: int | None = None
    stop_on_repetition: bool | None = None
    """Whether a repeated lesson or output ends the loop; None: as is usual in the arm."""
    seed: int = 0
    ask: bool = False
    allow_weak_isolation: bool = False
    data: Path | None = None
    """The folder with published benchmarks."""
    limit: int | None = None
    """At most so many tasks, the first ones."""
    rules: Path | None = None
    """A file of rules for the actor's system prompt; the accepted ones count."""
    rules_limit: int | None = None
    """At most so many rules a task, the most similar ones."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """The options of the family that were stated, by their names with underscores."""
    arm: str = ""
    """The arm of an experiment; empty: the one that is called as the strategy."""
    without: tuple[str, ...] = ()
    """Parts of a lesson that the reflector is not asked for."""

    def __post_init__(self) -> None:
        for option, value in (
            ("--max-trials", self.max_trials),
            ("--memory", self.memory),
            ("--max-tokens", self.max_tokens),
            ("--limit", self.limit),
            ("--rules-limit", self.rules_limit),
        ):
            if value is not None and value < 1:
                raise InputError(f"{option} takes a number from 1, found {value}")
        if self.rules_limit is not None and self.rules is None:
            raise InputError("--rules-limit says how many of the rules are shown; give --rules FILE too")
        if self.ask and not self.strategy.reflects:
            raise InputError(f"--ask is about lessons, and the strategy {self.strategy} has none; choose another one")
        if self.patience is not None and self.min_gain is None:
            raise InputError("--patience says over how many trials --min-gain looks; give --min-gain too, e.g. 0.05")

    @property
    def judge_options(self) -> tuple[str, ...]:
        """The options of a judging model that were stated."""
        stated = {
            "--judge-model": self.models.judge_model,
            "--judge-votes": self.options.get("judge_votes"),
            "--judge-temperature": self.models.judge_temperature,
        }
        return tuple(option for option, value in stated.items() if value is not None)

    def flag(self, name: str) -> bool:
        """Whether an option of the family that is a switch is on."""
        return bool(self.options.get(name, False))

    def text(self, name: str, default: str = "") -> str:
        """An option of the family that is a text."""
        value = self.options.get(name)
        return default if value is None else str(value)

    def number(self, name: str, default: int) -> int:
        """An option of the family that is a whole number."""
        value = self.options.get(name)
        return default if value is None else int(value)


class Bench(Protocol):
    """Where an item's loop is put together: models by role, shared resources, and the person at the terminal.

    Each item gets a bench of its own; what `shared` opens is common to all items of the run.
    """

    settings: Settings
    verdicts: int
    """How many verdicts are reached at a time: the workers of a jail."""

    async def model(self, role: str) -> Model:
        """The model of a role (`actor`, `reflector`, `test_writer` …), within the limits of the run.

        Raises:
            InputError: its name, file or options are wrong, or its price is not known and there is a cost limit.
            ModelFault: there is no key, or the local server does not start.
        """
        ...

    @property
    def fresh(self) -> tuple[FreshChecks, ...]:
        """Held-out checks that a person gave in place of burned ones."""
        ...

    def temperature(self, role: str) -> float | None:
        """How the model of a role is sampled."""
        ...

    async def shared(self, key: Hashable, open_it: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """What several items use, opened at the first call for its key and closed when the run is over.

        It is entered and left in one task of its own, so it may hold task groups.
        """
        ...

    def warn(self, text: str) -> None:
        """Tells a person what weakens the result; the same text is told once."""
        ...

    def retried(self, notice: RetryNotice) -> None:
        """Tells the person at the terminal that something is tried again."""
        ...

    def tests_written(self, tests: Sequence[OwnTest]) -> None:
        """Told of the tests that a model wrote for this item."""
        ...

    def show(self, text: str) -> None:
        """Shows a text to the person at the terminal, e.g. a program that they are asked about."""
        ...

    def read(self, prompt: str) -> str:
        """Asks the person at the terminal; an empty text where there is none."""
        ...

    async def reflexion(
        self,
        actor: Actor,
        evaluator: Evaluator,
        reflector: MakeReflector,
        *,
        held_out: Evaluator | None = None,
        fresh: Sequence[Evaluator] = (),
        memory: int,
    ) -> Reflexion:
        """The loop with these parts and all that the settings say of it.

        `fresh` are the evaluators of the checks that a person gave in place of burned ones, in their order.
        `reflector` is called only where the strategy reflects; `memory` is how many lessons are usual in the family.
        """
        ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the calls of a family can be, for an upper bound told before anything is spent."""

    steps: int
    """Most calls of the actor in one trial."""
    prompt_chars: int
    """Of the actor's prompt at most, besides what the task itself says, the last attempt and the lessons."""
    previous_chars: int
    """Of the last attempt and its report, where the strategy shows them."""
    reply_tokens: int
    """Of one reply of the actor."""
    failed_trial_chars: int
    """Of a failed trial as the reflector sees it, with its worked examples."""
    looks: int = 0
    """Most times that a model looks at one trial besides judging it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One task of a run: what it is, how it is judged, and how its loop is put together."""

    task: Task
    told: str
    """How it is judged, in a few words for the display."""
    fingerprint: str
    """Changes with everything that defines the task and its checks."""
    loop: Callable[[Bench], AbstractAsyncContextManager[Reflexion]]
    """Opens what only this item uses, e.g. a game, and yields its loop; all is closed when the item is done."""
    language: str = ""
    """Of the output, for colours; empty for plain text."""
    asks: bool = False
    """Whether a person is asked about it on the way, so that no other item can run beside it."""
    own_tests: bool = False
    """Whether a model writes the tests that it is judged by."""
    judge_calls: int = 0
    """Most calls of a model that judges one trial; 0 where none does."""


class Family(Protocol):
    """Turns sources and settings into items.

    `items` is lazy: an item is made when it is asked for, and a second call gives the same items again.
    It refuses wrong sources and options with `InputError`, before any money is spent where that can be known.
    """

    @property
    def name(self) -> str: ...

    @property
    def options(self) -> frozenset[str]:
        """The names of the options that only this family has; others are refused."""
        ...

    @property
    def prompts(self) -> tuple[str, ...]:
        """The packages whose prompt files decide what is asked: a change of one is noticed by `resume`."""
        ...

    def items(self, sources: Sequence[str], settings: Settings) -> Iterator[Item]: ...

    def sizes(self, settings: Settings) -> Sizes: ...
