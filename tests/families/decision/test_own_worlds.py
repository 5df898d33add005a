"""Worlds of the user's own: by import path, in two forms, with what they are made with; bad ones in one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from afterword.core.protocols import EnvironmentStep
from afterword.core.records import Step
from afterword.errors import InputError, WorldFault
from afterword.families.decision import OwnWorld, world_class
from afterword.families.decision.rows import WorldTask, read_world_tasks
from afterword.families.decision.worlds.own import source_digest

MODULE = """
from afterword import EnvironmentStep

class Counter:
    def __init__(self, goal, start=0):
        self.goal, self.start = goal, start

    async def reset(self):
        self.at = self.start
        return f"You are at {self.at}."

    async def step(self, action):
        self.at += action == "up"
        return EnvironmentStep(f"You are at {self.at}.", won=self.at == self.goal)

class Gym:
    closed = False

    def reset(self):
        return "Go.", {}

    def step(self, action):
        return "Gone.", float(action), action == "1", action == "stop", {}

    def close(self):
        type(self).closed = True

class Stated(Gym):
    def step(self, action):
        return "Gone.", 0.0, True, False, {"won": True}

    def fingerprint(self):
        return "one"

class Broken:
    def reset(self):
        raise KeyError("door")

    def step(self, action):
        return action

class Half:
    def reset(self):
        return ""

class Quits:
    def reset(self):
        return "Here."

    def step(self, action):
        raise SystemExit(0)

class Says:
    def reset(self):
        return "x" * 1_000_000

    def step(self, action):
        return {
            "yes": EnvironmentStep("", won="false"),
            "over": EnvironmentStep("", done=1),
            "much": EnvironmentStep("", reward=5.0),
            "nan": EnvironmentStep("", reward=float("nan")),
            "words": EnvironmentStep("", reward="all"),
            "long": EnvironmentStep("x" * 1_000_000),
        }[action]

number = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the module `worlds_of_…`, a name of its own for each test."""
    (tmp_path / f"{name(tmp_path)}.py").write_text(MODULE, encoding="utf-8")
    yield tmp_path
    sys.modules.pop(name(tmp_path), None)
    if str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


def name(folder: Path) -> str:
    return f"worlds_of_{abs(hash(str(folder)))}"


def opened(folder: Path, which: str, **arguments: object) -> OwnWorld:
    make = world_class(f"{name(folder)}:{which}", folder)
    return OwnWorld(lambda: make(**arguments), which)


def play(world: OwnWorld, *actions: str) -> tuple[str, list[EnvironmentStep], str]:
    async def main() -> tuple[str, list[EnvironmentStep], str]:
        try:
            first = await world.reset()
            return first, [await world.step(action) for action in actions], await world.fingerprint()
        finally:
            await world.close()

    return anyio.run(main)


def test_an_asynchronous_world_is_made_with_its_arguments(folder: Path) -> None:
    first, steps, _ = play(opened(folder, "Counter", goal=2, start=1), "up")
    assert first == "You are at 1."
    assert steps == [EnvironmentStep("You are at 2.", won=True)]


def test_a_world_in_the_form_of_gymnasium_works(folder: Path) -> None:
    first, steps, _ = play(opened(folder, "Gym"), "0.5", "1")
    assert first == "Go."
    assert steps == [EnvironmentStep("Gone.", reward=0.5), EnvironmentStep("Gone.", done=True, won=True, reward=1.0)]
    assert sys.modules[name(folder)].Gym.closed


def test_what_info_says_of_winning_counts(folder: Path) -> None:
    _, steps, fingerprint = play(opened(folder, "Stated"), "x")
    assert steps == [EnvironmentStep("Gone.", done=True, won=True)]
    assert fingerprint == "one"


def test_without_a_fingerprint_the_last_observation_stands_for_the_state(folder: Path) -> None:
    _, _, one = play(opened(folder, "Counter", goal=9))
    _, _, same = play(opened(folder, "Counter", goal=9))
    _, _, other = play(opened(folder, "Counter", goal=9), "up")
    assert one == same != other


def test_what_a_world_raises_is_a_fault_with_its_name(folder: Path) -> None:
    with pytest.raises(WorldFault, match=r"Broken: reset raised KeyError: 'door'"):
        play(opened(folder, "Broken"))


def test_a_step_of_another_form_is_a_fault() -> None:
    class Odd:
        def reset(self) -> str:
            return "Go."

        def step(self, action: str) -> str:
            return action

    with pytest.raises(WorldFault, match="must return an EnvironmentStep or Gymnasium's five values, found 'x'"):
        play(OwnWorld(Odd, "Odd"), "x")


def test_a_step_before_the_reset_is_a_fault() -> None:
    with pytest.raises(WorldFault, match="reset it first"):
        anyio.run(OwnWorld(object, "World").step, "x")


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("{module}:Nobody", "has no 'Nobody'"),
        ("{module}:number", "is no class or function but int"),
        ("{module}:Half", "has no method step"),
        ("no_such_module_here:World", "there is no module 'no_such_module_here'"),
        ("no spaces:World", "expected an environment as module:Class"),
        ("{module}:", "expected an environment as module:Class"),
    ],
)
def test_what_is_no_world_is_refused_in_one_line(folder: Path, which: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        world_class(which.format(module=name(folder)), folder)
    assert "\n" not in str(caught.value)


def test_a_module_that_cannot_be_imported_is_told_with_its_error(folder: Path) -> None:
    (folder / f"{name(folder)}.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be imported: ZeroDivisionError"):
        world_class(f"{name(folder)}:Gym", folder)


def test_a_module_that_lacks_another_one_says_which(folder: Path) -> None:
    (folder / f"{name(folder)}.py").write_text("import no_such_thing_here\n", encoding="utf-8")
    with pytest.raises(InputError, match="needs the module 'no_such_thing_here', which is not installed"):
        world_class(f"{name(folder)}:Gym", folder)


def make(goal: int, start: int = 0) -> object:
    return goal + start


def read(file: Path, text: str) -> list[WorldTask]:
    file.write_text(text, encoding="utf-8")
    return list(read_world_tasks(file, make, "m:make"))


def test_tasks_are_read_from_lines_of_json(tmp_path: Path) -> None:
    line = (
        '{"id": "a", "instructions": "Count.", "args": {"goal": 2}, "help": "up", "max_steps": 5, '
        '"examples": [{"goal": "g", "start": "s", "play": "> up\\nDone."}]}'
    )
    (task,) = read(tmp_path / "t.jsonl", line + "\n\n")
    assert (task.id, task.args, task.help, task.max_steps) == ("a", {"goal": 2}, "up", 5)
    assert task.examples[0].steps == (Step(action="up", observation="Done."),)


def test_tasks_are_read_from_toml(tmp_path: Path) -> None:
    text = '[[task]]\nid = "a"\ninstructions = "Count."\nargs = {goal = 2}\n'
    assert read(tmp_path / "t.toml", text) == [WorldTask("a", "Count.", {"goal": 2})]


ROW = '{"id": "a", "instructions": "x", "args": {"goal": 1}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "found an empty file"),
        ("nonsense\n", ":1: expected one JSON object a line"),
        ("[1]\n", ":1: expected a JSON object, found list"),
        ('{"id": "a"}\n', ":1: expected 'instructions'"),
        ('{"id": " ", "instructions": "x", "args": {"goal": 1}}\n', ":1: id is empty"),
        ('{"id": 3, "instructions": "x"}\n', ":1: id is a text, found 3"),
        ('{"id": "a\\u0000", "instructions": "x", "args": {"goal": 1}}\n', "one short line of text"),
        (f'{ROW}, "arg": 1}}\n', ":1: unknown key 'arg'"),
        (f"{ROW}}}\n{ROW}}}\n", ":2: the id 'a' is there already, as number 1"),
        ('{"id": "a", "instructions": "x"}\n', ":1: the args do not fit m:make: missing a required argument: 'goal'"),
        ('{"id": "a", "instructions": "x", "args": {"goal": 1, "gaol": 2}}\n', "unexpected keyword argument 'gaol'"),
        ('{"id": "a", "instructions": "x", "args": [1]}\n', ":1: args are the arguments of the class by name"),
        (f'{ROW}, "max_steps": true}}\n', ":1: max_steps is a number from 1"),
        (f'{ROW}, "examples": [{{"goal": "g"}}]}}\n', ":1: an example has goal, start and play"),
        (f'{ROW}, "examples": [{{"goal": "g", "start": "s", "play": "up"}}]}}\n', "has no move"),
    ],
)
def test_a_bad_file_is_one_line_that_says_where(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        read(tmp_path / "t.jsonl", text)
    assert "\n" not in str(caught.value)


def test_a_date_of_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="args hold a date"):
        read(tmp_path / "t.toml", '[[task]]\nid = "a"\ninstructions = "x"\nargs = {goal = 2026-12-01}\n')


def test_a_changed_world_is_another_task(folder: Path) -> None:

    found = []
    for text in (MODULE, f"{MODULE}\n# changed\n"):
        (folder / f"{name(folder)}.py").write_text(text, encoding="utf-8")
        make = world_class(f"{name(folder)}:Gym", folder)
        found.append(source_digest(make))
    assert found[0] != found[1]
    assert source_digest(int) == ""


@pytest.mark.parametrize("text", ["task = 3\n", "[[task]]\nid = \n", 'other = 1\n[[task]]\nid = "a"\n', ""])
def test_bad_toml_is_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"t\.toml"):
        read(tmp_path / "t.toml", text)


def test_a_world_that_exits_ends_its_trial_and_not_the_run(folder: Path) -> None:
    with pytest.raises(WorldFault, match="Quits: step raised SystemExit: 0"):
        play(opened(folder, "Quits"), "go")


def test_a_module_that_exits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "module_that_exits.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(InputError, match="'module_that_exits' cannot be imported: SystemExit: 0"):
        world_class("module_that_exits:World", tmp_path)
    sys.path.remove(str(tmp_path))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("yes", "must say True or False as won, found 'false'"),
        ("over", "must say True or False as done, found 1"),
        ("much", "must give a reward from 0 to 1, found 5.0"),
        ("nan", "must give a reward from 0 to 1, found nan"),
        ("words", "must give a reward from 0 to 1, found 'all'"),
    ],
)
def test_what_is_no_verdict_of_a_world_is_a_fault(folder: Path, action: str, said: str) -> None:
    with pytest.raises(WorldFault, match=said):
        play(opened(folder, "Says"), action)


def test_what_a_world_says_is_bounded_before_it_is_kept(folder: Path) -> None:
    first, (step,), _ = play(opened(folder, "Says"), "long")
    assert max(len(first), len(step.observation)) < 101_000
    assert "900,000 characters cut" in step.observation
