"""ALFWorld: the games of a data folder, in the command language of today or in that of the paper.

The released games were rewritten since the paper: `put X in/on Y` became `move X to Y`, and every published prompt says
`put`. Whoever repeats the paper's runs needs its language back, which the old domain and grammar give.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from afterword.core.effects import fingerprint
from afterword.core.protocols import EnvironmentStep
from afterword.errors import InputError
from afterword.families.decision.worlds.child import ChildWorld
from afterword.files import json_lines

Language = Literal["new", "old"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
SPLITS = ("valid_seen", "valid_unseen")
TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
_CHILD = "afterword.families.decision.worlds.alfworld_child"
_WELCOME = re.compile(r"-= Welcome to TextWorld, ALFRED! =-\s*")
_TASK_LINE = re.compile(r"\s*Your task is to: [^\n]*")
_LOCATION = re.compile(r"\AYou arrive at loc \d+\. ")
_MOVE = re.compile(r"\Amove (.+) to (.+)\Z")


@dataclass(frozen=True, slots=True)
class AlfworldGame:
    """One game: where it is, what is to be done in it, and in which language."""

    id: str
    file: Path
    task_type: str
    goal: str
    language: Language
    rules: tuple[str, str] | None = None
    """The old domain and grammar, for the old language."""

    @property
    def instructions(self) -> str:
        """The task as the game states it."""
        return f"Your task is to: {self.goal}"

    def content(self) -> dict[str, object]:
        """The game file's content, in the language of this game.

        Raises:
            InputError: it cannot be read, or is no game.
        """
        game = _read_json(self.file)
        if "pddl_problem" not in game or "grammar" not in game:
            raise InputError("expected a game with pddl_problem and grammar; this is none", file=self.file)
        if self.rules is None:
            return game
        domain, grammar = self.rules
        problem = {key: value for key, value in game.items() if key != "walkthrough"}
        return {**problem, "pddl_domain": domain, "grammar": grammar.replace("UNKNOWN GOAL.", self.goal)}

    def walkthrough(self) -> tuple[str, ...]:
        """Commands that win, in the language of this game; none where the file has none.

        Raises:
            InputError: the file cannot be read.
        """
        commands = _read_json(self.file).get("walkthrough")
        if not isinstance(commands, list):
            return ()
        return tuple(str(command) if self.rules is None else to_old_command(str(command)) for command in commands)

    def fingerprint(self) -> str:
        """Changes with every byte that the game is made of."""
        return fingerprint(self.content(), self.language)

    def open(self, host: ChildWorld | None = None) -> AlfworldWorld:
        """The world of this game; nothing is started before its first reset.

        `host` is a process that has played other games; it is left open when this world is closed.
        """
        return AlfworldWorld(self, host)


class AlfworldWorld:
    """A game of ALFWorld as an environment: its process, and its texts without what says nothing."""

    def __init__(self, game: AlfworldGame, host: ChildWorld | None = None) -> None:
        self._game = game
        self._host = host
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._child: ChildWorld | None = None

    async def reset(self) -> str:
        """What there is to see at first; the welcome and the task, which the prompt has anyway, are left out.

        Raises:
            InputError: the game file cannot be read.
            MissingExtra: the library is not installed.
            WorldFault: the game broke.
        """
        if self._child is None:
            self._child = await self._start()
        return _TASK_LINE.sub("", _WELCOME.sub("", await self._child.reset())).strip()

    async def step(self, action: str) -> EnvironmentStep:
        """One command; case and a full stop at its end do not matter."""
        if self._child is None:
            self._child = await self._start()
        command = " ".join(action.lower().split()).removesuffix(".")
        answer = await self._child.step(command or "look")
        observation = answer.observation.strip()
        if self._game.language == "old":
            observation = _LOCATION.sub("", observation)
        return EnvironmentStep(observation, answer.done, answer.won, answer.reward)

    async def fingerprint(self) -> str:
        """A hash of the facts that hold in the game."""
        if self._child is None:
            self._child = await self._start()
        return await self._child.fingerprint()

    async def close(self) -> None:
        """Ends the game."""
        if self._child is not None and self._child is not self._host:
            await self._child.close()
        self._child = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    async def _start(self) -> ChildWorld:
        file = self._game.file
        if self._game.rules is not None:
            self._folder = tempfile.TemporaryDirectory(prefix="afterword-game-")
            file = Path(self._folder.name) / "game.tw-pddl"
            file.write_text(json.dumps(self._game.content()), encoding="utf-8")
        child = self._host or game_process(f"the game {self._game.id}")
        await child.open({"file": str(file)})
        return child


def game_process(name: str) -> ChildWorld:
    """A process that plays games one after the other; it is started with its first one."""
    return ChildWorld(_CHILD, {}, name=name, package="alfworld")


def load_alfworld(
    folder: Path, split: str = "valid_seen", *, language: str = "new", limit: int | None = None
) -> Iterator[AlfworldGame]:
    """The games of a split, in the order of its index; `folder` holds `index.jsonl`, or `alfworld` that does.

    Raises:
        InputError: an unknown split or language, or the folder lacks a file or has a wrong one.
    """
    if language not in LANGUAGES:
        raise InputError(f"--language takes {' or '.join(LANGUAGES)}, found {language!r}")
    if split not in SPLITS:
        raise InputError(f"--split takes {' or '.join(SPLITS)}, found {split!r}")
    root = next((place for place in (folder, folder / "alfworld") if (place / "index.jsonl").is_file()), None)
    if root is None:
        raise InputError(
            "expected index.jsonl of the ALFWorld games here; docs/data.md says how to get them", file=folder
        )
    chosen: Language = "old" if language == "old" else "new"
    rules = _old_rules(root) if chosen == "old" else None
    games = 0
    for number, row in json_lines(root / "index.jsonl"):
        if row.get("split") != split:
            continue
        if limit is not None and games == limit:
            return
        games += 1
        yield _game(root, row, chosen, rules, number)


def to_old_command(command: str) -> str:
    """A command of today's games in the language of the paper's."""
    return _MOVE.sub(r"put \1 in/on \2", command)


def pick(games: Sequence[AlfworldGame], per_type: int) -> list[AlfworldGame]:
    """The first so many games of each task type."""
    return [game for kind in TASK_TYPES for game in [one for one in games if one.task_type == kind][:per_type]]


def _game(
    root: Path, row: Mapping[str, object], language: Language, rules: tuple[str, str] | None, number: int
) -> AlfworldGame:
    index = root / "index.jsonl"
    texts = {key: row.get(key) for key in ("gamefile", "task_type", "task")}
    if not all(isinstance(text, str) and text for text in texts.values()):
        raise InputError("expected gamefile, task_type and task as texts", file=index, line=number)
    file = root / str(texts["gamefile"])
    if not file.is_file():
        raise InputError(f"names a game that is not there: {texts['gamefile']}", file=index, line=number)
    name = "/".join(file.parts[-3:-1])
    return AlfworldGame(name, file, str(texts["task_type"]), str(texts["task"]), language, rules)


def _old_rules(root: Path) -> tuple[str, str]:
    folder = root / "legacy"
    try:
        return (folder / "alfred.pddl").read_text("utf-8"), (folder / "alfred.twl2").read_text("utf-8")
    except OSError as error:
        raise InputError(
            f"the old language needs alfred.pddl and alfred.twl2 here: {error.strerror}", file=folder
        ) from None


def _read_json(file: Path) -> dict[str, object]:
    try:
        value: object = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"the game cannot be read: {error.strerror}", file=file) from None
    except ValueError as error:
        raise InputError(f"the game is not JSON: {error}", file=file) from None
    if not isinstance(value, dict):
        raise InputError("expected a game as a JSON object", file=file)
    return value
