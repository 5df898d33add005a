"""An experiment's TOML file: its keys, their types, one line for whatever is wrong, and the plan that it states.

It loads pydantic, which is done only where such a file is read.
"""

from __future__ import annotations

import difflib
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from afterword.cli.cases import ArmPlan
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
TOKENS_PER_SECOND = 20.0
"""What the embedded model writes on two cores."""
TOKENS_READ_PER_SECOND = 70.0
"""What it reads of a prompt that is new to it."""

Temperature = float | str
Name = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class _Models(_Strict):
    """`[models]`."""

    actor: Name | None = None
    reflector: Name | None = None
    test_writer: Name | None = None
    judge: Name | None = None
    base_url: Name | None = None
    temperature: Temperature | None = None
    reflector_temperature: Temperature | None = None
    test_writer_temperature: Temperature | None = None
    judge_temperature: Temperature | None = None
    max_tokens: int | None = None
    price: str | None = None
    timeout_s: float = 300.0
    requests_per_minute: int | None = None
    threads: int | None = None
    prompt_cache: bool = False
    tokens_per_second: float = Field(TOKENS_PER_SECOND, gt=0)
    tokens_read_per_second: float = Field(TOKENS_READ_PER_SECOND, gt=0)


class _AllowanceTable(_Strict):
    """`[allowance]`."""

    trials: int | None = Field(None, ge=1)
    calls: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    cost_usd: float | None = Field(None, gt=0)


class _Of(_Strict):
    """What can be said of all arms, and of one."""

    memory: int | None = Field(None, ge=1)
    memory_kind: str | None = None
    min_gain: float | None = None
    patience: int | None = Field(None, ge=1)
    stop_on_repetition: bool | None = None
    without: list[str] | None = None
    own_tests: bool | None = None
    consensus: int | None = Field(None, ge=1)
    mutation_check: bool | None = None
    test_review: bool | None = None
    options: dict[str, bool | int | float | str] = Field(default_factory=dict)


class _ArmTable(_Of):
    """`[[arms]]`."""

    arm: str
    name: str | None = None
    model: Name | None = None
    reflector_model: Name | None = None
    test_writer_model: Name | None = None
    judge_model: Name | None = None
    temperature: Temperature | None = None
    reflector_temperature: Temperature | None = None
    judge_temperature: Temperature | None = None
    max_trials: int | None = Field(None, ge=1)


class _File(_Of):
    """The file."""

    tasks: list[str] | None = None
    benchmark: str | None = None
    family: str | None = None
    limit: int | None = Field(None, ge=1)
    ids: list[str] = Field(default_factory=list)
    data: str | None = None
    arms: list[object]
    seeds: list[int] = Field(default_factory=lambda: [0])
    models: _Models = Field(default_factory=lambda: _Models.model_validate({}))
    allowance: _AllowanceTable = Field(default_factory=lambda: _AllowanceTable.model_validate({}))
    jobs: int | None = Field(None, ge=1)
    model_calls: int | None = Field(None, ge=1)
    verdicts: int | None = Field(None, ge=1)
    journal: str | None = None
    allow_weak_isolation: bool = False


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
    stated = _checked(_File, _values(file), file, "")
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


S = TypeVar("S", bound=BaseModel)


def _checked(kind: type[S], values: object, file: Path, where: str) -> S:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = where + "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}"
            for part in first["loc"]
            if part not in ("float", "str", "int", "bool")
        )
        raise InputError(
            _told(kind, first["type"], path.lstrip("."), first["msg"], first["input"]), file=file
        ) from None


def _told(kind: type[BaseModel], what: str, path: str, message: str, found: object) -> str:
    if what == "extra_forbidden":
        *_, key = path.split(".")
        known = {name for one in (kind, _Models, _AllowanceTable) for name in one.model_fields}
        close = difflib.get_close_matches(key, sorted(known), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "afterword experiment --example shows those there are"
        return f"unknown key {path!r}; {hint}"
    if what == "missing":
        return f"{path!r} is missing; afterword experiment --example shows a complete file"
    return f"{path}: {message[:1].lower()}{message[1:]}, found {found!r:.80}; afterword experiment --example shows one"


def _arms(stated: Sequence[object], file: Path) -> tuple[_ArmTable, ...]:
    if not stated:
        raise InputError('expected at least one arm, found none; e.g. arms = ["retry", "reflexion"]', file=file)
    for number, one in enumerate(stated):
        if not isinstance(one, str | Mapping):
            raise InputError(f"arms[{number}]: expected the name of an arm or a table, found {one!r:.80}", file=file)
    return tuple(
        _checked(_ArmTable, {"arm": one} if isinstance(one, str) else one, file, f"arms[{number}]")
        for number, one in enumerate(stated)
    )


def _experiment(stated: _File, tables: Sequence[_ArmTable], file: Path, instead: Overrides) -> Experiment:
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
    settings = Settings(
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


def _sources(stated: _File) -> tuple[str, ...]:
    if stated.benchmark is not None and not is_name(stated.benchmark):
        raise InputError(f"unknown benchmark {stated.benchmark!r}; {names_like(stated.benchmark)}")
    sources = (*(stated.tasks or ()), *((stated.benchmark,) if stated.benchmark else ()))
    if not sources:
        raise InputError('expected tasks, found none; e.g. benchmark = "humaneval" or tasks = ["tasks.jsonl"]')
    return sources


def _arm(table: _ArmTable, trials: int | None) -> ArmPlan:
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


def _options(stated: _Of) -> dict[str, OptionValue]:
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


def _temperature(stated: _File, arms: Sequence[ArmPlan]) -> tuple[str, tuple[str, ...]]:
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


def _models(stated: _Models, instead: Overrides, temperature: str) -> ModelChoice:
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


def _trials(stated: _AllowanceTable) -> int:
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
