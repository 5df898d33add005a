"""From a source's name to its tasks: which sources there are, in which order, and what is refused."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.families.decision.tasks import SourceOptions, tasks_of


def ids(source: str, options: SourceOptions, limit: int = 3) -> list[str]:
    return [task.task.id for task in islice(tasks_of(source, options), limit)]


def test_seeds_of_a_game_begin_at_its_fold() -> None:
    tasks = list(islice(tasks_of("textworld-express:coin", SourceOptions(split="test")), 2))
    assert [task.task.id for task in tasks] == [f"textworld-express/coin/test/{seed}" for seed in (0, 1)]
    assert [task.task.inputs["seed"] for task in tasks] == [20_000, 20_001]
    assert tasks[0].fingerprint != tasks[1].fingerprint


def test_one_game_or_goal_can_be_named() -> None:
    assert ids("textworld-express:twc:7", SourceOptions()) == ["textworld-express/twc/train/7"]
    assert ids("webshop:12", SourceOptions(url="http://localhost:3000")) == ["webshop/12"]


def test_goals_of_a_shop_are_counted_from_0() -> None:
    assert ids("webshop", SourceOptions(url="http://localhost:3000")) == ["webshop/0", "webshop/1", "webshop/2"]


def test_games_of_a_split_keep_their_order_and_state_their_task(data_dir: Path) -> None:
    tasks = list(tasks_of("alfworld", SourceOptions(data=data_dir)))
    assert len(tasks) == 12
    assert all(task.task.instructions.startswith("Your task is to: ") for task in tasks)
    assert all(len(task.examples) == 2 for task in tasks)
    assert len({task.fingerprint for task in tasks}) == 12


def test_another_language_is_another_task(data_dir: Path) -> None:
    new, old = [next(tasks_of("alfworld", SourceOptions(data_dir, language=language))) for language in ("new", "old")]
    assert new.task.id == old.task.id
    assert new.fingerprint != old.fingerprint


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("alfworld", SourceOptions(), "alfworld needs --data"),
        ("alfworld", SourceOptions(url="http://x"), "--url is for webshop"),
        ("webshop", SourceOptions(language="old", url="http://x"), "--language is for alfworld"),
        ("textworld-express:coin", SourceOptions(tasks=Path("t")), "--tasks is for module:Class"),
        ("webshop:-1", SourceOptions(url="http://x"), "expected a number from 0"),
        ("chess", SourceOptions(), "unknown source 'chess'"),
    ],
)
def test_what_does_not_fit_is_refused(source: str, options: SourceOptions, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(islice(tasks_of(source, options), 1))
