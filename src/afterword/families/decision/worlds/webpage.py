"""What a shop's page shows and offers: its visible text, and what can be pressed on it.

Read from the page itself and not from a scheme of addresses, as a person reads it. What the page hides stays hidden:
the last page of a WebShop session holds the goal, invisibly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin

_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_SILENT = frozenset({"script", "style", "head", "title", "iframe", "noscript", "template"})
_BLOCKS = frozenset({"div", "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "form", "br", "ul", "pre", "label"})


@dataclass(frozen=True, slots=True)
class Press:
    """Where something that can be pressed leads."""

    method: str
    address: str


@dataclass(slots=True)
class Page:
    """A page as it is seen."""

    lines: list[str] = field(default_factory=list)
    presses: dict[str, Press] = field(default_factory=dict)
    """By their label, as it is shown."""
    search: Press | None = None
    search_field: str = ""
    reward: float | None = None
    """The score that the last page tells."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def press(self, label: str) -> Press | None:
        """What is pressed by this label; case and spacing do not matter."""
        wanted = " ".join(label.split()).casefold()
        return next((press for name, press in self.presses.items() if name.casefold() == wanted), None)


def read_page(html: str, address: str = "") -> Page:
    """The page at an address; nothing in it can make the reading fail."""
    reader = _Reader(address)
    reader.feed(html)
    reader.close()
    reader.end_line()
    return reader.page


@dataclass(slots=True)
class _Open:
    tag: str
    hidden: bool
    pressed: Press | None
    reward: bool


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._address = address
        self._open: list[_Open] = []
        self._line: list[str] = []
        self._form: Press | None = None
        self._radios: dict[str, str] = {}
        self._label: list[str] | None = None
        self._press: Press | None = None
        self._in_reward = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _BLOCKS:
            self.end_line()
        if tag == "form":
            self._form = Press(given.get("method", "get").lower(), given.get("action", ""))
        elif tag == "input":
            self._input(given)
        if tag in _VOID:
            return
        hidden = tag in _SILENT or "hidden" in given or "display:none" in given.get("style", "").replace(" ", "")
        press = self._pressable(tag, given)
        above = self._open[-1] if self._open else None
        reward = given.get("id") == "reward" or (above is not None and above.reward)
        self._open.append(_Open(tag, hidden or (above is not None and above.hidden), press, reward))
        if press is not None:
            self._label, self._press = [], press

    def handle_endtag(self, tag: str) -> None:
        places = [n for n, one in enumerate(self._open) if one.tag == tag]
        # The pages close an h4 with an h5 in places, as browsers forgive.
        if not places and tag[:1] == "h" and self._open and self._open[-1].tag[:1] == "h":
            places = [len(self._open) - 1]
        if places:
            if any(one.pressed is not None for one in self._open[places[-1] :]):
                self._finish_press()
            del self._open[places[-1] :]
        if tag == "form":
            self._form = None
        if tag in _BLOCKS:
            self.end_line()

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or (self._open and self._open[-1].hidden):
            return
        if self._label is not None:
            self._label.append(text)
            return
        if self._open and self._open[-1].reward and self._open[-1].tag == "pre":
            self.page.reward = _number(text)
        self._line.append(text)

    def end_line(self) -> None:
        """Ends a line of the visible text."""
        if self._line:
            self.page.lines.append(" ".join(self._line))
            self._line = []

    def _input(self, given: dict[str, str]) -> None:
        kind = given.get("type", "text")
        if kind == "radio" and "data-url" in given:
            self._radios[given.get("id", "")] = given["data-url"]
        elif kind in ("text", "search") and self._form is not None:
            self.page.search, self.page.search_field = self._form, given.get("name", "")

    def _pressable(self, tag: str, given: dict[str, str]) -> Press | None:
        if tag == "a" and given.get("href"):
            return Press("get", given["href"])
        if tag == "button" and self._form is not None:
            return self._form
        if tag == "label" and given.get("for") in self._radios:
            return Press("get", self._radios[given["for"]])
        return None

    def _finish_press(self) -> None:
        label, press = " ".join(self._label or []), self._press
        self._label, self._press = None, None
        if not label or press is None:
            return
        if press is self.page.search:  # the button beside the field: one searches with words
            return
        self.page.presses.setdefault(label, press)
        self._line.append(f"[{label}]{' (chosen)' if self._is_chosen(press) else ''}")

    def _is_chosen(self, press: Press) -> bool:
        """Whether an option is on: choosing it leads to the page that one is at. A browser's script marks it so."""
        if press.address not in self._radios.values():
            return False
        return unquote(urljoin(self._address, press.address)) == unquote(self._address)


def _number(text: str) -> float | None:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return None
