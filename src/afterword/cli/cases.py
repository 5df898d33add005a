"""The cases of a plan: what a task is worked on with, once for each arm and seed. A plain run has one case.

Apart from the plan, so that what an arm changes of the settings stands in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from afterword.cli.families.interface import OptionValue, Settings
from afterword.errors import InputError
from afterword.experiments.arms import ARM_CHARS, Arm, arm_named
from afterword.experiments.sharing import SHARED
from afterword.memories import MemoryKind
from afterword.reflectors.parts import parts_of


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """An arm of an experiment and what is other in it than in the rest; None: as in the rest."""

    name: str
    arm: str
    """One of `experiments.arms.ARMS`."""
    model: str | None = None
    reflector_model: str | None = None
    test_writer_model: str | None = None
    judge_model: str | None = None
    temperature: str | None = None
    """A number, or `none` for a model that refuses one."""
    reflector_temperature: str | None = None
    judge_temperature: str | None = None
    memory: int | None = None
    memory_kind: MemoryKind | None = None
    max_trials: int | None = None
    min_gain: float | None = None
    patience: int | None = None
    stop_on_repetition: bool | None = None
    without: tuple[str, ...] = ()
    """Parts of a lesson that the reflector is not asked for."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Options of the family."""

    def __post_init__(self) -> None:
        if self.name == SHARED:
            raise InputError(f"an arm cannot be called {SHARED!r}, where calls of several arms stand; rename it")
        if len(self.name) > ARM_CHARS:
            raise InputError(
                f"the name of an arm has at most {ARM_CHARS} characters, found {self.name!r:.60}…; shorten it"
            )
        if self.max_trials is not None and self.kind.one_trial and self.kind.name == "single":
            raise InputError(f"the arm {self.name!r} is one attempt; leave max_trials out")
        parts_of(self.without)  # refuses what is none
        if self.patience is not None and self.min_gain is None:
            raise InputError(f"the arm {self.name!r} has a patience and no min_gain; state it too, e.g. 0.05")

    @property
    def kind(self) -> Arm:
        """How the allowance is spent.

        Raises:
            InputError: there is no such arm.
        """
        return arm_named(self.arm)

    def settings(self, rest: Settings, seed: int) -> Settings:
        """The settings of the rest with what is other here."""
        models = rest.models
        return replace(
            rest,
            models=replace(
                models,
                model=self.model or models.model,
                # A reflector that is not named is the actor's model, also where this arm has another actor.
                reflector_model=self.reflector_model or models.reflector_model,
                test_writer_model=self.test_writer_model or models.test_writer_model,
                judge_model=self.judge_model or models.judge_model,
                temperature=self.temperature or models.temperature,
                reflector_temperature=self.reflector_temperature or models.reflector_temperature,
                judge_temperature=self.judge_temperature or models.judge_temperature,
            ),
            arm=self.arm,
            strategy=self.kind.strategy,
            memory=self.memory or rest.memory,
            memory_kind=self.memory_kind or rest.memory_kind,
            max_trials=self.max_trials or rest.max_trials,
            min_gain=self.min_gain if self.min_gain is not None else rest.min_gain,
            patience=self.patience or rest.patience,
            stop_on_repetition=rest.stop_on_repetition if self.stop_on_repetition is None else self.stop_on_repetition,
            without=self.without or rest.without,
            options={**rest.options, **self.options},
            seed=seed,
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One arm with one seed."""

    arm: str
    seed: int
    settings: Settings
    variant: int = 0
    """Which of the plan's variants its tasks are made by."""


def cases_of(settings: Settings, arms: tuple[ArmPlan, ...], seeds: tuple[int, ...]) -> tuple[Case, ...]:
    """The cases in the order in which a task goes through them: seed by seed, all arms of each beside each other."""
    if not arms:
        return (Case(settings.strategy, settings.seed, settings),)
    cases: list[Case] = []
    variants: list[tuple[object, ...]] = []
    for seed in seeds or (settings.seed,):
        for arm in arms:
            of_arm = arm.settings(settings, seed)
            made_by = (dict(of_arm.options), of_arm.models)
            if made_by not in variants:
                variants.append(made_by)
            cases.append(Case(arm.name, seed, of_arm, variants.index(made_by)))
    return tuple(cases)
