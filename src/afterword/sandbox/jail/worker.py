"""The jailed end of the wire: loads a submission as the module `solution` and answers calls on it.

One file that needs nothing but the standard library of CPython 3.8 or later, since it runs under the
interpreter that the task names. `Codec` is the wire format and serves the judge's end as well.
"""

from __future__ import annotations

import builtins
import json
import operator
import os
import struct
import sys
import types
from array import array
from binascii import a2b_base64, b2a_base64

MAX_FRAME = 64 * 2**20
MAX_DEPTH = 400
MAX_TEXT = 2_000
MAX_ERROR_ARGUMENT = 100_000
_PLAIN_INT = 2**53  # JSON readers agree up to here; larger ones go as hex, which has no digit limit
_PACK_FROM = 8

BASES = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
OPERATORS = {
    name: getattr(operator, name.strip("_") + ("_" if name in ("__and__", "__or__") else ""))
    for name in """__lt__ __le__ __gt__ __ge__ __add__ __sub__ __mul__ __matmul__ __truediv__ __floordiv__ __mod__
    __pow__ __lshift__ __rshift__ __and__ __xor__ __or__ __neg__ __pos__ __invert__ __getitem__ __setitem__
    __delitem__ __contains__ __index__""".split()
}
OPERATORS.update(
    __divmod__=divmod, __abs__=abs, __len__=len, __iter__=iter, __next__=next, __reversed__=reversed,
    __int__=int, __float__=float, __complex__=complex, __bool__=bool, __hash__=hash, __round__=round, __str__=str,
    __format__=format, __bytes__=bytes, __dir__=dir, __eq__=operator.eq, __ne__=operator.ne,
    __enter__=lambda it: type(it).__enter__(it), __exit__=lambda it, *error: type(it).__exit__(it, *error),
    __aiter__=lambda it: type(it).__aiter__(it), __anext__=lambda it: type(it).__anext__(it),
    __aenter__=lambda it: type(it).__aenter__(it), __aexit__=lambda it, *error: type(it).__aexit__(it, *error),
    __trunc__=lambda it: type(it).__trunc__(it), __floor__=lambda it: type(it).__floor__(it),
    __ceil__=lambda it: type(it).__ceil__(it),
)  # fmt: skip
SPECIAL_NAMES = frozenset(OPERATORS) | {"__r" + name[2:] for name in OPERATORS} | {"__call__", "__await__"}


class WireError(Exception):
    """The other end does not keep to the format."""


class Unsendable(Exception):
    """A value that cannot cross: nested too deeply, too large, or containing itself."""


# ---- plain data ----------------------------------------------------------------------------------


def _std(module, name):
    """A class of the standard library if its module is loaded; the wire never imports on demand in the jail."""
    loaded = sys.modules.get(module)
    return None if loaded is None else getattr(loaded, name, None)


def _load(module, name):
    return getattr(__import__(module), name)


