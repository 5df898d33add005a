"""Live Wikipedia as an article store, through its API: one request at a time, rate-limited, tried again, bounded.

Results with it change as the articles do; what was observed is recorded with the run. Pages are kept for look-ups, and
fetched again when they are no longer at hand, e.g. after a resume.
"""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from afterword._version import __version__
from afterword.errors import ArticlesUnreachable, InputError
from afterword.families.qa.articles import (
    SIMILAR_TITLES,
    Observation,
    first_sentences,
    not_found,
    nth_sentence,
)
from afterword.families.qa.question import sentences_of
from afterword.models import RetryNotice
from afterword.models.calls import keep_retries_quiet
from afterword.models.transport import is_loopback

if TYPE_CHECKING:
    import httpx

ENGLISH = "https://en.wikipedia.org/w/api.php"
MOST_REPLY_BYTES = 8_000_000
MOST_TITLE_BYTES = 255
"""The longest title that Wikipedia has."""
_MOST_PAGES = 64
_RETRIED = frozenset({429, 500, 502, 503, 504})
_LONGEST_WAIT_S = 60.0
_ILLEGAL = re.compile(r"[#<>\[\]|{}\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class WikipediaOptions:
    """How Wikipedia is asked."""

    url: str = ENGLISH
    """The API's address; another language or another MediaWiki has its own."""
    requests_per_minute: int = 60
    """Evenly: with 60 a request begins a second after the one before."""
    timeout_s: float = 20.0
    """Of one request."""
    max_tries: int = 4
    wait_s: float = 1.0
    """Before the second try; doubled for each further one. The server may ask for more."""
    on_retry: Callable[[RetryNotice], None] | None = None
    """Told of each try that failed and is followed by another."""


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    sentences: tuple[str, ...]


class _Pace:
    """Lets one request begin after the other, each a while after the one before."""

    def __init__(self, gap_s: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._gap_s = gap_s
        self._clock = clock
        self._sleep = sleep
        self._turn = anyio.Lock()
        self._next_at = clock()

    @asynccontextmanager
    async def request(self) -> AsyncIterator[None]:
        """Waits for its turn and its time, and keeps others out until it is over."""
        async with self._turn:
            while (wait_s := self._next_at - self._clock()) > 0:
                await self._sleep(wait_s)
            self._next_at = self._clock() + self._gap_s
            yield

    def hold(self, wait_s: float) -> None:
        """No request begins sooner than that: a server that asks one caller to wait means all."""
        self._next_at = max(self._next_at, self._clock() + wait_s)


class Wikipedia:
    """Articles of a MediaWiki with the extracts that Wikipedia has; opened by `open_wikipedia`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        options: WikipediaOptions,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._client = client
        self._options = options
        self._pace = _Pace(60 / options.requests_per_minute, clock, sleep)
        self._pages: OrderedDict[str, _Page] = OrderedDict()

    @property
    def name(self) -> str:
        return f"live {urlsplit(self._options.url).hostname}"

    async def search(self, title: str) -> Observation:
        """The first sentences of the article with this title, or titles like it.

        Raises:
            ArticlesUnreachable: no usable answer after the last try.
        """
        page = await self._page(title)
        if page is not None:
            return Observation(first_sentences(page.sentences), page.title)
        asked = {"list": "search", "srsearch": title[:MOST_TITLE_BYTES], "srlimit": str(SIMILAR_TITLES), "srprop": ""}
        found = (await self._query(asked)).get("search")
        rows = found if isinstance(found, list) else []
        return not_found(title, [str(row["title"]) for row in rows if isinstance(row, dict) and "title" in row])

    async def lookup(self, page: str, word: str, number: int) -> Observation:
        """The next sentence of an article that holds a word.

        Raises:
            ArticlesUnreachable: no usable answer after the last try.
        """
        found = await self._page(page)
        return Observation(nth_sentence(found.sentences if found else (), word, number), page)

    async def _page(self, title: str) -> _Page | None:
        """The article, redirects followed; None where there is none, or only a list of what a title may mean."""
        wanted = " ".join(_ILLEGAL.sub(" ", title).split()).strip(" \"'“”")
        if wanted in self._pages:
            self._pages.move_to_end(wanted)
            return self._pages[wanted]
        if not wanted or len(wanted.encode(errors="replace")) > MOST_TITLE_BYTES:
            return None
        asked = {"prop": "extracts|pageprops", "ppprop": "disambiguation", "explaintext": "1", "redirects": "1"}
        pages = (await self._query({**asked, "titles": wanted})).get("pages")
        row = pages[0] if isinstance(pages, list) and pages and isinstance(pages[0], dict) else {}
        extract = row.get("extract")
        if not isinstance(extract, str) or not extract.strip() or "pageprops" in row:
            return None
        page = _Page(str(row.get("title", wanted)), sentences_of(extract))
        for name in {wanted, page.title}:
            self._pages[name] = page
        while len(self._pages) > _MOST_PAGES:
            self._pages.popitem(last=False)
        return page

    async def _query(self, parameters: Mapping[str, str]) -> dict[str, object]:
        """What the API says to a query, tried again where that may help."""
        import stamina

        keep_retries_quiet()
        options, tried = self._options, 0

        def wait_before_next(error: Exception) -> bool | float:
            if not (isinstance(error, _TryFailed) and error.retry and tried < options.max_tries):
                return False
            wait_s = min(_LONGEST_WAIT_S, max(options.wait_s * 2.0 ** (tried - 1), error.retry_after_s))
            self._pace.hold(wait_s)
            if options.on_retry is not None:
                options.on_retry(RetryNotice(self.name, tried, options.max_tries, str(error), wait_s))
            return wait_s

        try:
            async for attempt in stamina.retry_context(on=wait_before_next, attempts=options.max_tries, timeout=None):
                with attempt:
                    tried += 1
                    async with self._pace.request():
                        return await self._asked({**parameters, "action": "query", "format": "json"})
        except _TryFailed as failed:
            tries = f"{tried} {'try' if tried == 1 else 'tries'}"
            raise ArticlesUnreachable(
                f"{self.name} gave no article: {failed} (after {tries}); try again later or give --articles FILE",
                store=options.url,
            ) from failed.__cause__
        raise AssertionError("unreachable: the last try returns or raises")

    async def _asked(self, parameters: Mapping[str, str]) -> dict[str, object]:
        import httpx

        body = bytearray()
        try:
            async with self._client.stream(
                "GET", self._options.url, params={**parameters, "formatversion": "2"}
            ) as response:
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > MOST_REPLY_BYTES:
                        raise _TryFailed(f"an answer of more than {MOST_REPLY_BYTES:,} bytes")
        except httpx.HTTPError as error:
            raise _TryFailed(f"{type(error).__name__} {error}".strip(), retry=True) from error
        if response.status_code != 200:
            wait_s = _seconds(response.headers.get("retry-after", ""))
            retry = response.status_code in _RETRIED
            raise _TryFailed(f"status {response.status_code}", retry=retry, retry_after_s=wait_s)
        return _query_of(bytes(body))


class _TryFailed(Exception):
    """One request that brought nothing."""

    def __init__(self, reason: str, *, retry: bool = False, retry_after_s: float = 0.0) -> None:
        self.retry = retry
        self.retry_after_s = retry_after_s
        super().__init__(reason)


def _query_of(body: bytes) -> dict[str, object]:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        raise _TryFailed("an answer that is not JSON", retry=True) from None
    query = answer.get("query") if isinstance(answer, dict) else None
    if isinstance(query, dict):
        return query
    error = answer.get("error") if isinstance(answer, dict) else None
    code = str(error.get("code", "")) if isinstance(error, dict) else ""
    raise _TryFailed(
        f"the error {code!r}" if code else "an answer without a result", retry=code in ("ratelimited", "maxlag")
    )


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,6}", text.strip()) else 0.0


@asynccontextmanager
async def open_wikipedia(options: WikipediaOptions | None = None) -> AsyncIterator[Wikipedia]:
    """Wikipedia, or another MediaWiki, as a store.

    Raises:
        InputError: the address is no address.
    """
    import httpx

    options = options or WikipediaOptions()
    parts = urlsplit(options.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"expected the address of an API like {ENGLISH}, found {options.url!r}")
    agent = {"User-Agent": f"afterword/{__version__} (a research tool; one request at a time)"}
    proxies = not is_loopback(options.url)
    async with httpx.AsyncClient(headers=agent, timeout=options.timeout_s, trust_env=proxies) as client:
        yield Wikipedia(client, options)
