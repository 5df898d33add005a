"""A model that answers from a recording, and only what was really asked.

A replay that quietly answers another question proves nothing: a differing request is refused, and the first
difference is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from afterword.core.effects import fingerprint
from afterword.core.messages import ChatRequest, Message, Price, Reply
from afterword.errors import RecordingMismatch
from afterword.models.options import Lookup
from afterword.models.transport import wire_text

_CONTEXT = 30


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A request and what was answered."""

    request: ChatRequest
    reply: Reply


class RecordedModel:
    """Answers from recorded calls.

    `strict` takes the first unused call with the same request; `positional` takes the calls in order, whatever
    is asked.
    """

    def __init__(
        self,
        calls: Iterable[RecordedCall],
        *,
        lookup: Lookup = "strict",
        name: str = "recorded:memory",
        price: Price | None = None,
    ) -> None:
        self._unused = dict(enumerate(calls))
        self._total = len(self._unused)
        self._places: dict[str, deque[int]] = {}
        for place, call in self._unused.items():
            self._places.setdefault(request_fingerprint(call.request), deque()).append(place)
        self._lookup = lookup
        self._name = name
        self._price = price

    @property
    def name(self) -> str:
        """`recorded:FILE`."""
        return self._name

    @property
    def price(self) -> Price | None:
        """What the recorded model cost, so that a replayed budget ends where it did."""
        return self._price

    def skip(self, requests: Iterable[ChatRequest]) -> None:
        """Leaves out the calls that answered these requests before, e.g. in the run that is resumed."""
        for request in requests:
            first = next(iter(self._unused), None)
            places = self._places.get(request_fingerprint(request))
            place = first if self._lookup == "positional" else places.popleft() if places else None
            if place is not None:
                del self._unused[place]

    async def complete(self, request: ChatRequest) -> Reply:
        """Gives the recorded reply.

        Raises:
            RecordingMismatch: this request was not recorded, or there are no more calls.
        """
        if not self._unused:
            raise RecordingMismatch(
                f"{self._name} holds {self._total} calls for this role, and one more was made; record the run again"
            )
        first = next(iter(self._unused))
        if self._lookup == "positional":
            return self._unused.pop(first).reply
        places = self._places.get(request_fingerprint(request))
        if not places:
            difference = first_difference(self._unused[first].request, request)
            raise RecordingMismatch(f"{self._name} does not hold this request: {difference}; record the run again")
        return self._unused.pop(places.popleft()).reply


def recordable(request: ChatRequest) -> ChatRequest:
    """The request as a file can hold it: a temperature of 0 is one of 0.0, and lone surrogates are written out."""
    messages = tuple(Message(message.role, wire_text(message.content)) for message in request.messages)
    temperature = None if request.temperature is None else float(request.temperature)
    return replace(request, messages=messages, temperature=temperature)


def request_fingerprint(request: ChatRequest) -> str:
    """What a recording is searched by."""
    return fingerprint(recordable(request))


def first_difference(recorded: ChatRequest, asked: ChatRequest) -> str:
    """Names the first thing in which two requests differ."""
    for name in ("temperature", "max_tokens", "stop", "seed", "schema"):
        there, here = getattr(recorded, name), getattr(asked, name)
        if there != here:
            return f"{name} was {there!r}, now {here!r}"
    for number, (there, here) in enumerate(zip(recorded.messages, asked.messages, strict=False), start=1):
        if there.role != here.role:
            return f"message {number} was from {there.role!r}, now {here.role!r}"
        if there.content != here.content:
            place = _first_differing(there.content, here.content)
            was, now = (text[place : place + _CONTEXT] for text in (there.content, here.content))
            return f"message {number} ({here.role}) differs at character {place}: was {was!r}, now {now!r}"
    if len(recorded.messages) != len(asked.messages):
        return f"it had {len(recorded.messages)} messages, now {len(asked.messages)}"
    return "it was asked fewer times then"


def _first_differing(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