# tag: (module, name, to plain parts, from plain parts)
_STANDARD = {
    "cnt": ("collections", "Counter", lambda v: [dict(v)], lambda cls, d: cls(d)),
    "od": ("collections", "OrderedDict", lambda v: [list(v.items())], lambda cls, pairs: cls(pairs)),
    "dd": ("collections", "defaultdict", lambda v: [dict(v)], lambda cls, d: cls(None, d)),
    "dq": ("collections", "deque", lambda v: [list(v), v.maxlen], lambda cls, v, n: cls(v, n)),
    "dec": ("decimal", "Decimal", lambda v: [str(v)], lambda cls, s: cls(s)),
    "fr": ("fractions", "Fraction", lambda v: [v.numerator, v.denominator], lambda cls, n, d: cls(n, d)),
    "date": ("datetime", "date", lambda v: [v.year, v.month, v.day], lambda cls, *v: cls(*v)),
    "dt": ("datetime", "datetime", lambda v: [v.isoformat()], lambda cls, s: cls.fromisoformat(s)),
    "time": ("datetime", "time", lambda v: [v.isoformat()], lambda cls, s: cls.fromisoformat(s)),
    "td": ("datetime", "timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda cls, *v: cls(*v)),
    "uuid": ("uuid", "UUID", lambda v: [v.int], lambda cls, n: cls(int=n)),
    "range": ("builtins", "range", lambda v: [v.start, v.stop, v.step], lambda cls, *v: cls(*v)),
    "slice": ("builtins", "slice", lambda v: [v.start, v.stop, v.step], lambda cls, *v: cls(*v)),
}
_STANDARD_BY_NAME = {(module, name): (tag, pack) for tag, (module, name, pack, _) in _STANDARD.items()}
_VIEWS = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
_CONSTANTS = {"...": Ellipsis, "notimplemented": NotImplemented}
_NUMERIC_KINDS = "biufc"


def base_value(value, base):
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

    def encode(self, value, depth=0):
        kind = type(value)
        if value is None or kind is bool or kind is str or kind is float:
            return value
        if kind is int:
            return value if -_PLAIN_INT <= value <= _PLAIN_INT else ["i", format(value, "x")]
        if depth > MAX_DEPTH:
            raise Unsendable("a value is nested more than %d levels deep or contains itself" % MAX_DEPTH)
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

    def _encode_known(self, value, kind, depth):
        tag, pack = _STANDARD_BY_NAME.get((kind.__module__, kind.__qualname__), (None, None))
        if tag and _std(kind.__module__, kind.__qualname__) is kind and getattr(value, "tzinfo", None) is None:
            return [tag, [self.encode(part, depth) for part in pack(value)]]
        if kind in _VIEWS:
            return ["view", _VIEWS[kind], [self.encode(item, depth) for item in value]]
        if value is Ellipsis or value is NotImplemented:
            return ["const", "..." if value is Ellipsis else "notimplemented"]
        if isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
            return ["builtin", value.__name__]
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.kind in _NUMERIC_KINDS:
                shape = None if isinstance(value, numpy.generic) else list(value.shape)
                return ["np", value.dtype.str, shape, _text(value.tobytes())]
        return self.encode_other(value, depth)

    def decode(self, node):
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
            raise WireError("%s: %s" % (type(error).__name__, str(error)[:200])) from None

    def _decode_rest(self, tag, node):
        decode = self.decode
        if tag == "t":
            return tuple([decode(item) for item in node[1]])
        if tag == "d":
            flat = [decode(item) for item in node[1]]
            return dict(zip(flat[::2], flat[1::2]))
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
                raise WireError("no class: %.50r" % (node[1],))
            return found
        return self.decode_other(tag, node)

    def encode_other(self, value, depth):
        raise Unsendable("a %s cannot cross" % type(value).__name__)

    def decode_other(self, tag, node):
        raise WireError("an unknown tag: %.50r" % (tag,))


def _text(data):
    return b2a_base64(data, newline=False).decode("ascii")


def _pack(items):
    kinds = set(map(type, items))
    if kinds == {float}:
        return ["pf", _text(array("d", items).tobytes())]
    if kinds == {int}:
        try:
            return ["pi", _text(array("q", items).tobytes())]
        except OverflowError:
            return None
    return None


def _array(dtype, shape, data):
    try:
        import numpy  # noqa: PLC0415  only where a value needs it
    except ImportError:
        raise WireError("a numpy value, and numpy is not installed here") from None
    kind = numpy.dtype(dtype)
    if kind.kind not in _NUMERIC_KINDS:
        raise WireError("an array of a kind that may not cross")
    flat = numpy.frombuffer(data, dtype=kind)
    return flat[0] if shape is None else flat.reshape(shape).copy()


def dump(message):
    """One frame: the length and the JSON text."""
    body = json_text(message).encode("ascii")
    if len(body) > MAX_FRAME:
        raise Unsendable("a value of %d MB is more than the %d MB that may cross" % (len(body) >> 20, MAX_FRAME >> 20))
    return struct.pack(">I", len(body)) + body


json_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
json_value = json.JSONDecoder().decode


# ---- the submission ------------------------------------------------------------------------------


class Callback:
    """A function of the tests, as the submission sees it."""

    def __init__(self, worker, number, name):
        self._worker, self._number = worker, number
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **kwargs):
        return self._worker.call_back(self._number, args, kwargs)


def callback_items(callback):
    """An iterator of the tests, one item a trip."""
    while True:
        more, item = callback()
        if not more:
            return
        yield item


