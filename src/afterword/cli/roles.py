"""Which model plays which role, from the options of a command line.

Each role has a model and a temperature; what is not said for the reflector or the test writer is as for the actor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from afterword.core.messages import Price
from afterword.core.records import Strategy
from afterword.errors import InputError
from afterword.experiments.results import SELF_JUDGE
from afterword.models import ModelOptions, RetryNotice, default_model_name
from afterword.models.opening import split_name

REFLECTOR_TEMPERATURE = 0.2
"""As in the paper's logs."""
SAMPLING_TEMPERATURE = 0.7
"""Retrying a deterministic attempt is no baseline."""
WRITER_TEMPERATURE = 0.2
"""As in the paper's logs."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What a command line said about the models."""

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    reflector_model: str | None = None
    temperature: str | None = None
    """A number, or `none` for a model that refuses one."""
    reflector_temperature: str | None = None
    test_writer_model: str | None = None
    test_writer_temperature: str | None = None
    judge_model: str | None = None
    judge_temperature: str | None = None
    price: str | None = None
    timeout_s: float = 300.0
    requests_per_minute: int | None = None
    threads: int | None = None
    prompt_cache: bool = False
    concurrency: int = 8
    """Most requests to one model at a time."""


@dataclass(frozen=True, slots=True)
class Role:
    """A model's name, its settings, and how it is sampled."""

    name: str
    options: ModelOptions
    temperature: float | None


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of the loop."""

    actor: Role
    reflector: Role
    test_writer: Role
    judge: Role
    """Of tasks that a model judges by a rubric."""
    warning: str | None = None
    """What a person should know before money is spent."""

    def named(self, role: str) -> Role:
        """The role of this name."""
        if role == SELF_JUDGE:
            return replace(self.actor, temperature=None if self.actor.temperature is None else 0.0)
        return self.reflector if role == "memory" else self.played[role]

    @property
    def played(self) -> dict[str, Role]:
        """All roles by their names."""
        return {
            "actor": self.actor,
            "reflector": self.reflector,
            "test_writer": self.test_writer,
            "judge": self.judge,
        }


def roles_of(choice: ModelChoice, strategy: Strategy, on_retry: Callable[[RetryNotice], None] | None = None) -> Roles:
    """The roles that a command line asks for.

    Raises:
        InputError: a name, a temperature or a price cannot be read.
    """
    actor_name = choice.model or default_model_name()
    reflector_name = choice.reflector_model or actor_name
    writer_name = choice.test_writer_model or actor_name
    judge_name = choice.judge_model or actor_name
    providers = [split_name(name)[0] for name in (actor_name, reflector_name, writer_name, judge_name)]
    sampled = strategy is Strategy.RETRY
    temperature = _temperature("--temperature", choice.temperature, SAMPLING_TEMPERATURE if sampled else 0.0)
    # The address and the key are the actor's provider's if it takes any; another one finds its own in the environment.
    addressed = next((provider for provider in providers if provider in ("openai", "anthropic")), providers[1])
    warning = None
    if sampled and temperature == 0:
        warning = "retry at temperature 0 gives the same attempt again; it samples at 0.7 by default"
    return Roles(
        actor=Role(actor_name, _options(choice, on_retry, addressed=providers[0] == addressed), temperature),
        reflector=Role(
            reflector_name,
            _options(choice, on_retry, addressed=providers[1] == addressed),
            _temperature("--reflector-temperature", choice.reflector_temperature, REFLECTOR_TEMPERATURE),
        ),
        test_writer=Role(
            writer_name,
            _options(choice, on_retry, addressed=providers[2] == addressed),
            _temperature("--test-writer-temperature", choice.test_writer_temperature, WRITER_TEMPERATURE),
        ),
        judge=Role(
            judge_name,
            _options(choice, on_retry, addressed=providers[3] == addressed),
            _temperature("--judge-temperature", choice.judge_temperature, 0.0),
        ),
        warning=warning,
    )


def _options(choice: ModelChoice, on_retry: Callable[[RetryNotice], None] | None, *, addressed: bool) -> ModelOptions:
    return ModelOptions(
        base_url=choice.base_url if addressed else None,
        api_key=choice.api_key if addressed else None,
        timeout_s=choice.timeout_s,
        requests_per_minute=choice.requests_per_minute,
        price=_price(choice.price),
        threads=choice.threads,
        prompt_cache=choice.prompt_cache,
        concurrency=choice.concurrency,
        on_retry=on_retry,
    )


def _temperature(option: str, text: str | None, default: float) -> float | None:
    if text is None:
        return default
    if text.strip().lower() == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise InputError(f"{option} takes a number from 0 to 2, or none to leave it out, found {text!r}")
    return value


def _price(text: str | None) -> Price | None:
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (2, 3) or not all(0 <= value < float("inf") for value in values):
        raise InputError(f"--price takes IN,OUT or IN,OUT,CACHED in USD per million tokens, found {text!r}")
    return Price(*values)
