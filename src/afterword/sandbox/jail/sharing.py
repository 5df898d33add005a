"""Lists, dicts and sets that both ends hold: what one end changes in them reaches the other before its next word.

A test that appends to `node.children`, or a program that writes into a list which it was given earlier, means one
object and not two. Both ends use this file; each compares with its own last encoding, since sets have no order.
What lies within a container crosses as a copy; the program's own containers stay the objects that they are.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from .codec import Codec, Unsendable, WireError, json_text

KINDS = (list, dict, set, deque, Counter, OrderedDict, defaultdict)
MAX_SHARED = 16  # each is encoded anew for each request
MAX_ITEMS = 256  # of one that begins to be shared; one that grew meanwhile goes on


class Shared:
    """The containers that are shared at the moment, by number: the latest ones."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._held: dict[int, tuple[Any, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def number_of(self, value: Any) -> int | None:
        """The number of a container that is shared already."""
        return next((number for number, (held, _) in self._held.items() if held is value), None)

    def add(self, number: int, value: Any) -> None:
        """Shares a container from now on."""
        node = self._node(value)
        if node is None:
            self._held.pop(number, None)
            return
        self._held[number] = (value, json_text(node))
        if len(self._held) > MAX_SHARED:
            del self._held[next(iter(self._held))]

    def get(self, number: int) -> Any:
        """The container of a number, or None."""
        return self._held.get(number, (None,))[0]

    def changes(self) -> list[list[Any]]:
        """[number, node] for each container that was changed here since the other end heard of it."""
        found = []
        for number, (value, last) in list(self._held.items()):
            node = self._node(value)
            if node is None:
                del self._held[number]
            elif (text := json_text(node)) != last:
                self._held[number] = (value, text)
                found.append([number, node])
        return found

    def apply(self, changes: list[Any]) -> None:
        """Takes over what the other end changed.

        Raises:
            WireError: the changes are out of form.
        """
        for change in changes:
            if type(change) is not list or len(change) != 2 or type(change[0]) is not int:
                raise WireError("changes that are out of form")
            value = self.get(change[0])
            if value is not None:  # else it is shared no longer
                if not self.put(value, self._codec.decode(change[1])):
                    raise WireError("a change to another kind of container")
                self.add(change[0], value)

    def put(self, target: Any, content: Any) -> bool:
        """As `put`, but the containers within the target go on being the ones that the program knows."""
        old, new = _within(target), _within(content)
        if old and new:
            texts = {place: self._text(value) for place, value in old.items()}
            wanted = {place: self._text(value) for place, value in new.items()}
            for place, text in wanted.items():  # what is unchanged may have another place
                found = (
                    place if texts.get(place) == text else next((p for p in texts if text and texts[p] == text), None)
                )
                if found is not None:
                    content[place] = old[found]
                    del texts[found], new[place]
            for place in new:
                if place in texts and self.put(old[place], new[place]):
                    content[place] = old[place]
        return put(target, content)

    def _text(self, value: Any) -> str:
        node = self._node(value)
        return "" if node is None else json_text(node)

    def _node(self, value: Any) -> Any:
        """Its encoding; None where it can be shared no more."""
        try:
            return self._codec.encode(value)
        except (Unsendable, RecursionError):
            return None


def _within(container: Any) -> dict[Any, Any]:
    """The containers that are items or values of a container, by their places."""
    if isinstance(container, dict):
        places: Any = container.items()
    else:
        places = () if isinstance(container, set) else enumerate(container)
    return {place: value for place, value in places if type(value) in KINDS}


def counts(values: list[Any]) -> list[int]:
    """How many references there are to each of some values."""
    return [sys.getrefcount(value) for value in values]


def places_kept(values: list[Any], before: list[int], result: Any) -> list[int]:
    """The places of the containers that a call left behind somewhere: there are more references to them now."""
    now = counts(values)
    return [
        place
        for place, count in enumerate(before)
        if now[place] > count and type(values[place]) in KINDS and values[place] is not result
    ]


def put(target: Any, content: Any) -> bool:
    """Gives a container the content of another one of its kind; false if it is of another kind."""
    if target is content:
        return True
    if isinstance(target, (list, bytearray)) and isinstance(content, (list, bytearray)):
        target[:] = content
    elif isinstance(target, (dict, set)) and isinstance(content, type(target)):
        target.clear()
        target.update(content)
    elif isinstance(target, deque) and isinstance(content, deque):
        target.clear()
        target.extend(content)
    else:
        return False
    return True
