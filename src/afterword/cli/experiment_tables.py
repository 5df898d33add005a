"""The tables of an experiment's TOML file: their keys and types, and one line for whatever is wrong in them.

It loads pydantic, which is done only where such a file is read.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from afterword.errors import InputError

TOKENS_PER_SECOND = 20.0
"""What the embedded model writes on two cores."""
TOKENS_READ_PER_SECOND = 70.0
"""What it reads of a prompt that is new to it."""

Temperature = float | str
Name = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class ModelsTable(_Strict):
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


class AllowanceTable(_Strict):
    """`[allowance]`."""

    trials: int | None = Field(None, ge=1)
    calls: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    cost_usd: float | None = Field(None, gt=0)


class CommonKeys(_Strict):
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


class ArmTable(CommonKeys):
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


class FileTable(CommonKeys):
    """The file."""

    tasks: list[str] | None = None
    benchmark: str | None = None
    family: str | None = None
    limit: int | None = Field(None, ge=1)
    ids: list[str] = Field(default_factory=list)
    data: str | None = None
    arms: list[object]
    seeds: list[int] = Field(default_factory=lambda: [0])
    models: ModelsTable = Field(default_factory=lambda: ModelsTable.model_validate({}))
    allowance: AllowanceTable = Field(default_factory=lambda: AllowanceTable.model_validate({}))
    jobs: int | None = Field(None, ge=1)
    model_calls: int | None = Field(None, ge=1)
    verdicts: int | None = Field(None, ge=1)
    journal: str | None = None
    allow_weak_isolation: bool = False


S = TypeVar("S", bound=BaseModel)


def checked(kind: type[S], values: object, file: Path, where: str) -> S:
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
        known = {name for one in (kind, ModelsTable, AllowanceTable) for name in one.model_fields}
        close = difflib.get_close_matches(key, sorted(known), n=1)
        hint = f"did you mean {close[0]!r}?" if close else "afterword experiment --example shows those there are"
        return f"unknown key {path!r}; {hint}"
    if what == "missing":
        return f"{path!r} is missing; afterword experiment --example shows a complete file"
    return f"{path}: {message[:1].lower()}{message[1:]}, found {found!r:.80}; afterword experiment --example shows one"
