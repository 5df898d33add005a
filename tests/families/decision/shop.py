"""A small shop with the addresses, forms and pages of a WebShop server, odd tags included; a few products, one goal.

As that does, it writes lists and dictionaries into its addresses as Python shows them, cannot find a search with a
slash, breaks at `<c>`, and gives the goal away where nobody sees it.
"""

from __future__ import annotations

import threading
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

GOAL = "i need red socks, size m, and price lower than 10.00 dollars"
PRODUCTS = {"B000000001": "Woollen socks <warm>", "B000000002": "Rubber boots"} | {
    f"C{number:09}": f"Socks no. {number}" for number in range(12)
}
OPTIONS = {"size": ("s", "m"), "color": ("o'red", "black | white")}
SECRET = "the-hidden-goal"
PAGE = 10


def _link(*parts: object) -> str:
    return escape("/" + "/".join(quote(str(part)) for part in parts))


def _form(address: str, label: str) -> str:
    return f'<form method="post" action="{address}"><button type="submit">{escape(label)}</button></form>'


def _page(body: str) -> str:
    return (
        "<!DOCTYPE html><html><head><title>never shown</title><style>h1{}</style></head><body><div>"
        f"{body}</div></body><script>let x = '[not shown]';</script></html>"
    )


def _instruction(query: object) -> str:
    return f'<div id="instruction-text"><h4>Instruction: {GOAL}</h4><h4>Current Query: {escape(str(query))}</h4></div>'


def _start(session: str) -> str:
    return _page(
        f'<h2>WebShop</h2><div id="instruction-text"><h4>Instruction: <br>{GOAL}</h4></div>'
        f'<form role="form" method="post" action="{_link(session)}"><input type="text" name="search_query" required/>'
        '<span><button type="submit"><i aria-hidden="true"></i>Search</button></span></form><iframe src="x"></iframe>'
    )


def _results(session: str, keywords: Sequence[str], page: int) -> str:
    shown = list(PRODUCTS.items())[(page - 1) * PAGE : page * PAGE]
    items = "".join(
        f'<div class="grid-item"><img src="x"><h4><a class="product-link" href="'
        f'{_link("item_page", session, asin, list(keywords), page, {})}">{asin}</a></h4><h4>{escape(title)}</h5>'
        "<div><h5>$9.50</h6></div></div>"
        for asin, title in shown
    )
    turn = ""
    if page > 1:
        turn += _form(_link("search_results", session, list(keywords), page - 1), "< Prev")
    if page * PAGE < len(PRODUCTS):
        turn += _form(_link("search_results", session, list(keywords), page + 1), "Next >")
    told = f"Page {page} ({(page - 1) * PAGE + 1}-{page * PAGE}) of {len(PRODUCTS)} total results"
    old = f'<!-- Old <div><h4><a class="product-link" href="/nowhere">old</a></h5>{SECRET}</div> -->'
    back = _form(_link(session), "Back to Search")
    return _page(f"{_instruction(keywords)}<h1>Results</h1><p>{told}</p>{back}{turn}{old}{items}")


def _item(session: str, asin: str, keywords: str, page: str, options: Mapping[str, str]) -> str:
    radios = ""
    for name, values in OPTIONS.items():
        radios += f"<h4>{name}</h4><div>"
        for number, value in enumerate(values):
            address = _link("item_page", session, asin, keywords, page, {**options, name: value})
            radios += f'<input type="radio" id="radio_{name}{number}" name="{name}" value="x" data-url="{address}">'
            radios += f'<label for="radio_{name}{number}">{escape(value)}</label>'
        radios += "</div>"
    subs = "".join(
        _form(_link("item_sub_page", session, asin, keywords, page, sub, dict(options)), sub)
        for sub in ("Description", "Features", "Reviews")
    )
    return _page(
        _instruction(keywords)
        + _form(_link(session), "Back to Search")
        + _form(_link("search_results", session, keywords, page), "< Back to Results")
        + f"{radios}<h2>{escape(PRODUCTS[asin])}</h2><h4>Price: $9.50</h4><h4>Rating: N.A.</h4>{subs}"
        + _form(_link("done", session, asin, dict(options)), "Buy Now")
    )


def _sub_page(session: str, asin: str, keywords: str, page: str, sub: str, options: Mapping[str, str]) -> str:
    back = _form(_link("item_page", session, asin, keywords, page, dict(options)), "< Back to Item Page")
    about = {"Description": '<p>Made of wool.</p><a href="http://elsewhere.invalid/x">More</a>', "Features": "<ul><li>"}
    return _page(f"{_instruction(keywords)}{_form(_link(session), 'Back to Search')}{back}{about.get(sub, 'None')}")


def _done(asin: str, options: Mapping[str, str]) -> str:
    reward = 1.0 if asin == "B000000001" and options.get("size") == "m" else 0.5
    hidden = f'<h4 id="asin">asin<pre>{SECRET}</pre></p><h4>Goal <div id="goal"><pre>{SECRET}</pre></div></h4>'
    return _page(
        "<h1>Thank you for shopping with us!</h1><h3>Your code: </h3><p><pre>ABC</pre> (Paste it.)</p>"
        f'<div style="display:none"><h2>Target</h2><hr>{hidden}</div><hr>'
        f'<h3   id="reward">Your score (min 0.0, max 1.0)<pre>{reward}</pre></h3>'
        f'<h4 hidden>Reward Details <div id="reward_info"><pre>{SECRET}</pre></div></h4>'
    )


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self._serve({key: values[0] for key, values in parse_qs(body).items()})

    def _serve(self, form: dict[str, str]) -> None:
        path = unquote(urlsplit(self.path).path)  # as a WSGI server does, before it looks for slashes
        parts = path.strip("/").split("/")
        if len(parts) == 1 and parts[0].startswith("fixed_") and "search_query" in form:
            words = form["search_query"].lower().split(" ")
            self.send_response(302)
            self.send_header("Location", f"/search_results/{parts[0]}/{quote(str(words), safe='')}/1")
            self.end_headers()
            return
        try:
            page, status = self._body(parts), 200
        except IndexError:
            page, status = None, 500
        self.send_response(404 if page is None and status == 200 else status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((page or "no such page").encode())

    def _body(self, parts: list[str]) -> str | None:
        match parts:
            case [session] if session.startswith("fixed_"):
                return _start(session)
            case ["search_results", session, words, page]:
                keywords = literal_eval(words) if words.startswith("[") else [words]
                if keywords[0] == "<c>":
                    keywords[1].strip()
                return _results(session, keywords, int(page))
            case ["item_page", session, asin, words, page, options]:
                return _item(session, asin, words, page, literal_eval(options))
            case ["item_sub_page", session, asin, words, page, sub, options]:
                return _sub_page(session, asin, words, page, sub, literal_eval(options))
            case ["done", _, asin, options]:
                return _done(asin, literal_eval(options))
            case _:
                return None


@contextmanager
def shop() -> Iterator[str]:
    """The address of a running shop."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
