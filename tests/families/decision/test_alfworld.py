"""ALFWorld: the games of the data folder in both languages, and their walkthroughs."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from pathlib import Path

import anyio
import pytest
from tests.families.decision.games import need_alfworld

from afterword.core.records import Step
from afterword.errors import InputError, WorldFault
from afterword.families.decision import load_alfworld
from afterword.families.decision.examples import alfworld_examples, alfworld_help
from afterword.families.decision.walkthroughs import Played, Walkthroughs
from afterword.families.decision.worlds.alfworld import TASK_TYPES, AlfworldGame, game_process, pick, to_old_command


def played(games: list[AlfworldGame]) -> list[Played]:
    async def main() -> list[Played]:
        async with Walkthroughs() as player:
            return [await player.play(game) for game in games]

    return anyio.run(main)


def test_all_134_games_of_the_paper_are_there(data_dir: Path) -> None:
    games = list(load_alfworld(data_dir, "valid_unseen"))
    counts = Counter(game.task_type for game in games)
    assert [counts[kind] for kind in TASK_TYPES] == [24, 18, 31, 23, 21, 17]
    assert len({game.id for game in games}) == 134
    assert len({game.fingerprint() for game in games[:20]}) == 20


def test_the_old_language_differs_in_its_commands_and_keeps_the_problem(data_dir: Path) -> None:
    new, old = [next(load_alfworld(data_dir, language=language)) for language in ("new", "old")]
    assert new.content()["pddl_problem"] == old.content()["pddl_problem"]
    assert "put {o} in/on {r}" in str(old.content()["grammar"])
    assert f"Your task is to: {old.goal}" in str(old.content()["grammar"])
    assert "UNKNOWN GOAL" not in str(old.content()["grammar"])
    assert "walkthrough" not in old.content()
    assert new.fingerprint() != old.fingerprint()


def test_move_becomes_put_and_nothing_else_changes() -> None:
    assert to_old_command("move mug 1 to coffee machine 2") == "put mug 1 in/on coffee machine 2"
    assert to_old_command("take mug 1 from desk 1") == "take mug 1 from desk 1"


@pytest.mark.parametrize("language", ["new", "old"])
def test_each_game_has_two_examples_of_its_type_in_its_language(data_dir: Path, language: str) -> None:
    games = pick(list(load_alfworld(data_dir, language=language)), 1)
    assert [game.task_type for game in games] == list(TASK_TYPES)
    for game in games:
        examples = alfworld_examples(game)
        said = [step.action for example in examples for step in example.steps]
        seen = " ".join(step.observation for example in examples for step in example.steps)
        assert len(examples) == 2
        assert not any(action.startswith("put " if language == "new" else "move ") for action in said)
        assert ("You arrive at" in seen) is (language == "new")
        assert ("move THING to PLACE" in alfworld_help(game)) is (language == "new")
        assert all(step.observation for example in examples for step in example.steps)


def test_a_walkthrough_wins_and_the_world_starts_the_same_again(data_dir: Path) -> None:
    need_alfworld()
    game = next(load_alfworld(data_dir, language="old", limit=1))

    async def main() -> None:
        world = game.open()
        try:
            first, fresh = await world.reset(), await world.fingerprint()
            assert first.startswith("You are in the middle of a room.")
            assert "task" not in first
            *commands, last = game.walkthrough()
            answers = [await world.step(command) for command in commands]
            assert not any(answer.won or answer.done for answer in answers)
            assert not any("arrive at loc" in answer.observation for answer in answers)
            assert (await world.step("dance")).observation == "Nothing happens."
            won = await world.step(f"{last.capitalize()}.")
            assert (won.won, won.done, won.reward) == (True, True, 1.0)
            assert await world.fingerprint() != fresh
            assert (await world.reset(), await world.fingerprint()) == (first, fresh)
        finally:
            await world.close()

    anyio.run(main)


def test_a_game_whose_process_is_killed_is_a_fault_and_starts_again(data_dir: Path) -> None:
    need_alfworld()
    game = next(load_alfworld(data_dir, limit=1))

    async def main() -> None:
        host = game_process("g")
        await host.open({"file": str(game.file)})
        try:
            first = await host.reset()
            assert host.pid is not None
            os.kill(host.pid, signal.SIGKILL)
            with pytest.raises(WorldFault, match="the process of g has ended"):
                await host.step("look")
            assert await host.reset() == first
        finally:
            await host.close()

    anyio.run(main)


@pytest.mark.timeout(600)  # some ten seconds on an idle machine
def test_a_dozen_walkthroughs_win_in_the_old_language(data_dir: Path) -> None:
    need_alfworld()
    games = list(load_alfworld(data_dir, language="old"))
    assert [one.message for one in played(games)] == [""] * 12


@pytest.mark.slow
@pytest.mark.parametrize("language", ["new", "old"])
def test_all_134_walkthroughs_win(data_dir: Path, language: str) -> None:
    need_alfworld()
    results = played(list(load_alfworld(data_dir, "valid_unseen", language=language)))
    assert (len(results), sum(one.won for one in results)) == (134, 134)


def write_index(folder: Path, *rows: object) -> Path:
    (folder / "index.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


ROW = {"split": "valid_seen", "gamefile": "a/b/game.tw-pddl", "task_type": TASK_TYPES[0], "task": "put it."}


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected index\.jsonl of the ALFWorld games here"):
        next(load_alfworld(tmp_path))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**ROW, "task": 3}, "expected gamefile, task_type and task as texts"),
        (ROW, "names a game that is not there: a/b/game.tw-pddl"),
    ],
)
def test_a_wrong_index_is_told_with_its_line(tmp_path: Path, row: object, said: str) -> None:
    with pytest.raises(InputError, match=rf"index\.jsonl:1: {said}"):
        next(load_alfworld(write_index(tmp_path, row)))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_wrong_game_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "game.tw-pddl").write_text(text, encoding="utf-8")
    game = next(load_alfworld(write_index(tmp_path, ROW)))
    with pytest.raises(InputError, match=r"game\.tw-pddl: "):
        game.content()


@pytest.mark.parametrize("options", [{"split": "train"}, {"language": "french"}])
def test_an_unknown_split_or_language_is_refused(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(InputError, match="takes"):
        next(load_alfworld(tmp_path, **options))  # type: ignore[arg-type]


def test_the_old_language_needs_its_rules(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the old language needs alfred\.pddl and alfred\.twl2"):
        next(load_alfworld(write_index(tmp_path, ROW), language="old"))


def test_a_game_without_a_walkthrough_is_not_won(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "game.tw-pddl").write_text("{}", encoding="utf-8")
    game = next(load_alfworld(write_index(tmp_path, ROW)))
    assert played([game]) == [Played(False, 0, "the game has no walkthrough")]


def test_the_examples_show_nothing_that_the_rules_refuse(data_dir: Path) -> None:
    steps: list[Step] = []
    for game in pick(list(load_alfworld(data_dir)), 1):
        steps += [step for example in alfworld_examples(game) for step in example.steps]
    assert steps
    assert not any("nothing happens" in step.observation.lower() for step in steps)
