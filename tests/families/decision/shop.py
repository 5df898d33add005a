"""A small shop that serves pages as a WebShop server does, with two products and one goal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote

GOAL = "i need red socks, size m, and price lower than 10.00 dollars"
PRODUCTS = {"B000000001": "Woollen socks <warm>", "B000000002": "Rubber boots"}
SECRET = "the-hidden-goal"


def _form(action: str, label: str) -> str:
    return f'<form method="post" action="{action}"><button type="submit">{escape(label)}</button></form>'


def _page(body: str) -> str:
    return (
        "<!DOCTYPE html><html><head><title>never shown</title><style>h1{}</style></head><body>"
        f"{body}<script>let x = '[not shown]';</script></body></html>"
    )


def _instruction(query: str = "") -> str:
    shown = f"<h4>Current Query: {escape(query)}</h4>" if query else ""
    return f'<div id="instruction-text"><h4>Instruction: <br>{GOAL}</h4>{shown}</div>'


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self._serve({key: values[0] for key, values in parse_qs(body).items()})

    def _serve(self, form: dict[str, str]) -> None:
        parts = [unquote(part) for part in self.path.strip("/").split("/")]
        if len(parts) == 1 and parts[0].startswith("fixed_") and "search_query" in form:
            self.send_response(302)
            self.send_header("Location", f"/search_results/{parts[0]}/{quote(form['search_query'])}/1")
            self.end_headers()
            return
        page = self._body(parts)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((page or "no such page").encode())

    def _body(self, parts: list[str]) -> str | None:
        match parts:
            case [session] if session.startswith("fixed_"):
                search = (
                    f'<form method="post" action="/{session}"><input type="text" name="search_query" required/>'
                    '<button type="submit"><i></i>Search</button></form>'
                )
                return _page(f"<h2>WebShop</h2>{_instruction()}{search}")
            case ["search_results", session, words, _]:
                items = "".join(
                    f'<div><img src="x"><h4><a class="product-link" href="/item_page/{session}/{asin}/{quote(words)}/1/'
                    f'none">{asin}</a></h4><h4>{escape(title)}</h5><h5>$9.50</h6></div>'
                    for asin, title in PRODUCTS.items()
                )
                return _page(f"{_instruction(words)}{_form(f'/{session}', 'Back to Search')}{items}")
            case ["item_page", session, asin, words, _, chosen]:
                sizes = "".join(
                    f'<input type="radio" id="radio_size{size}" name="size" value="{size}" '
                    f'data-url="/item_page/{session}/{asin}/{quote(words)}/1/{size}">'
                    f'<label for="radio_size{size}">{size}</label>'
                    for size in ("s", "m")
                )
                back = _form(f"/search_results/{session}/{quote(words)}/1", "< Prev")
                buy = _form(f"/done/{session}/{asin}/{chosen}", "Buy Now")
                about = _form(f"/about/{session}", "Description")
                return _page(
                    f"{_instruction(words)}{back}<h4>size</h4>{sizes}<h2>{escape(PRODUCTS[asin])}</h2>{about}{buy}"
                )
            case ["about", _]:
                return _page('<p>Made of wool.</p><a href="http://elsewhere.invalid/x">More</a>')
            case ["done", _, asin, chosen]:
                reward = 1.0 if (asin, chosen) == ("B000000001", "m") else 0.5
                return _page(
                    "<h1>Thank you for shopping with us!</h1>"
                    f'<div style="display: none"><h4 id="goal">goal<pre>{SECRET}</pre></h4></div>'
                    f'<h3 id="reward">Your score (min 0.0, max 1.0)<pre>{reward}</pre></h3>'
                    f"<h4 hidden>Details <pre>{SECRET}</pre></h4>"
                )
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
