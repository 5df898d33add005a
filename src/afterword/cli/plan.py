"""`Plan`: all that a run is started with, as plain data that a journal keeps, and the fingerprints that guard it.

What is not here (keys, where to print) may differ when the run is resumed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from afterword._version import __version__
from afterword.cli.cases import ArmPlan, Case, cases_of
from afterword.cli.families import Family, Settings
from afterword.cli.roles import Role, Roles, roles_of
from afterword.core.budget import Allowance
from afterword.core.effects import fingerprint
from afterword.errors import InputError
from afterword.experiments.lessons.rules import open_rule_book
from afterword.models.opening import default_model_name, split_name

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SEED_LIMIT = 10**18
REMOTE_JOBS = 8
LOCAL_JOBS = 2
"""The local model answers one request at a time; meanwhile another task can be judged."""


@dataclass(frozen=True, slots=True)
class PilotPlan:
    """That tasks are drawn at random, that the run ends once it is clear whether reflexion pays, and what is clear."""

    alpha: float
    margin: float
    false_positives: float
    most_tasks: int
    exam_named: int = 0
    """Of so many planted bugs that the reflector was examined on."""
    exam_bugs: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tasks are worked on, how, and how many at a time."""

    family: str
    sources: tuple[str, ...]
    settings: Settings
    folder: str = ""
    """Where relative paths start, as absolute path."""
    jobs: int | None = None
    """Tasks at a time; None: what suits the model."""
    model_calls: int | None = None
    """Model calls at a time, of all roles together; None: no limit besides that of each model."""
    verdicts: int | None = None
    """Verdicts at a time; None: one a processor."""
    total: Allowance = field(default_factory=Allowance)
    """Of the whole run."""
    ids: tuple[str, ...] = ()
    """Only these tasks of the sources; empty: all."""
    arms: tuple[ArmPlan, ...] = ()
    """Of an experiment; empty: a plain run."""
    seeds: tuple[int, ...] = ()
    """Of an experiment."""
    pilot: PilotPlan | None = None

    def __post_init__(self) -> None:
        for option, value in (
            ("--jobs", self.jobs),
            ("--model-calls", self.model_calls),
            ("--verdicts", self.verdicts),
        ):
            if value is not None and value < 1:
                raise InputError(f"{option} takes a number from 1, found {value}")
        for seed in (self.settings.seed, *self.seeds):
            if not -SEED_LIMIT <= seed < SEED_LIMIT:
                raise InputError(f"expected a seed that a journal can keep, of at most 18 digits, found {seed}")

    @property
    def is_experiment(self) -> bool:
        """Whether arms are compared."""
        return bool(self.arms)

    @property
    def cases(self) -> tuple[Case, ...]:
        """What each task is worked on with, in this order."""
        return cases_of(self.settings, self.arms, self.seeds)

    def narrowed(self, arm: str | None, seed: int | None) -> Plan:
        """The plan of one arm with one seed; of a plain run all of it.

        Raises:
            InputError: there are several, or none of this name.
        """
        if not self.is_experiment:
            if arm not in (None, self.cases[0].arm) or seed not in (None, self.cases[0].seed):
                raise InputError("--arm and --seed belong to experiments, and that run is none; leave them out")
            return self
        arms = [one for one in self.arms if arm in (None, one.name)]
        seeds = [one for one in self.seeds or (self.settings.seed,) if seed in (None, one)]
        for option, found, known in (
            ("--arm", [one.name for one in arms], [one.name for one in self.arms]),
            ("--seed", seeds, self.seeds or (self.settings.seed,)),
        ):
            if len(found) != 1:
                names = ", ".join(map(str, known))
                raise InputError(f"that run compares arms; say with {option} which one is meant: {names}")
        return replace(self, arms=tuple(arms), seeds=tuple(seeds), pilot=None)

    @property
    def roles(self) -> Iterator[Roles]:
        """The models of each case."""
        for case in self.cases:
            yield roles_of(case.settings.models, case.settings.strategy)

    @property
    def at_once(self) -> int:
        """Tasks at a time."""
        if self.jobs is not None:
            return self.jobs
        at_once = {"openai": REMOTE_JOBS, "anthropic": REMOTE_JOBS, "local": LOCAL_JOBS}
        return min(at_once.get(split_name(roles.actor.name)[0], 1) for roles in self.roles)

    def data(self) -> dict[str, object]:
        """As JSON data, without keys."""
        models = self.settings.models  # the model that AFTERWORD_MODEL names now is the one of the run
        models = replace(models, api_key=None, model=models.model or default_model_name())
        without_key = replace(self.settings, models=models)
        data = _adapter().dump_python(replace(self, settings=without_key), mode="json")
        if not isinstance(data, dict):
            raise TypeError(f"a plan is an object, found {type(data).__name__}")
        return data


def plan_of(data: Mapping[str, object]) -> Plan:
    """A plan as a journal kept it.

    Raises:
        InputError: the run was started by something else than the command line.
    """
    from pydantic import ValidationError

    if isinstance(command := data.get("command"), str):
        raise InputError(f"this run is one of `afterword {command}`; give that command again, and it goes on with it")
    try:
        return _adapter().validate_python(dict(data))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise InputError(
            f"this run was not started by `afterword run` of this version ({where} is not understood); "
            "start it anew, or resume it with the program that started it"
        ) from None


@cache
def _adapter() -> TypeAdapter[Plan]:
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def run_fingerprints(plan: Plan, family: Family) -> dict[str, str]:
    """By name, all but the tasks that must be the same when the run is resumed."""
    settings = plan.settings
    models: dict[str, str] = {}
    for case in plan.cases:  # of an experiment each arm has models of its own, though they may be the same
        prefix = f"{case.arm}:" if plan.is_experiment else ""
        roles = roles_of(case.settings.models, case.settings.strategy)
        models |= {f"model:{prefix}{name}": role_fingerprint(role) for name, role in roles.played.items()}
    book = None if settings.rules is None else open_rule_book(settings.rules, settings.rules_limit)
    return {
        "code": fingerprint(__version__, package_hash("afterword.core", code=True)),
        "prompts": fingerprint([package_hash(package, code=False) for package in family.prompts]),
        **models,
        **({} if book is None else {"rules": book.fingerprint}),
    }


def role_fingerprint(role: Role) -> str:
    """Of the model that plays a role, and of how it is asked."""
    options = role.options
    address = None
    if options.base_url is not None:
        parts = urlsplit(options.base_url)  # without user and password, which the journal does not keep
        address = (parts.scheme, parts.hostname, parts.port, parts.path)
    provider, rest = split_name(role.name)
    content = _hash_of_file(Path(rest)) if provider in ("scripted", "recorded") else ""
    price = None if options.price is None else asdict(options.price)
    return fingerprint(role.name, role.temperature, address, price, content)


def _hash_of_file(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None


def package_hash(package: str, *, code: bool) -> str:
    """Of the files of a package: its code, or all that is none."""
    digest = hashlib.sha256()
    for folder in _folders(package):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and (file.suffix == ".py") is code and file.suffix != ".pyc":
                digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _folders(package: str) -> Iterator[Path]:
    spec = find_spec(package)
    yield from map(
        Path, () if spec is None or spec.submodule_search_locations is None else spec.submodule_search_locations
    )
