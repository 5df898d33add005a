"""The wire format, for both ends: plain data as tagged JSON in frames that start with their length.

Standard library only and fit for CPython 3.8, since the jailed end runs under the interpreter that the task
names. What is not plain data is left to the two ends: see `worker.py` and the judge's `connection.py`.
"""

from __future__ import annotations

import builtins
import json
import operator
import struct
import sys
from array import array
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from typing import Any

MAX_FRAME = 64 * 2**20
MAX_DEPTH = 400
_PLAIN_INT = 2**53  # JSON readers agree up to here; larger ones go as hex, which has no digit limit
_PACK_FROM = 8

BASES = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_IN_PLACE = "iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ixor ior"
_FROM_OPERATOR = (
    "lt le gt ge eq ne add sub mul matmul truediv floordiv mod pow lshift rshift and_ xor or_ neg pos invert index "
    "getitem setitem delitem contains abs " + _IN_PLACE
)


def _parts(error: Any) -> tuple[Any, Any, Any]:
    """What `with` hands to an exit."""
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


OPERATORS: dict[str, Callable[..., Any]] = {
    f"__{name.rstrip('_')}__": getattr(operator, name) for name in _FROM_OPERATOR.split()
}
OPERATORS.update(
    __divmod__=divmod, __len__=len, __iter__=iter, __next__=next, __reversed__=reversed,
    __int__=int, __float__=float, __complex__=complex, __bool__=bool, __hash__=hash, __round__=round, __str__=str,
    __format__=format, __bytes__=bytes, __dir__=dir,
    __enter__=lambda it: type(it).__enter__(it),
    __exit__=lambda it, error=None, *_: type(it).__exit__(it, *_parts(error)),
    __aiter__=lambda it: type(it).__aiter__(it), __anext__=lambda it: type(it).__anext__(it),
    __aenter__=lambda it: type(it).__aenter__(it),
    __aexit__=lambda it, error=None, *_: type(it).__aexit__(it, *_parts(error)),
    __trunc__=lambda it: type(it).__trunc__(it), __floor__=lambda it: type(it).__floor__(it),
    __ceil__=lambda it: type(it).__ceil__(it),
)  # fmt: skip
SPECIAL_NAMES: frozenset[str] = (
    frozenset(OPERATORS) | {"__r" + name[2:] for name in OPERATORS} | {"__call__", "__await__"}
)


class WireError(Exception):
    """The other end does not keep to the format."""


class Unsendable(Exception):
    """A value that cannot cross: nested too deeply, too large, or containing itself."""


def standard_class(module: str, name: str) -> Any:
    """What a module holds under a name, if it is loaded; encoding never imports anything."""
    loaded = sys.modules.get(module)
    return None if loaded is None else getattr(loaded, name, None)


def is_builtin(cls: type) -> bool:
    """Whether a class is the one that its name has in `builtins`."""
    return getattr(builtins, cls.__name__, None) is cls


