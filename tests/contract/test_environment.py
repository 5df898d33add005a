"""What every environment promises, whatever world it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import anyio
import pytest

from afterword.core.protocols import Environment, EnvironmentStep
from afterword.families.decision import Locker, OwnWorld, WebShop, express_world, load_alfworld
from tests.conftest import find_data
from tests.families.decision.games import need_alfworld, need_express
from tests.families.decision.shop import shop

UNKNOWN = ("dance wildly", "", "\u00e9\u0000\u2028 ünknown", "x" * 5_000)


@dataclass(frozen=True)
class Subject:
    """A world, made anew at each call, and actions that win it."""

    make: Callable[[], Environment]
    winning: tuple[str, ...]


@contextmanager
def locker() -> Iterator[Subject]:
    yield Subject(Locker, ("open drawer 3", "take key", "unlock box", "open box", "take coin"))


class Door:
    """A world of a user's own, in Gymnasium's form."""

    def reset(self) -> tuple[str, dict[str, object]]:
        self.open = False
        return "A door.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]:
        self.open = self.open or action == "open door"
        done = self.open and action == "go"
        return ("Out." if done else "Open." if self.open else "Shut."), float(done), done, False, {}


@contextmanager
def own() -> Iterator[Subject]:
    yield Subject(lambda: OwnWorld(Door, "Door"), ("open door", "go"))


@contextmanager
def webshop() -> Iterator[Subject]:
    with shop() as url:
        yield Subject(lambda: WebShop(url, 3), ("search[socks]", "click[B000000001]", "click[m]", "click[Buy Now]"))


@contextmanager
def alfworld() -> Iterator[Subject]:
    need_alfworld()
    game = next(load_alfworld(find_data(), limit=1))
    yield Subject(game.open, game.walkthrough())


@contextmanager
def express() -> Iterator[Subject]:
    need_express()
    yield Subject(lambda: express_world("coin", 3), ("look around", "take coin"))


SUBJECTS: dict[str, Callable[[], AbstractContextManager[Subject]]] = {
    "locker": locker,
    "own": own,
    "webshop": webshop,
    "alfworld": alfworld,
    "express": express,
}


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with SUBJECTS[request.param]() as given:
        yield given


def play(subject: Subject, *trials: tuple[str, ...]) -> list[tuple[str, str, list[EnvironmentStep], str]]:
    """Of each trial: the first observation and fingerprint, the steps, and the fingerprint at its end."""

    async def main() -> list[tuple[str, str, list[EnvironmentStep], str]]:
        world = subject.make()
        try:
            played = []
            for actions in trials:
                first = await world.reset()
                fresh = await world.fingerprint()
                steps = [await world.step(action) for action in actions]
                played.append((first, fresh, steps, await world.fingerprint()))
            return played
        finally:
            await world.close()
            await world.close()

    return anyio.run(main)


def test_it_is_won_at_the_winning_action_and_at_no_other(subject: Subject) -> None:
    ((_, _, steps, _),) = play(subject, subject.winning)
    assert [step.won for step in steps] == [False] * (len(steps) - 1) + [True]
    assert steps[-1].done
    assert steps[-1].reward == 1.0


def test_a_reset_brings_back_the_same_world_and_the_same_answers(subject: Subject) -> None:
    one, other = play(subject, subject.winning, subject.winning)
    assert one == other


def test_two_worlds_of_one_task_are_equal(subject: Subject) -> None:
    assert play(subject, subject.winning[:1]) == play(subject, subject.winning[:1])


def test_the_fingerprint_tells_a_changed_world_from_a_fresh_one(subject: Subject) -> None:
    ((_, fresh, _, after),) = play(subject, subject.winning)
    assert fresh != after


def test_unknown_actions_are_observations_and_change_nothing(subject: Subject) -> None:
    ((_, _, steps, _),) = play(subject, (*UNKNOWN, *subject.winning))
    unknown = steps[: len(UNKNOWN)]
    assert not any(step.done or step.won for step in unknown)
    assert all(step.observation for step in unknown)
    assert steps[-1].won


def test_it_can_be_closed_before_it_was_opened(subject: Subject) -> None:
    anyio.run(subject.make().close)
