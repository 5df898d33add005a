"""The texts of requests, put together from those of the records in them, which are known from earlier requests.

A task stands in every request of its loop, a trial and a lesson in several; to write them all out anew each time was
a seventh of what it cost to record a task. The text is the one that `canonical` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from json.encoder import encode_basestring_ascii
from math import isfinite
from operator import attrgetter

from afterword.core.effects import canonical

_MOST_CHARS = 100_000
"""Of what is kept for a task: its records come again soon or not at all."""
_PLAIN = (str, int, float, list, tuple, dict)


class Texts:
    """The texts of records that a task's requests have held."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str]] = {}
        self._chars = 0

    def __len__(self) -> int:
        """How many records are kept."""
        return len(self._known)

    def of(self, value: object) -> str:
        """The text of plain data or a record, as `canonical` would write it."""
        if type(value) is str:
            return encode_basestring_ascii(value)
        if value is None:
            return "null"
        if type(value) is tuple or type(value) is list:
            return f"[{','.join(map(self.of, value))}]"
        if type(value) is bool:
            return "true" if value else "false"
        if type(value) is int or (type(value) is float and isfinite(value)):
            return repr(value)
        if type(value) is dict and not value:
            return "{}"
        if (shape := _shape(type(value))) is None:
            return canonical(value)[1:-1]
        if (known := self._known.get(id(value))) is not None:
            return known[1]
        template, values = shape
        text = template % tuple(map(self.of, values(value)))
        self._keep(value, text)
        return text

    def _keep(self, record: object, text: str) -> None:
        if self._chars > _MOST_CHARS:
            self._known.clear()
            self._chars = 0
        self._known[id(record)] = record, text  # with the record, whose identity is its own as long as it lives
        self._chars += len(text)


_Shape = tuple[str, Callable[[object], tuple[object, ...]]]


def _find_shape(kind: type) -> _Shape | None:
    """How the fields of a frozen record become text; None for all else, which may look otherwise the next time."""
    if not is_dataclass(kind) or issubclass(kind, _PLAIN) or not getattr(kind, "__dataclass_params__").frozen:  # noqa: B009
        return None
    names = sorted(field.name for field in fields(kind))
    if len(names) < 2:  # one value would not come as a tuple
        return None
    return "{" + ",".join(f'"{name}":%s' for name in names) + "}", attrgetter(*names)


_shape: Callable[[type], _Shape | None] = cache(_find_shape)
