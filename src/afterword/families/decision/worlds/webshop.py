"""WebShop over HTTP: a client of a running WebShop server, which has the products and gives the score.

The server is the user's (its data are 5 GB); here are two actions, `search[words]` and `click[label]`, over the pages
that it serves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from afterword.core.effects import fingerprint
from afterword.core.protocols import EnvironmentStep
from afterword.errors import InputError, WorldFault
from afterword.families.decision.worlds.webpage import Page, Press, read_page
from afterword.models.transport import is_loopback

if TYPE_CHECKING:
    import httpx

MAX_PAGE_BYTES = 2_000_000
_ACTION = re.compile(r"\s*(search|click)\s*\[(.*)\]\s*\.?\s*\Z", re.IGNORECASE | re.DOTALL)
_QUERY = re.compile(r"Current Query:")


class WebShop:
    """One shopping goal of a server, by its number.

    `reset` shows the start page, with the goal. An episode is over once something is bought; it is won when the server
    scores it 1, and a lower score is its grade (the paper counts the share of full scores).
    """

    def __init__(self, url: str, goal: int, *, timeout_s: float = 30.0) -> None:
        """Raises `InputError` where `url` is no address of a server."""
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise InputError(f"--url takes the address of a WebShop server, e.g. http://localhost:3000, found {url!r}")
        self._url = url.rstrip("/") + "/"
        self._goal = goal
        self._timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None
        self._at = self._url
        self._page = Page()
        self._over = False

    async def reset(self) -> str:
        """The start page of this goal.

        Raises:
            WorldFault: the server cannot be reached, or answers otherwise than a WebShop does.
        """
        self._over = False
        await self._go(Press("get", self._start))
        if self._page.search is None:
            raise WorldFault(f"{self._url} answers, but not with a WebShop start page: there is no search field")
        return self._shown()

    async def step(self, action: str) -> EnvironmentStep:
        """Searches or presses something; what cannot be done is said, and changes nothing."""
        found = _ACTION.match(action)
        if self._over:
            return EnvironmentStep("The session is over.", True, self._won, self._page.reward or 0.0)
        if found is None:
            return EnvironmentStep("Invalid action: it is search[words] or click[label].")
        verb, what = found[1].lower(), found[2].strip()
        if verb == "search":
            return await self._search(what)
        press = self._page.press(what)
        if press is None:
            return EnvironmentStep(f"Invalid action: there is no [{what}] on this page.")
        await self._go(press)
        return self._step()

    async def fingerprint(self) -> str:
        """A hash of the page that is shown."""
        return fingerprint(self._page.text)

    async def close(self) -> None:
        """Closes the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def _won(self) -> bool:
        return self._page.reward == 1.0

    async def _search(self, words: str) -> EnvironmentStep:
        if self._page.search is None:
            return EnvironmentStep("Invalid action: there is no search field on this page.")
        if not words:
            return EnvironmentStep("Invalid action: search[words] needs words.")
        found = await self._fetch(self._page.search, {self._page.search_field: words})
        if found.is_error:
            # A slash, or `<c>`, makes a WebShop answer 404 or 500. The words are the agent's, so no server is broken
            # as long as it still has its start page; what a page offers to click has to work.
            self._refuse_error(await self._fetch(Press("get", self._start)))
            told = f"the shop cannot search for this ({found.status_code}); use other words"
            return EnvironmentStep(f"Invalid action: {told}.")
        self._show(found)
        return self._step()

    def _step(self) -> EnvironmentStep:
        self._over = self._page.reward is not None
        return EnvironmentStep(self._shown(), self._over, self._won, self._page.reward or 0.0)

    def _shown(self) -> str:
        lines = [line for line in self._page.lines if not _QUERY.match(line)]
        if self._page.search is not None:
            lines.append("[Search]")
        return "\n".join(lines)

    @property
    def _start(self) -> str:
        return urljoin(self._url, f"fixed_{self._goal}")

    async def _go(self, press: Press) -> None:
        answer = await self._fetch(press)
        self._refuse_error(answer)
        self._show(answer)

    def _show(self, answer: httpx.Response) -> None:
        self._at = str(answer.url)
        self._page = read_page(answer.text, self._at)

    async def _fetch(self, press: Press, form: dict[str, str] | None = None) -> httpx.Response:
        import httpx

        if self._client is None:
            proxies = not is_loopback(self._url)
            self._client = httpx.AsyncClient(timeout=self._timeout_s, follow_redirects=True, trust_env=proxies)
        address = urljoin(self._at, press.address)
        self._refuse_elsewhere(address)
        try:
            answer = await self._client.request(press.method.upper(), address, data=form)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            told = str(error) or type(error).__name__
            raise WorldFault(f"the WebShop server at {self._url} cannot be reached: {told}; is it running?") from None
        self._refuse_elsewhere(str(answer.url))
        if len(answer.content) > MAX_PAGE_BYTES:
            raise WorldFault(f"the WebShop server answered with more than {MAX_PAGE_BYTES:,} bytes")
        return answer

    def _refuse_error(self, answer: httpx.Response) -> None:
        if answer.is_error:
            raise WorldFault(f"the WebShop server answered {answer.status_code} to {str(answer.url)[:200]}")

    def _refuse_elsewhere(self, address: str) -> None:
        if urlsplit(address).netloc != urlsplit(self._url).netloc:
            raise WorldFault(f"a page of {self._url} leads to another server: {address[:200]}")
