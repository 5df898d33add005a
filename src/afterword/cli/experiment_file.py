"""An experiment's TOML file: the plan that it states.

It loads pydantic, which is done only where such a file is read.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterword.cli.cases import ArmPlan
from afterword.cli.experiment_tables import (
    AllowanceTable,
    ArmTable,
    CommonKeys,
    FileTable,
    ModelsTable,
    Temperature,
    checked,
)
from afterword.cli.families import Settings, family_of
from afterword.cli.families.interface import OptionValue
from afterword.cli.families.registry import is_name, names_like
from afterword.cli.option_groups import refuse_wrong_kind
from afterword.cli.plan import Plan
from afterword.cli.roles import SAMPLING_TEMPERATURE, ModelChoice
from afterword.core.budget import Allowance
from afterword.core.plain import plain
from afterword.errors import InputError
from afterword.files import read_bounded
from afterword.memories import MemoryKind
from afterword.reflectors.parts import parts_of

MAX_FILE_MB = 4
MAX_TRIALS = 100
"""Where tokens, calls or cost are the allowance and not trials, so many at most."""
USUAL_TRIALS = 4


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a file states."""

    plan: Plan
    journal: str | None
    tokens_per_second: float
    tokens_read_per_second: float
    notes: tuple[str, ...]
    """What a person should know of it before anything is spent."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says instead of the file."""

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    data: Path | None = None
    limit: int | None = None
    jobs: int | None = None
    model_calls: int | None = None
    verdicts: int | None = None


def read_experiment(file: Path, instead: Overrides) -> Experiment:
    """The plan of a file. Paths in it start in its folder, where this has to be called.

    Raises:
        InputError: the file cannot be read or says something that cannot be.
    """
    for option, value in (
        ("--limit", instead.limit),
        ("--jobs", instead.jobs),
        ("--model-calls", instead.model_calls),
        ("--verdicts", instead.verdicts),
    ):
        if value is not None and value < 1:
            raise InputError(f"{option} takes a number from 1, found {value}")
    stated = checked(FileTable, _values(file), file, "")
    arms = _arms(stated.arms, file)
    try:
        return _experiment(stated, arms, file, instead)
    except InputError as error:
        raise error if error.file is not None else InputError(error.message, file=file) from None


