"""Records as JSON texts and back, for every kind of result that passes a recorder.

What is stored is read back at once, and the loop goes on with what was read: a run that is resumed later sees
the same values, an int where a float is due included.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from afterword.core.effects import canonical
from afterword.errors import InputError

T = TypeVar("T")

_MODULES = re.compile(r"(\w+\.)+")


class _Codec(Generic[T]):
    """How one kind of result becomes text and comes back."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self.adapter = TypeAdapter(kind)
        self.to_json = self.adapter.serializer.to_json
        self.from_json = self.adapter.validator.validate_json
        plain = isinstance(kind, type) and not hasattr(kind, "__args__")
        self.name: str = getattr(kind, "__name__", "") if plain else _MODULES.sub("", str(kind))


_codecs: dict[int, _Codec[object]] = {}
"""One for each kind of result: a program has a handful. By identity, since a generic type's own hash takes long."""


def _codec(kind: type[T]) -> _Codec[T]:
    if (known := _codecs.get(id(kind))) is None:
        known = _codecs[id(kind)] = _Codec(kind)  # which keeps the kind, and so its identity
    return known  # type: ignore[return-value]  # a codec of this kind: that is its key


def encode(value: T, kind: type[T]) -> tuple[str, T]:
    """The JSON text of a value, and the value as it will be read back.

    Raises:
        InputError: it does not come back as it was.
    """
    if isinstance(value, float) and type(value) is kind is float and isfinite(value):  # a clock reading: there are many
        return repr(value), value
    codec = _codec(kind)
    try:
        text = codec.to_json(value, warnings=False).decode()
        back: T = codec.from_json(text)
        if back == value:
            return text, back
    except (PydanticSerializationError, ValidationError, TypeError):
        pass  # lone surrogates, and numbers that JSON does not know; they are written out below
    return _encode_odd(value, kind, codec.adapter)


def _encode_odd(value: T, kind: type[T], adapter: TypeAdapter[T]) -> tuple[str, T]:
    try:
        plain = adapter.dump_python(value, mode="json", warnings=False)
        text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
        back = adapter.validate_python(json.loads(text))
        if _comparable(back) == _comparable(value):
            return text, back
        why = "it does not come back as it was"
    except (PydanticSerializationError, ValidationError, TypeError, ValueError) as error:
        why = str(error).splitlines()[0]
    raise InputError(f"a result of {name_of(kind)} cannot be kept in a journal: {why}; found {value!r:.200}")


def decode(text: str, kind: type[T]) -> T:
    """The value of a JSON text.

    Raises:
        InputError: it is not of this kind.
    """
    adapter = _codec(kind).adapter
    try:
        return adapter.validate_json(text)
    except ValidationError:
        pass
    try:
        return adapter.validate_python(json.loads(text))  # lone surrogates are known to Python's parser only
    except ValueError as error:  # a ValidationError is one
        raise InputError(
            f"the journal holds no {name_of(kind)} where one was expected: {str(error).splitlines()[0]}; "
            f"found {text[:200]!r}; was it changed by hand?"
        ) from None


def plain_text(text: str) -> str:
    """Text for a column of its own: what a database cannot hold is written out."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def as_kind(value: object, kind: type[T]) -> T:
    """The value as a record of this kind.

    Raises:
        InputError: it is none.
    """
    try:
        return _codec(kind).adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"expected {name_of(kind)}, found {value!r:.200}: {first['msg']}") from None


def _comparable(value: object) -> object:
    """Plain data in which a list equals a tuple, 1 equals 1.0, and not-a-number equals itself."""
    return json.loads(canonical(value), parse_constant=str)


def name_of(kind: type[object]) -> str:
    """The kind's name, as it is kept beside a result."""
    return _codec(kind).name
