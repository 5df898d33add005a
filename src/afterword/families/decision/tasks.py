"""From a source's name to its tasks: what is to be done, in which world, with which words and examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from afterword.core.effects import fingerprint
from afterword.core.protocols import Environment
from afterword.core.records import Task
from afterword.errors import InputError
from afterword.families.decision import examples
from afterword.families.decision.play import Demonstration
from afterword.families.decision.rows import WorldTask, read_world_tasks
from afterword.families.decision.worlds.alfworld import AlfworldGame, load_alfworld
from afterword.families.decision.worlds.own import Make, OwnWorld, source_digest, world_class
from afterword.families.decision.worlds.textworld_express import FOLDS, express_world
from afterword.families.decision.worlds.webshop import WebShop

ALFWORLD, EXPRESS, WEBSHOP = "alfworld", "textworld-express", "webshop"
_FOLD_SIZE = 10_000
"""The seeds of the three folds of TextWorld Express begin so far apart."""
_EXPRESS_GOAL = "Reach the goal that the world states at first."
_WEBSHOP_GOAL = "Buy what the instruction on the page asks for."


@dataclass(frozen=True, slots=True)
class DecisionTask:
    """One task with its world."""

    task: Task
    world: Callable[[], Environment]
    """Makes the world; nothing is started before its first reset."""
    fingerprint: str
    """Changes with whatever defines the task and its world, as far as that can be known."""
    help: str = ""
    examples: tuple[Demonstration, ...] = ()
    max_steps: int | None = None


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a command line said about its sources; None and empty texts are what was not said."""

    data: Path | None = None
    split: str = ""
    language: str = ""
    url: str = ""
    tasks: Path | None = None


def tasks_of(source: str, options: SourceOptions) -> Iterator[DecisionTask]:
    """The tasks of a source: `alfworld`, `textworld-express:GAME[:SEED]`, `webshop[:GOAL]` or `module:Class`.

    Raises:
        InputError: there is no such source, it lacks an option or has one too many, or a file is wrong.
    """
    name, _, rest = source.partition(":")
    kind = name if name in (ALFWORLD, EXPRESS, WEBSHOP) else "module:Class"
    _refuse_misplaced(kind, options)
    if kind == ALFWORLD:
        if options.data is None:
            raise InputError("alfworld needs --data DIR, the folder with the games; docs/data.md says how to get them")
        games = load_alfworld(options.data, options.split or "valid_seen", language=options.language or "new")
        return (_alfworld(game) for game in games)
    if kind == EXPRESS:
        return _express(rest, options.split or FOLDS[0])
    if kind == WEBSHOP:
        if not options.url:
            raise InputError("webshop needs --url, the address of a running WebShop server")
        return (_webshop(goal, options.url) for goal in _numbers(rest, "the goal of WebShop"))
    if not rest:
        raise InputError(
            f"unknown source {source!r}; there are {ALFWORLD}, {EXPRESS}:GAME, {WEBSHOP} and module:Class of your own"
        )
    if options.tasks is None:
        raise InputError(f"{source} needs --tasks FILE, a line of JSON with id, instructions and args for each task")
    make = world_class(source)
    code = source_digest(make)
    return (_own(row, make, source, code) for row in read_world_tasks(options.tasks, make, source))


def _refuse_misplaced(kind: str, options: SourceOptions) -> None:
    for option, given, kinds in (
        ("--language", options.language, (ALFWORLD,)),
        ("--split", options.split, (ALFWORLD, EXPRESS)),
        ("--url", options.url, (WEBSHOP,)),
        ("--tasks", options.tasks, ("module:Class",)),
    ):
        if given and kind not in kinds:
            raise InputError(f"{option} is for {' and '.join(kinds)}; leave it out")


def _alfworld(game: AlfworldGame) -> DecisionTask:
    inputs = {"task_type": game.task_type, "language": game.language}
    return DecisionTask(
        Task(game.id, game.instructions, inputs),
        game.open,
        game.fingerprint(),
        examples.alfworld_help(game),
        examples.alfworld_examples(game),
    )


def _express(rest: str, fold: str) -> Iterator[DecisionTask]:
    game, _, number = rest.partition(":")
    express_world(game, fold=fold)  # refuses an unknown one
    for seed in _numbers(number, "the seed of TextWorld Express"):
        absolute = FOLDS.index(fold) * _FOLD_SIZE + seed
        yield DecisionTask(
            Task(f"{EXPRESS}/{game}/{fold}/{seed}", _EXPRESS_GOAL, {"game": game, "fold": fold, "seed": absolute}),
            partial(express_world, game, absolute, fold=fold),
            fingerprint(EXPRESS, game, fold, absolute),
            examples.EXPRESS_HELP,
            examples.express_examples(),
        )


def _webshop(goal: int, url: str) -> DecisionTask:
    return DecisionTask(
        Task(f"{WEBSHOP}/{goal}", _WEBSHOP_GOAL, {"goal": goal}),
        partial(WebShop, url, goal),
        fingerprint(WEBSHOP, goal),
        examples.WEBSHOP_HELP,
        examples.webshop_examples(),
    )


def _own(row: WorldTask, make: Make, source: str, code: str) -> DecisionTask:
    return DecisionTask(
        Task(row.id, row.instructions),
        partial(OwnWorld, partial(make, **row.args), source),
        fingerprint(source, code, row),
        row.help,
        row.examples,
        row.max_steps,
    )


def _numbers(text: str, what: str) -> Iterator[int]:
    """The one that is named, or all from 0."""
    if not text:
        return count()
    if not text.isdecimal():
        raise InputError(f"expected a number from 0 as {what}, found {text!r}")
    return iter((int(text),))