class Worker(Codec):
    """Holds the submission's objects by number, and answers the judge one request at a time."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.process = os.getpid()
        self.objects = []
        self.numbers = {}
        self.classes = {}
        self.callback_errors = {}
        self.loop = None
        self.lines = []
        # The submission may replace any of these; a right one that does so is still answered.
        self._read, self._write, self._getpid = os.read, os.write, os.getpid
        import threading  # noqa: PLC0415

        self._lock = threading.RLock()

    # -- frames --

    def send(self, message):
        data = memoryview(dump(message))
        while data:
            data = data[self._write(self.descriptor, data) :]

    def receive(self):
        (length,) = struct.unpack(">I", self._exactly(4))
        return json_value(self._exactly(length).decode("ascii"))

    def _exactly(self, count):
        parts = []
        while count:
            part = self._read(self.descriptor, min(count, 1 << 20))
            if not part:
                os._exit(0)  # the judge is done
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def answer_until_end(self):
        while True:
            self.answer(self.receive())

    def answer(self, request):
        number, operation, *parts = request
        try:
            reply = [number, "ok", *getattr(self, "do_" + operation)(*parts)]
        except Unsendable as error:
            reply = [number, "unsendable", str(error)]
        except BaseException as error:  # noqa: BLE001  whatever the submission raises is its answer
            reply = [number, "raised", self.encode_error(error)]
        if self._getpid() != self.process:
            os._exit(0)  # a fork that came back out of a call: only the first process answers
        with self._lock:
            try:
                self.send(reply)
            except (Unsendable, RecursionError, MemoryError) as error:
                self.send([number, "unsendable", str(error)[:MAX_TEXT] or "a value is too large to send"])

    def call_back(self, number, args, kwargs):
        """A call of a function of the tests; the judge may call again before it answers."""
        if self._getpid() != self.process:
            raise RuntimeError("a function of the tests cannot be called from another process")
        with self._lock:
            named = [[key, self.encode(value)] for key, value in kwargs.items()]
            self.send([0, "callback", number, [self.encode(value) for value in args], named])
            while True:
                message = self.receive()
                if message[0] != 0:
                    self.answer(message)
                elif message[1] == "returned":
                    return self.decode(message[2])
                else:
                    _, _, token, name, text = message
                    error = getattr(builtins, name, RuntimeError)(text)
                    self.callback_errors[id(error)] = (token, error)
                    raise error

    # -- requests --

    def do_names(self, names):
        module = sys.modules["solution"]
        if names == ["*"]:
            shown = [name for name in vars(module) if not name.startswith("_")]
            return [[name for name in getattr(module, "__all__", shown) if hasattr(module, name)]]
        return [[[name, self.encode(getattr(module, name))] for name in names if hasattr(module, name)]]

    def do_call(self, target, args, kwargs):
        function = self.objects[target] if type(target) is int else getattr(sys.modules["solution"], target)
        given = [self.decode(node) for node in args]
        named = {key: self.decode(node) for key, node in kwargs}
        return self._returned(function(*given, **named), [*given, *named.values()], [*args, *(n for _, n in kwargs)])

    def do_special(self, name, args):
        given = [self.decode(node) for node in args]
        return self._returned(OPERATORS[name](*given), given, args)

    def do_get(self, target, name):
        return [self.encode(getattr(self.objects[target], name)), []]

    def do_set(self, target, name, node):
        setattr(self.objects[target], name, self.decode(node))
        return [None, []]

    def do_delete(self, target, name):
        delattr(self.objects[target], name)
        return [None, []]

    def do_next(self, target, node):
        """The next item of a generator or iterator, or its end and its return value."""
        iterator, sent = self.objects[target], self.decode(node)
        try:
            return [True, self.encode(next(iterator) if sent is None else iterator.send(sent))]
        except StopIteration as end:
            return [False, self.encode(end.value)]

    def do_await(self, target):
        import asyncio  # noqa: PLC0415

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        awaitable = self.objects[target]

        async def wait():
            return await awaitable

        return [self.encode(self.loop.run_until_complete(wait())), []]

    def do_repr(self, target):
        return [repr(self.objects[target])[:MAX_TEXT]]

    def _returned(self, result, given, nodes):
        """The result and the changed arguments, encoded under a recursion limit that the submission did not set."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 10 * MAX_DEPTH))
        try:
            return self._encoded(result, given, nodes)
        finally:
            sys.setrecursionlimit(limit)

    def _encoded(self, result, given, nodes):
        """The result, and the arguments that were changed in place."""
        changed = []
        for place, (value, node) in enumerate(zip(given, nodes)):
            if type(node) is list and node[0] not in _UNCHANGING:
                now = self.encode(value)
                if json_text(now) != json_text(node):
                    changed.append([place, now])
        for place, value in enumerate(given):
            if value is result and type(nodes[place]) is list and nodes[place][0] not in ("h", "fn"):
                return [["arg", place], changed]
        return [self.encode(result), changed]

    # -- what is not plain data --

    def encode_other(self, value, depth):
        kind = type(value)
        if kind is Callback:
            return ["fn", value._number]
        if isinstance(value, type):
            return ["class", self.number(value), self.describe(value)]
        if isinstance(value, BaseException):
            return ["error", *self.encode_error(value)[:4]]
        if isinstance(value, types.GeneratorType):
            return ["gen", self.number(value)]
        if isinstance(value, types.CoroutineType):
            return ["coro", self.number(value)]
        for base in BASES:
            if isinstance(value, base):
                plain = self.encode(base_value(value, base), depth)
                return ["sub", self.number(value), self.describe(kind), plain]
        return ["h", self.number(value), self.describe(kind)]

    def decode_other(self, tag, node):
        if tag in ("h", "class", "gen", "coro", "error"):
            return self.objects[node[1]]
        if tag == "sub":
            return self._refreshed(self.objects[node[1]], self.decode(node[3]))
        if tag == "fn":
            return Callback(self, node[1], node[2])
        if tag == "it":
            return callback_items(Callback(self, node[1], "iterator"))
        raise WireError("an unknown tag: %.50r" % (tag,))

    def _refreshed(self, value, content):
        """Puts the judge's view of a subclassed list, dict or set back into the object itself."""
        for base, clear, fill in ((list, list.clear, list.extend), (set, set.clear, set.update),
                                  (dict, dict.clear, dict.update)):  # fmt: skip
            if isinstance(value, base):
                if base_value(value, base) != content:
                    clear(value)
                    fill(value, content)
                break
        return value

    def number(self, value):
        known = self.numbers.get(id(value))
        if known is None:
            known = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return known

    def describe(self, cls):
        """The number of a class; with its description at first mention."""
        known = self.classes.get(cls)
        if known is not None:
            return known
        own = self.classes[cls] = self.number(cls)
        ancestors = type.__dict__["__mro__"].__get__(cls)
        parents = [self.describe(base) for base in cls.__bases__ if getattr(builtins, base.__name__, None) is not base]
        builtin = [base.__name__ for base in ancestors if getattr(builtins, base.__name__, None) is base]
        specials = [name for name in SPECIAL_NAMES if _defines(cls, name)]
        return [own, str(cls.__name__), str(cls.__module__), parents, builtin, specials]

    def encode_error(self, error):
        """[number, class, arguments, text, last lines, token]; the text is asked for last: it may be hostile."""
        token = self.callback_errors.get(id(error), (None,))[0]
        kind = type(error)
        arguments = []
        for argument in BaseException.args.__get__(error):
            try:
                node = self.encode(argument)
                small = not isinstance(argument, (str, bytes, list, dict)) or len(json_text(node)) < MAX_ERROR_ARGUMENT
            except (Unsendable, RecursionError, MemoryError):
                small = False
            arguments.append(node if small else "(an argument too large to send)")
        lines = self.last_lines(error)
        if isinstance(error, MemoryError):
            error = MemoryError()
        if _std("builtins", kind.__name__) is kind:
            return [self.number(error), ["builtin", kind.__name__], arguments, _shown(error), lines, token]
        return [self.number(error), self.describe(kind), arguments, _shown(error), lines, token]

    def last_lines(self, error):
        """Where in the submission an error came from, innermost last."""
        found = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename == "solution.py":
                found.append((trace.tb_lineno, code.co_name))
            trace = trace.tb_next
        return [
            [line, name[:80], self.lines[line - 1].strip()[:200] if 0 < line <= len(self.lines) else ""]
            for line, name in found[-3:]
        ]

    # -- loading --

    def load(self, source):
        """Runs the submission as the module `solution`; the judge is told how that went."""
        self.lines = source.split("\n")
        module = types.ModuleType("solution")
        module.__file__ = os.path.join(os.getcwd(), "solution.py")
        sys.argv[:] = ["solution.py"]
        sys.path.insert(0, os.getcwd())
        sys.modules["solution"] = module
        try:
            with open("solution.py", "w", encoding="utf-8", newline="") as file:
                file.write(source)
            code = compile(source, "solution.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:  # a NUL or a lone surrogate is a ValueError
            where = "line %s: " % error.lineno if getattr(error, "lineno", None) else ""
            return ["syntax", where + str(getattr(error, "msg", error))[:MAX_TEXT]]
        except (RecursionError, MemoryError) as error:
            return ["syntax", "too complex to compile (%s)" % type(error).__name__]
        try:
            exec(code, module.__dict__)  # noqa: S102  this is what the jail is for
        except BaseException as error:  # noqa: BLE001  reported as the verdict's reason
            return ["raised", self.encode_error(error)]
        return ["loaded"]


_UNCHANGING = frozenset("i b c t fs const builtin range slice dec fr date dt time td uuid fn it gen coro class h".split())


def _defines(cls, name):
    return any(name in vars(base) for base in type.__dict__["__mro__"].__get__(cls)[:-1])


def _shown(error):
    try:
        return str(error)[:MAX_TEXT]
    except Exception as problem:  # noqa: BLE001  recorded as the text
        return "(its text cannot be shown: %s)" % type(problem).__name__


def serve(fd, source, *, preloaded):  # noqa: ARG001  what the zygote has imported makes no difference here
    """Loads `source` and answers on `fd` until the judge closes it; never returns.

    Called in the jailed child after all isolation is in force; stdin, stdout and stderr are set up and the
    working folder is its own.
    """
    worker = Worker(fd)
    outcome = worker.load(source)
    if os.getpid() == worker.process:
        worker.send([0, *outcome])
        worker.answer_until_end()
    os._exit(0)