def ancestors(cls: type) -> tuple[type, ...]:
    """The method resolution order, whatever a metaclass says."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return found


def _factory(value: Any) -> Any:
    """What makes missing values, if that is a class of plain data."""
    return value.default_factory if any(value.default_factory is base for base in BASES) else None


def _load(module: str, name: str) -> Any:
    return getattr(__import__(module), name)


# tag: (module, name, to plain parts, from plain parts)
_STANDARD: dict[str, tuple[str, str, Callable[[Any], list[Any]], Callable[..., Any]]] = {
    "cnt": ("collections", "Counter", lambda v: [dict(v)], lambda cls, d: cls(d)),
    "od": ("collections", "OrderedDict", lambda v: [list(v.items())], lambda cls, pairs: cls(pairs)),
    "dd": ("collections", "defaultdict", lambda v: [dict(v), _factory(v)], lambda cls, d, make: cls(make, d)),
    "dq": ("collections", "deque", lambda v: [list(v), v.maxlen], lambda cls, v, n: cls(v, n)),
    "dec": ("decimal", "Decimal", lambda v: [str(v)], lambda cls, s: cls(s)),
    "fr": ("fractions", "Fraction", lambda v: [v.numerator, v.denominator], lambda cls, n, d: cls(n, d)),
    "date": ("datetime", "date", lambda v: [v.year, v.month, v.day], lambda cls, *v: cls(*v)),
    "dt": ("datetime", "datetime", lambda v: [v.isoformat()], lambda cls, s: cls.fromisoformat(s)),
    "time": ("datetime", "time", lambda v: [v.isoformat()], lambda cls, s: cls.fromisoformat(s)),
    "td": ("datetime", "timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda cls, *v: cls(*v)),
    "path": ("pathlib", "PosixPath", lambda v: [str(v)], lambda cls, s: cls(s)),
    "ppath": ("pathlib", "PurePosixPath", lambda v: [str(v)], lambda cls, s: cls(s)),
    "re": ("re", "Pattern", lambda v: [v.pattern, v.flags], lambda _, s, flags: _load("re", "compile")(s, flags)),
    "arr": ("array", "array", lambda v: [v.typecode, v.tolist()], lambda cls, code, items: cls(code, items)),
    "uuid": ("uuid", "UUID", lambda v: [v.int], lambda cls, n: cls(int=n)),
    "range": ("builtins", "range", lambda v: [v.start, v.stop, v.step], lambda cls, *v: cls(*v)),
    "slice": ("builtins", "slice", lambda v: [v.start, v.stop, v.step], lambda cls, *v: cls(*v)),
}
_STANDARD_BY_NAME = {(module, name): (tag, pack) for tag, (module, name, pack, _) in _STANDARD.items()}
_VIEWS = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
_CONSTANTS: dict[str, Any] = {"...": Ellipsis, "notimplemented": NotImplemented}
_NUMERIC_KINDS = "biufc"


def base_value(value: Any, base: type) -> Any:
    """What the built-in class `base` sees in an instance of a subclass."""
    if base in (list, tuple, set, frozenset):
        return base(base.__iter__(value))
    if base is dict:
        return dict(list(dict.items(value)))
    if base is complex:
        return complex(float.__float__(complex.real.__get__(value)), float.__float__(complex.imag.__get__(value)))
    if base in (bytes, bytearray):
        return base.__getitem__(value, slice(None))
    return {int: int.__int__, float: float.__float__, str: str.__str__}[base](value)


class Codec:
    """Plain data to tagged JSON and back; what is not plain goes to `encode_other` and `decode_other`."""

    def encode(self, value: Any, depth: int = 0) -> Any:
        """The node of a value.

        Raises:
            Unsendable: it is nested too deeply, contains itself or is of a kind that cannot cross.
        """
        kind = type(value)
        if value is None or kind is bool or kind is str or kind is float:
            return value
        if kind is int:
            return value if -_PLAIN_INT <= value <= _PLAIN_INT else ["i", format(value, "x")]
        if depth > MAX_DEPTH:
            raise Unsendable(f"a value is nested more than {MAX_DEPTH} levels deep or contains itself")
        encode, depth = self.encode, depth + 1
        if kind is list:
            packed = _pack(value) if len(value) >= _PACK_FROM else None
            return packed or ["l", [encode(item, depth) for item in value]]
        if kind is tuple:
            return ["t", [encode(item, depth) for item in value]]
        if kind is dict:
            return ["d", [encode(item, depth) for pair in value.items() for item in pair]]
        if kind is set or kind is frozenset:
            return ["s" if kind is set else "fs", [encode(item, depth) for item in value]]
        if kind is bytes or kind is bytearray:
            return ["b" if kind is bytes else "ba", _text(value)]
        if kind is complex:
            return ["c", value.real, value.imag]
        return self._encode_known(value, kind, depth)

    def _encode_known(self, value: Any, kind: type, depth: int) -> Any:
        module, name = kind.__module__.split("._")[0], kind.__qualname__  # e.g. pathlib._local of 3.13
        known = _STANDARD_BY_NAME.get((module, name))
        if known and standard_class(module, name) is kind:
            tag, pack = known
            return [tag, [self.encode(part, depth) for part in pack(value)]]
        if kind in _VIEWS:
            return ["view", _VIEWS[kind], [self.encode(item, depth) for item in value]]
        if value is Ellipsis or value is NotImplemented:
            return ["const", "..." if value is Ellipsis else "notimplemented"]
        if isinstance(value, type) and is_builtin(value):
            return ["builtin", value.__name__]
        numpy = sys.modules.get("numpy")
        array_like = numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))
        if array_like and value.dtype.kind in _NUMERIC_KINDS:
            shape = None if isinstance(value, sys.modules["numpy"].generic) else list(value.shape)
            return ["np", value.dtype.str, shape, _text(value.tobytes())]
        return self.encode_other(value, depth)

    def decode(self, node: Any) -> Any:
        """The value of a node.

        Raises:
            WireError: the node is out of form.
        """
        if type(node) is not list:
            if type(node) is dict:
                raise WireError("an object without a tag")
            return node
        try:
            tag = node[0]
            if tag == "l":
                return [self.decode(item) for item in node[1]]
            if tag == "pf" or tag == "pi":
                packed = array("d" if tag == "pf" else "q")
                packed.frombytes(a2b_base64(node[1]))
                return packed.tolist()
            return self._decode_rest(tag, node)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise WireError(f"{type(error).__name__}: {str(error)[:200]}") from None

    def _decode_rest(self, tag: str, node: list[Any]) -> Any:
        decode = self.decode
        if tag == "t":
            return tuple([decode(item) for item in node[1]])
        if tag == "d":
            flat = [decode(item) for item in node[1]]
            return dict(zip(flat[::2], flat[1::2]))  # noqa: B905  3.8 has no strict
        if tag == "s" or tag == "fs":
            return (set if tag == "s" else frozenset)([decode(item) for item in node[1]])
        if tag == "i":
            return int(node[1], 16)
        if tag == "b" or tag == "ba":
            return (bytes if tag == "b" else bytearray)(a2b_base64(node[1]))
        if tag == "c":
            return complex(float(node[1]), float(node[2]))
        if tag in _STANDARD:
            module, name, _, unpack = _STANDARD[tag]
            return unpack(_load(module, name), *[decode(part) for part in node[1]])
        if tag == "np":
            return _array(node[1], node[2], a2b_base64(node[3]))
        if tag == "view":
            items = [decode(item) for item in node[2]]
            kept = dict(items) if node[1] == "items" else dict(enumerate(items))
            return {"keys": dict.fromkeys(items).keys, "items": kept.items, "values": kept.values}[node[1]]()
        if tag == "const":
            return _CONSTANTS[node[1]]
        if tag == "builtin":
            found = getattr(builtins, node[1])
            if not isinstance(found, type):
                raise WireError(f"no class: {node[1]!r:.50}")
            return found
        return self.decode_other(tag, node)

    def encode_other(self, value: Any, depth: int) -> Any:  # noqa: ARG002
        """The node of what is not plain data."""
        raise Unsendable(f"a {type(value).__name__} cannot cross")

    def decode_other(self, tag: str, node: list[Any]) -> Any:  # noqa: ARG002
        """The value behind a tag that is not of plain data."""
        raise WireError(f"an unknown tag: {tag!r:.50}")


def _text(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def _pack(items: list[Any]) -> list[str] | None:
    """Numbers of one kind as bytes: 20 times smaller to write and read than one by one."""
    kinds = set(map(type, items))
    if kinds == {float}:
        return ["pf", _text(array("d", items).tobytes())]
    if kinds == {int}:
        try:
            return ["pi", _text(array("q", items).tobytes())]
        except OverflowError:
            return None
    return None


def _array(dtype: str, shape: list[int] | None, data: bytes) -> Any:
    try:
        import numpy
    except ImportError:
        raise WireError("a numpy value, and numpy is not installed here") from None
    kind = numpy.dtype(dtype)
    if kind.kind not in _NUMERIC_KINDS:
        raise WireError("an array of a kind that may not cross")
    flat = numpy.frombuffer(data, dtype=kind)
    return flat[0] if shape is None else flat.reshape(shape).copy()


def dump(message: Any) -> bytes:
    """One frame: the length and the JSON text.

    Raises:
        Unsendable: it is larger than a frame may be.
    """
    body = json_text(message).encode("ascii")
    if len(body) > MAX_FRAME:
        raise Unsendable(f"a value of {len(body) >> 20} MB is more than the {MAX_FRAME >> 20} MB that may cross")
    return struct.pack(">I", len(body)) + body


json_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
json_value = json.JSONDecoder().decode
