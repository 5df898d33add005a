"""WebShop over HTTP, against a small shop: what is shown, what can be done, and when it is won."""

from __future__ import annotations

import anyio
import pytest
from tests.families.decision.shop import GOAL, SECRET, shop

from afterword.core.protocols import EnvironmentStep
from afterword.errors import InputError, WorldFault
from afterword.families.decision import WebShop
from afterword.families.decision.worlds.webpage import read_page


def play(*actions: str, url: str | None = None) -> tuple[str, list[EnvironmentStep]]:
    async def main(address: str) -> tuple[str, list[EnvironmentStep]]:
        world = WebShop(address, 3)
        try:
            return await world.reset(), [await world.step(action) for action in actions]
        finally:
            await world.close()

    if url is not None:
        return anyio.run(main, url)
    with shop() as address:
        return anyio.run(main, address)


def test_the_start_page_shows_the_goal_and_where_to_search() -> None:
    first, _ = play()
    assert first == f"WebShop\nInstruction:\n{GOAL}\n[Search]"


def test_the_right_product_in_the_right_size_wins() -> None:
    _, steps = play("search[red socks]", "click[B000000001]", "click[m]", "click[Buy Now]")
    assert [step.done for step in steps] == [False, False, False, True]
    assert (steps[-1].won, steps[-1].reward) == (True, 1.0)
    assert "[B000000001]" in steps[0].observation
    assert "Woollen socks <warm>" in steps[0].observation
    assert "[s] [m]" in steps[1].observation.replace("\n", " ")


def test_another_purchase_ends_the_session_with_its_grade_and_is_not_won() -> None:
    _, steps = play("search[boots]", "click[b000000002]", "click[buy now]", "click[Buy Now]")
    assert (steps[2].done, steps[2].won, steps[2].reward) == (True, False, 0.5)
    assert (steps[3].done, steps[3].won) == (True, False)


def test_what_the_last_page_hides_stays_hidden() -> None:
    _, steps = play("search[boots]", "click[B000000002]", "click[Buy Now]")
    assert "Thank you" in steps[-1].observation
    assert SECRET not in steps[-1].observation


def test_scripts_titles_and_the_query_are_not_shown() -> None:
    first, steps = play("search[boots]")
    assert "not shown" not in first + steps[0].observation
    assert "never shown" not in first
    assert "Current Query" not in steps[0].observation


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("buy socks", "it is search[words] or click[label]"),
        ("click[Buy Now]", "there is no [Buy Now] on this page"),
        ("search[]", "needs words"),
        ("click[Search]", "there is no [Search]"),
    ],
)
def test_an_action_that_cannot_be_done_is_an_observation(action: str, said: str) -> None:
    _, steps = play(action, "search[socks]")
    assert said in steps[0].observation
    assert not steps[0].done
    assert "[B000000001]" in steps[1].observation


def test_an_option_that_is_chosen_is_marked_and_stays_so() -> None:
    _, steps = play("search[socks]", "click[B000000001]", "click[m]", "click[O'Red]", "click[Features]")
    assert "(chosen)" not in steps[1].observation
    assert "[s]\n[m] (chosen)\n" in steps[2].observation
    assert "[s]\n[m] (chosen)\n" in steps[3].observation
    assert "[o'red] (chosen)\n[black | white]\n" in steps[3].observation
    _, steps = play("search[socks]", "click[B000000001]", "click[m]", "click[s]", "click[Features]")
    assert "[s] (chosen)\n[m]\n" in steps[3].observation


def test_all_pages_of_a_shop_are_reached_by_what_they_offer() -> None:
    _, steps = play(
        "search[warm socks]",
        "click[Next >]",
        "click[< Prev]",
        "click[B000000001]",
        "click[m]",
        "click[Reviews]",
        "click[< Back to Item Page]",
        "click[< Back to Results]",
        "click[Back to Search]",
        "search[boots]",
    )
    told = [step.observation for step in steps]
    assert "Page 2 (11-20) of 14 total results" in told[1]
    assert "[C000000011]" in told[1]
    assert told[2] == told[0] == told[7]
    assert told[6] == told[4]
    assert "[Search]" in told[8]
    assert not any("Invalid" in text for text in told)
    assert not any(SECRET in text or "[old]" in text for text in told)


@pytest.mark.parametrize("words", ["wool/silk socks", "<c>", "a % b / c"])
def test_words_that_the_server_cannot_search_for_are_no_fault(words: str) -> None:
    _, steps = play(f"search[{words}]", "search[socks]")
    assert "cannot search for this" in steps[0].observation
    assert not steps[0].done
    assert "[B000000001]" in steps[1].observation


@pytest.mark.parametrize("words", ["50% wool", "it's [new]", 'a"b?c#d&e=f', "süß", "..", "'", "\\"])
def test_odd_words_are_searched_for(words: str) -> None:
    _, steps = play(f"search[{words}]", "click[B000000001]", "click[m]", "click[Buy Now]")
    assert steps[-1].won


def test_there_is_no_searching_where_there_is_no_field() -> None:
    _, steps = play("search[socks]", "search[boots]")
    assert "no search field" in steps[1].observation


def test_the_same_page_has_the_same_fingerprint_and_another_has_not() -> None:
    async def main() -> tuple[str, str, str]:
        with shop() as url:
            world = WebShop(url, 3)
            await world.reset()
            first = await world.fingerprint()
            await world.step("search[socks]")
            results = await world.fingerprint()
            await world.reset()
            again = await world.fingerprint()
            await world.close()
            return first, results, again

    first, results, again = anyio.run(main)
    assert first == again != results


def test_a_page_that_leads_elsewhere_is_a_fault() -> None:
    with pytest.raises(WorldFault, match="leads to another server"):
        play("search[socks]", "click[B000000001]", "click[Description]", "click[More]")


def test_a_server_that_is_not_there_is_a_fault_that_says_where() -> None:
    with shop() as url:
        gone = url
    with pytest.raises(WorldFault, match="cannot be reached"):
        play(url=gone)


def test_a_server_that_is_no_webshop_is_a_fault() -> None:
    with shop() as url, pytest.raises(WorldFault, match="answered 404"):
        play(url=f"{url}/other/")


@pytest.mark.parametrize("url", ["", "localhost:3000", "ftp://shop", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="--url takes the address"):
        WebShop(url, 0)


@pytest.mark.parametrize("html", ["", "<", "</h4></div>", "<h4 hidden>", "<form><button>", "\0<a href=''>x</a>"])
def test_a_broken_page_is_read_as_far_as_it_goes(html: str) -> None:
    page = read_page(html)
    assert page.search is None
    assert page.reward is None