def _values(file: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(read_bounded(file, MAX_FILE_MB).decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(
            "expected an experiment as TOML, found no such file; afterword experiment --example prints one", file=file
        ) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 text, found other bytes; save it as UTF-8", file=file) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"this is not valid TOML: {error}; mend it", file=file) from None


def _arms(stated: Sequence[object], file: Path) -> tuple[ArmTable, ...]:
    if not stated:
        raise InputError('expected at least one arm, found none; e.g. arms = ["retry", "reflexion"]', file=file)
    for number, one in enumerate(stated):
        if not isinstance(one, str | Mapping):
            raise InputError(f"arms[{number}]: expected the name of an arm or a table, found {one!r:.80}", file=file)
    return tuple(
        checked(ArmTable, {"arm": one} if isinstance(one, str) else one, file, f"arms[{number}]")
        for number, one in enumerate(stated)
    )


def _experiment(stated: FileTable, tables: Sequence[ArmTable], file: Path, instead: Overrides) -> Experiment:
    sources = _sources(stated)
    family = family_of(sources, stated.family)
    arms = tuple(_arm(table, stated.allowance.trials) for table in tables)
    _refuse_doubles("arm", [arm.name for arm in arms])
    _refuse_doubles("seed", stated.seeds)
    _refuse_doubles("id", stated.ids)
    if not stated.seeds:
        raise InputError("expected at least one seed, found none; e.g. seeds = [1, 2, 3]")
    parts_of(stated.without or ())
    if stated.ids and (stated.limit or instead.limit):
        raise InputError("ids names the tasks and limit counts them; leave one of them out")
    temperature, notes = _temperature(stated, arms)
    settings = _settings(stated, instead, temperature)
    for of in (settings.options, *(arm.options for arm in arms)):
        for name in of:
            if name not in family.options:
                known = ", ".join(sorted(family.options))
                raise InputError(f"{name!r} is no option of the family {family.name}; it has {known}")
            refuse_wrong_kind(name, of[name])
    plan = Plan(
        family.name,
        sources,
        settings,
        str(file.parent.resolve()),
        instead.jobs or stated.jobs,
        instead.model_calls or stated.model_calls,
        instead.verdicts or stated.verdicts,
        ids=tuple(stated.ids),
        arms=arms,
        seeds=tuple(stated.seeds),
    )
    return Experiment(
        plan, stated.journal, stated.models.tokens_per_second, stated.models.tokens_read_per_second, notes
    )


def _settings(stated: FileTable, instead: Overrides, temperature: str) -> Settings:
    """What is the same in all arms."""
    return Settings(
        models=_models(stated.models, instead, temperature),
        max_trials=_trials(stated.allowance),
        memory=stated.memory,
        memory_kind=_memory_kind(stated.memory_kind) or MemoryKind.WINDOW,
        max_tokens=stated.models.max_tokens,
        allowance=Allowance(
            calls=stated.allowance.calls, tokens=stated.allowance.tokens, cost_usd=stated.allowance.cost_usd
        ),
        min_gain=stated.min_gain,
        patience=stated.patience,
        stop_on_repetition=stated.stop_on_repetition,
        seed=stated.seeds[0],
        allow_weak_isolation=stated.allow_weak_isolation,
        data=instead.data or (None if stated.data is None else Path(stated.data)),
        limit=instead.limit or stated.limit,
        options=_options(stated),
        without=tuple(stated.without or ()),
    )


def _sources(stated: FileTable) -> tuple[str, ...]:
    if stated.benchmark is not None and not is_name(stated.benchmark):
        raise InputError(f"unknown benchmark {stated.benchmark!r}; {names_like(stated.benchmark)}")
    sources = (*(stated.tasks or ()), *((stated.benchmark,) if stated.benchmark else ()))
    if not sources:
        raise InputError('expected tasks, found none; e.g. benchmark = "humaneval" or tasks = ["tasks.jsonl"]')
    return sources


def _arm(table: ArmTable, trials: int | None) -> ArmPlan:
    if table.max_trials is not None and trials is not None and table.max_trials > trials:
        raise InputError(
            f"the arm {table.name or table.arm!r} has max_trials = {table.max_trials}, and the allowance is {trials} "
            "trials for every arm; raise the allowance or lower max_trials"
        )
    name = " ".join(plain(table.arm if table.name is None else table.name).split())
    if not name:
        raise InputError(f"expected a name for the arm {table.arm!r}, found {table.name!r}; leave it out or give one")
    plan = ArmPlan(
        name,
        table.arm,
        model=table.model,
        reflector_model=table.reflector_model,
        test_writer_model=table.test_writer_model,
        judge_model=table.judge_model,
        temperature=_as_text(table.temperature),
        reflector_temperature=_as_text(table.reflector_temperature),
        judge_temperature=_as_text(table.judge_temperature),
        memory=table.memory,
        memory_kind=_memory_kind(table.memory_kind),
        max_trials=table.max_trials,
        min_gain=table.min_gain,
        patience=table.patience,
        stop_on_repetition=table.stop_on_repetition,
        without=tuple(table.without or ()),
        options=_options(table),
    )
    lessons = ("memory", "memory_kind", "reflector_model", "reflector_temperature", "without")
    idle = [name for name in lessons if getattr(table, name) is not None]
    if idle and not plan.kind.strategy.reflects:
        raise InputError(f"the arm {plan.name!r} draws no lessons, so {idle[0]} would do nothing; leave it out")
    if table.stop_on_repetition is not None and plan.kind.untold:
        raise InputError(
            f"the arm {plan.name!r} never ends by repetition, so stop_on_repetition would do nothing; leave it out"
        )
    return plan


def _options(stated: CommonKeys) -> dict[str, OptionValue]:
    """Options of the family, those of own tests too."""
    own: dict[str, OptionValue] = {
        name: value
        for name in ("own_tests", "consensus", "mutation_check", "test_review")
        if (value := getattr(stated, name)) is not None
    }
    return {**stated.options, **own}


def _memory_kind(stated: str | None) -> MemoryKind | None:
    if stated is None:
        return None
    if stated not in list(MemoryKind):
        raise InputError(f"memory_kind is one of {', '.join(MemoryKind)}, found {stated!r}")
    return MemoryKind(stated)


def _temperature(stated: FileTable, arms: Sequence[ArmPlan]) -> tuple[str, tuple[str, ...]]:
    """The actor's, the same for all arms, so that their first prompts are the same question; and what to say of it."""
    sampling = [arm.name for arm in arms if arm.kind.samples]
    if stated.models.temperature is not None:
        text = _as_text(stated.models.temperature) or "none"
        cold = [arm.name for arm in arms if arm.kind.samples and (arm.temperature or text).strip() in ("0", "0.0")]
        note = f"{cold[0]} lives by differing attempts, and at temperature 0 there are none" if cold else ""
        return text, (note,) if note else ()
    if sampling:
        why = f"since {sampling[0]} samples"
    elif len(stated.seeds) > 1:
        why = "since seeds make a difference only where a model samples"
    else:
        return "0.0", ()
    return str(SAMPLING_TEMPERATURE), (f"all arms act at temperature {SAMPLING_TEMPERATURE}, {why}",)


def _models(stated: ModelsTable, instead: Overrides, temperature: str) -> ModelChoice:
    return ModelChoice(
        model=instead.model or stated.actor,
        base_url=instead.base_url or stated.base_url,
        api_key=instead.api_key,
        reflector_model=stated.reflector,
        temperature=temperature,
        reflector_temperature=_as_text(stated.reflector_temperature),
        test_writer_model=stated.test_writer,
        test_writer_temperature=_as_text(stated.test_writer_temperature),
        judge_model=stated.judge,
        judge_temperature=_as_text(stated.judge_temperature),
        price=stated.price,
        timeout_s=stated.timeout_s,
        requests_per_minute=stated.requests_per_minute,
        threads=stated.threads,
        prompt_cache=stated.prompt_cache,
    )


def _trials(stated: AllowanceTable) -> int:
    if stated.trials is not None:
        return stated.trials
    if stated.calls is None and stated.tokens is None and stated.cost_usd is None:
        return USUAL_TRIALS
    return min(MAX_TRIALS, stated.calls or MAX_TRIALS)


def _as_text(temperature: Temperature | None) -> str | None:
    return None if temperature is None else str(temperature)


def _refuse_doubles(what: str, names: Sequence[object]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        remedy = "give one of them another name" if what == "arm" else "leave one out"
        raise InputError(f"expected each {what} once, found {twice[0]!r} twice; {remedy}")
