"""TextWorld Express: games from seeds, equal after each reset, won by their winning moves."""

from __future__ import annotations

import anyio
import pytest
from tests.families.decision.games import need_express

from afterword.errors import InputError, MissingExtra, WorldFault
from afterword.families.decision import express_world
from afterword.families.decision.worlds.child import ChildWorld


def test_a_game_is_won_and_starts_the_same_again() -> None:
    need_express()

    async def main() -> None:
        world = express_world("coin", 3)
        try:
            first, fresh = await world.reset(), await world.fingerprint()
            assert "find the coin" in first
            assert "take coin" in first.split("Possible actions:")[1]
            assert "take coin" in (await world.step("Help.")).observation
            wrong = await world.step("fly to the moon")
            assert (wrong.done, wrong.won) == (False, False)
            won = await world.step("Take coin.")
            assert (won.won, won.done, won.reward) == (True, True, 1.0)
            assert (await world.reset(), await world.fingerprint()) == (first, fresh)
        finally:
            await world.close()

    anyio.run(main)


def test_another_seed_is_another_game() -> None:
    need_express()

    async def main() -> list[str]:
        found = []
        for seed in (1, 2):
            world = express_world("twc", seed)
            try:
                await world.reset()
                found.append(await world.fingerprint())
            finally:
                await world.close()
        return found

    one, other = anyio.run(main)
    assert one != other


def test_an_unknown_game_or_fold_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'coin'"):
        express_world("coins")
    with pytest.raises(InputError, match="--split takes train, dev, test"):
        express_world("coin", fold="valid_seen")


def run(world: ChildWorld) -> None:
    async def main() -> None:
        try:
            await world.reset()
        finally:
            await world.close()

    anyio.run(main)


def test_a_world_whose_program_is_not_there_is_a_fault_with_its_last_words() -> None:
    with pytest.raises(WorldFault, match=r"has ended: .*No module named"):
        run(ChildWorld("afterword.no_such_world", {}, name="w", package="alfworld"))


def test_a_world_that_cannot_be_opened_says_why() -> None:
    need_express()
    with pytest.raises(WorldFault, match="KeyError: 'seed'"):
        run(ChildWorld("afterword.families.decision.worlds.textworld_express_child", {}, name="w", package="x"))


def test_a_world_that_gives_no_answer_in_time_is_a_fault() -> None:
    module = "tests.families.decision.sleeping_child"
    with pytest.raises(WorldFault, match="gave no answer within"):
        run(ChildWorld(module, {}, name="w", package="x", timeout_s=1.0))


def test_a_missing_library_names_the_extra() -> None:
    with pytest.raises(MissingExtra, match=r"alfworld is not installed; run: pip install 'afterword\[games\]'"):
        run(ChildWorld("tests.families.decision.lacking_child", {}, name="w", package="alfworld"))


def test_a_world_that_was_never_opened_can_be_closed() -> None:
    anyio.run(express_world("coin").close)
