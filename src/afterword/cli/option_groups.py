"""Options that go together in several commands, declared once as a group; `spread` has typer see each for itself.

Apart from `options`, where the single ones are: here is what a command makes of them together.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from afterword.cli import options
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.cli.families import Family
    from afterword.cli.families.interface import OptionValue
    from afterword.cli.plan import Plan
    from afterword.cli.roles import ModelChoice
    from afterword.cli.session import Start
    from afterword.core.budget import Allowance


@dataclass(frozen=True, slots=True)
class ModelGroup:
    """Which models play which roles."""

    model: options.ModelName = None
    base_url: options.BaseUrl = None
    api_key: options.ApiKey = None
    reflector_model: options.ReflectorModel = None
    temperature: options.Temperature = None
    reflector_temperature: options.ReflectorTemperature = None
    test_writer_model: options.WriterModel = None
    test_writer_temperature: options.WriterTemperature = None
    judge_model: options.JudgeModel = None
    judge_temperature: options.JudgeTemperature = None
    price: options.Price = None
    timeout_s: options.CallTimeout = 300.0
    requests_per_minute: options.RequestsPerMinute = None
    threads: options.Threads = None
    prompt_cache: options.PromptCache = False

    def choice(self, family: str, temperature: str | None = None) -> ModelChoice:
        """What they say; `temperature` is the actor's where none was stated.

        Raises:
            InputError: no task of the family has a use for one of them.
        """
        from afterword.cli.roles import ModelChoice

        for_some = ("test_writer_model", "test_writer_temperature", "judge_model", "judge_temperature")
        refuse_idle(family, {name: getattr(self, name) for name in for_some})
        stated = {field.name: getattr(self, field.name) for field in fields(self)}
        return ModelChoice(**{**stated, "temperature": self.temperature or temperature})


@dataclass(frozen=True, slots=True)
class AskingGroup:
    """How models are asked outside of the loop: where, how patiently, and for how much."""

    base_url: options.BaseUrl = None
    api_key: options.ApiKey = None
    price: options.Price = None
    timeout_s: options.CallTimeout = 300.0
    requests_per_minute: options.RequestsPerMinute = None
    threads: options.Threads = None
    cost_usd: options.CostUsd = None
    tokens: options.Tokens = None
    calls: options.Calls = None

    def choice(
        self, model: str | None = None, temperature: str | None = None, reflector_temperature: str | None = None
    ) -> ModelChoice:
        """The models that are asked so."""
        from afterword.cli.roles import ModelChoice

        return ModelChoice(
            model=model,
            base_url=self.base_url,
            api_key=self.api_key,
            temperature=temperature,
            reflector_temperature=reflector_temperature,
            price=self.price,
            timeout_s=self.timeout_s,
            requests_per_minute=self.requests_per_minute,
            threads=self.threads,
        )

    @property
    def allowance(self) -> Allowance:
        """What may be spent.

        Raises:
            InputError: one of the limits is below 0.
        """
        from afterword.core.budget import Allowance

        return Allowance(calls=self.calls, tokens=self.tokens, cost_usd=self.cost_usd)


@dataclass(frozen=True, slots=True)
class FamilyGroup:
    """What only some families know."""

    own_tests: options.OwnTests = False
    consensus: options.Consensus = None
    mutation_check: options.MutationCheck = False
    test_review: options.TestReview = False
    judge_votes: options.JudgeVotes = None
    mode: options.Mode = None
    articles: options.Articles = None
    examples: options.Examples = None
    match: options.Match = None
    max_steps: options.MaxSteps = None
    split: options.Split = None
    language: options.Language = None
    url: options.Url = None
    tasks: options.Tasks = None
    judge: options.Judge = None
    watch: options.Watch = None
    stuck_cycles: options.StuckCycles = None
    stuck_actions: options.StuckActions = None

    def stated(self, family: Family) -> dict[str, OptionValue]:
        """Those that were stated; one of another family would do nothing.

        Raises:
            InputError: one of another family was stated.
        """
        stated: dict[str, OptionValue] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value is not False:
                stated[field.name] = str(value) if isinstance(value, Path) else value
        for name in stated:
            if name not in family.options:
                raise InputError(
                    f"--{name.replace('_', '-')} is no option of the family {family.name}; leave it out, "
                    "or say --family"
                )
        return stated


def refuse_wrong_kind(name: str, value: OptionValue) -> None:
    """Refuses what a file states for an option of a family, where a command line would.

    Raises:
        InputError: it is of another kind.
    """
    hint = get_type_hints(FamilyGroup)[name]
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]
    wanted = next(told for kind, told in _KINDS if any(issubclass(of, kind) for of in kinds))
    if not isinstance(value, wanted[0]) or (isinstance(value, bool) and wanted[0] is not bool):
        raise InputError(f"the option {name!r} takes {wanted[1]}, found {value!r}")


_KINDS: tuple[tuple[type, tuple[type, str]], ...] = (
    (bool, (bool, "true or false")),
    (int, (int, "a whole number")),
    (object, (str, "a text")),
)


@dataclass(frozen=True, slots=True)
class JournalGroup:
    """Where a run is kept."""

    journal: options.JournalPlace = None
    no_journal: options.NoJournal = False
    fsync: options.Fsync = False
    record: options.Record = None

    def __post_init__(self) -> None:
        if self.no_journal and (self.journal is not None or self.fsync):
            raise InputError("--no-journal keeps the run nowhere; leave it out, or leave out --journal and --fsync")

    def starting(self, plan: Plan) -> AbstractAsyncContextManager[Start]:
        """A new run of a plan, begun when it is entered."""
        from afterword.cli.starting import JournalChoice, new_run, secrets_of, unkept_run

        if self.no_journal:
            return unkept_run(plan, self.record)
        models = plan.settings.models
        choice = JournalChoice(self.journal, self.fsync, secrets_of(models.api_key, models.base_url))
        return new_run(plan, choice, ("afterword", *without_key(sys.argv[1:])), self.record)


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """The command with each group's options in place of the group, as typer takes them."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {}
    shown: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not is_dataclass(kind) or not isinstance(kind, type):
            shown.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[parameter.name] = kind
        of_fields = get_type_hints(kind, include_extras=True)
        shown += [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=of_fields[field.name]
            )
            for field in fields(kind)
        ]

    @wraps(command)
    def spread_out(**given: object) -> int:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        return command(**given)

    spread_out.__dict__["__signature__"] = inspect.Signature(shown, return_annotation=int)
    spread_out.__annotations__ = {one.name: one.annotation for one in shown} | {"return": int}
    return spread_out


_IDLE = {
    "qa": ("no model judges answers or writes tests", ("judge", "test_writer")),
    "decision": ("no model writes tests for a world", ("test_writer",)),
}


def refuse_idle(family: str, stated: Mapping[str, str | None]) -> None:
    """Refuses options of a model that no task of the family has a use for.

    Raises:
        InputError: one was stated.
    """
    why, roles = _IDLE.get(family, ("", ()))
    for name, value in stated.items():
        if value is not None and name.startswith(roles):
            raise InputError(f"{why}; leave out --{name.replace('_', '-')}, or say --family")


def without_key(arguments: list[str]) -> list[str]:
    """The command line without the value of --api-key."""
    kept = list(arguments)
    for place, argument in enumerate(arguments):
        if argument.startswith("--api-key="):
            kept[place] = "--api-key=…"
        elif argument == "--api-key" and place + 1 < len(kept):
            kept[place + 1] = "…"
    return kept
