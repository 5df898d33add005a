"""The toy world: it can be won, starts anew, and does not mind what it is told."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.protocols import EnvironmentStep
from afterword.families.decision import Locker


def play(world: Locker, *actions: str) -> list[EnvironmentStep]:
    async def main() -> list[EnvironmentStep]:
        await world.reset()
        return [await world.step(action) for action in actions]

    return anyio.run(main)


@pytest.mark.parametrize("drawer", [1, 2, 3])
def test_it_is_won_with_the_key_of_the_right_drawer(drawer: int) -> None:
    steps = play(Locker(drawer), f"open drawer {drawer}", "Take key.", "unlock box", "open box", "take coin")
    assert [step.won for step in steps] == [False] * 4 + [True]
    assert steps[-1] == EnvironmentStep("You take the coin.", done=True, won=True, reward=1.0)


def test_the_box_stays_locked_without_the_key() -> None:
    steps = play(Locker(), "unlock box", "open box", "take coin", "take key")
    assert [step.observation for step in steps] == ["Nothing happens.", "The box is locked.", *["Nothing happens."] * 2]


def test_its_own_limit_is_an_end_and_no_success() -> None:
    assert play(Locker(max_steps=2), "look", "inventory")[-1] == EnvironmentStep("You have nothing.", done=True)


def test_a_drawer_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="drawer 1, 2 or 3"):
        Locker(4)


@given(st.lists(st.text(max_size=20), max_size=8))
def test_no_action_breaks_it_and_a_reset_brings_it_back(actions: list[str]) -> None:
    world = Locker()

    async def state() -> str:
        await world.reset()
        return await world.fingerprint()

    fresh = anyio.run(state)
    play(world, "open drawer 3", "take key", *actions)
    assert anyio.run(state) == fresh
