"""Live Wikipedia against a server on loopback that speaks its API, or misbehaves."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx
import pytest
from tests.models.server import Http, Plan, Served, serving

from afterword.errors import ArticlesUnreachable, InputError
from afterword.families.qa.question import sentences_of
from afterword.families.qa.wikipedia import Wikipedia, WikipediaOptions, open_wikipedia
from afterword.models import RetryNotice

T = TypeVar("T")

EXTRACT = (
    "Jørn Oberg Utzon was an architect. He was born in Copenhagen in 1918.\n\n"
    "== Work ==\nThe opera house opened in 1973. Its shells are of concrete. It is known to all. One more. Last."
)


def answered(query: dict[str, object]) -> Http:
    return Http(body=json.dumps({"batchcomplete": True, "query": query}).encode())


def asked(served: Served) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(served.paths[-1]).query).items()}


def encyclopedia(served: Served) -> Http:
    """Answers as the API does: one article, a redirect to it, a list of meanings, and a search."""
    query = asked(served)
    if query.get("list") == "search":
        return answered({"search": [{"title": "Jørn Utzon"}, {"title": "Sydney Opera House"}]})
    title = query["titles"]
    if title in ("Jørn Utzon", "Utzon"):
        return answered({"pages": [{"pageid": 1, "title": "Jørn Utzon", "extract": EXTRACT}]})
    if title == "Mercury":
        pages = [
            {"pageid": 2, "title": "Mercury", "extract": "Mercury may refer to:", "pageprops": {"disambiguation": ""}}
        ]
        return answered({"pages": pages})
    return answered({"pages": [{"title": title, "missing": True}]})


def with_store(
    plan: Plan, use: Callable[[Wikipedia, Served], Awaitable[T]], *, max_tries: int = 3, timeout_s: float = 5.0
) -> T:
    async def main() -> T:
        async with serving(plan=plan) as served:
            options = WikipediaOptions(f"{served.url}/api.php", 10_000, timeout_s, max_tries, wait_s=0.0)
            async with open_wikipedia(options) as store:
                return await use(store, served)

    return anyio.run(main)


def test_an_article_is_found_and_looked_up_in_without_asking_again() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        found = await store.search("Utzon")
        assert found.page == "Jørn Utzon"
        assert found.text.startswith("Jørn Oberg Utzon was an architect. He was born in Copenhagen in 1918.")
        assert "Work" not in found.text
        assert "One more" not in found.text
        assert (await store.lookup(found.page, "1973", 1)).text == "(Result 1 of 1) The opera house opened in 1973."
        assert (await store.search(' "Jørn Utzon"')).page == "Jørn Utzon"
        assert len(served.paths) == 1

    with_store(encyclopedia, use)


def test_the_request_says_who_asks_and_in_which_form() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        await store.search("Utzon")
        assert served.headers[-1]["user-agent"].startswith("afterword/")
        query = asked(served)
        assert (query["action"], query["format"], query["formatversion"]) == ("query", "json", "2")
        assert query["redirects"] == "1"

    with_store(encyclopedia, use)


@pytest.mark.parametrize("title", ["Opera architect", "Mercury"])
def test_no_article_and_a_list_of_meanings_bring_similar_titles(title: str) -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        found = await store.search(title)
        assert found.page == ""
        assert found.text == f'There is no article "{title}". Similar titles: Jørn Utzon; Sydney Opera House.'

    with_store(encyclopedia, use)


def test_a_title_that_cannot_be_one_is_only_searched_for() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        for title in ("[[|]]", "x" * 300):
            assert (await store.search(title)).page == ""
        assert all(urlsplit(path).query.find("titles=") < 0 for path in served.paths)

    with_store(encyclopedia, use)


def test_a_page_that_is_no_longer_at_hand_is_fetched_again_for_a_look_up() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        assert "Copenhagen" in (await store.lookup("Jørn Utzon", "1918", 1)).text
        assert len(served.paths) == 1

    with_store(encyclopedia, use)


TROUBLES = {
    "busy": Http(429, b"slow down", (("Retry-After", "0"),)),
    "broken": Http(503, b""),
    "no JSON": Http(body=b"<html>"),
    "cut": Http(body=b'{"query": {"pages": []}}', cut=True),
    "rate limited in the body": Http(body=b'{"error": {"code": "ratelimited"}}'),
}


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_what_may_pass_is_tried_again(trouble: Http) -> None:
    def plan(served: Served) -> Http:
        return trouble if len(served.paths) < 3 else encyclopedia(served)

    async def use(store: Wikipedia, served: Served) -> None:
        assert (await store.search("Utzon")).page == "Jørn Utzon"
        assert len(served.paths) == 3

    with_store(plan, use)


HOPELESS = {
    "still busy": (Http(429, b""), 3, "status 429"),
    "refused": (Http(403, b""), 1, "status 403"),
    "a redirect to somewhere else": (Http(302, b"", (("Location", "http://127.0.0.1:9/"),)), 1, "status 302"),
    "an error of the API": (Http(body=b'{"error": {"code": "badvalue"}}'), 1, "'badvalue'"),
    "another form": (Http(body=b"[]"), 1, "without a result"),
    "too large": (Http(body=b" " * 8_000_001), 1, "more than 8,000,000 bytes"),
}


@pytest.mark.parametrize(("trouble", "tries", "told"), HOPELESS.values(), ids=HOPELESS)
def test_no_usable_answer_is_a_fault_and_never_an_observation(trouble: Http, tries: int, told: str) -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        with pytest.raises(ArticlesUnreachable, match=told) as caught:
            await store.search("Utzon")
        assert len(served.paths) == tries
        assert served.url in caught.value.store

    with_store(lambda _: trouble, use)


def test_a_server_that_never_answers_is_given_up() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        with pytest.raises(ArticlesUnreachable, match="Timeout"):
            await store.search("Utzon")

    with_store(lambda _: Http(hang=True), use, max_tries=1, timeout_s=0.2)


def test_one_request_at_a_time_is_made() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(store.search, f"Nobody {number}")
        assert served.most_at_once == 1

    with_store(encyclopedia, use)


def test_requests_begin_evenly_and_all_of_them_wait_where_the_server_says_so() -> None:
    now = 0.0
    waits: list[float] = []
    told: list[RetryNotice] = []

    async def sleep(wait_s: float) -> None:
        nonlocal now
        waits.append(wait_s)
        now += wait_s

    def plan(served: Served) -> Http:
        refused = Http(429, b"", (("Retry-After", "1"),))
        return refused if len(served.paths) == 3 else encyclopedia(served)

    async def main() -> None:
        async with serving(plan=plan) as served, httpx.AsyncClient() as client:
            options = WikipediaOptions(f"{served.url}/api.php", 6, wait_s=0.0, on_retry=told.append)
            store = Wikipedia(client, options, clock=lambda: now, sleep=sleep)
            for title in ("Utzon", "Mercury"):  # the second one takes a search besides
                await store.search(title)
            assert len(served.paths) == 4

    anyio.run(main)
    assert waits == [10.0, 10.0, 10.0]
    assert [(notice.reason, notice.tried, notice.wait_s) for notice in told] == [("status 429", 1, 1.0)]


def test_what_the_server_asks_one_caller_to_wait_holds_for_all() -> None:
    now = 0.0
    waits: list[float] = []

    async def sleep(wait_s: float) -> None:
        nonlocal now
        waits.append(wait_s)
        now += wait_s

    def plan(served: Served) -> Http:
        return Http(503, b"", (("Retry-After", "2"),)) if len(served.paths) == 1 else encyclopedia(served)

    async def main() -> None:
        async with serving(plan=plan) as served, httpx.AsyncClient() as client:
            options = WikipediaOptions(f"{served.url}/api.php", 60_000, wait_s=0.0)
            store = Wikipedia(client, options, clock=lambda: now, sleep=sleep)
            async with anyio.create_task_group() as group:
                group.start_soon(store.search, "Utzon")
                group.start_soon(store.search, "Jørn Utzon")

    anyio.run(main)
    assert max(waits) == pytest.approx(2.0, abs=0.01)


def test_tries_leave_no_log_on_a_bare_stderr() -> None:
    async def use(store: Wikipedia, served: Served) -> None:
        await store.search("Utzon")
        assert len(served.paths) == 2

    with_store(lambda served: Http(500, b"") if len(served.paths) == 1 else encyclopedia(served), use)
    assert logging.getLogger("stamina").handlers


def test_a_wrong_address_is_refused_at_once() -> None:
    async def main() -> None:
        async with open_wikipedia(WikipediaOptions("en.wikipedia.org")):
            pass

    with pytest.raises(InputError, match="address of an API"):
        anyio.run(main)


def test_an_extract_is_split_into_sentences() -> None:
    assert sentences_of('A b. "C d." E f! No. 5 is 3.5 m.\n\n== H ==\n\nG h') == (
        "A b.",
        '"C d."',
        "E f!",
        "No. 5 is 3.5 m.",
        "G h",
    )
