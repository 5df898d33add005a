"""The part of pytest that tests may use here, without pytest: raises, approx, fixture, parametrize, param, fail.

A process that holds pytest takes twice as long to fork, and its assertion rewriting is private to it. Anything
beyond this module is refused by name before the tests run.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from afterword.evaluators.judge.approximate import Approx
from afterword.evaluators.judge.ends import UnsupportedFeature


class Failed(AssertionError):
    """`pytest.fail` was called, or an expected error was not raised."""


class ExceptionInfo:
    """What `raises` caught."""

    value: BaseException

    @property
    def type(self) -> type[BaseException]:
        return type(self.value)

    def match(self, pattern: str) -> bool:
        """Fails unless the error's text has the pattern."""
        if not re.search(pattern, str(self.value)):
            raise Failed(f"the error's text {str(self.value)!r} does not match {pattern!r}")
        return True


class Raises:
    """The context manager of `pytest.raises`."""

    def __init__(self, expected: type[BaseException] | tuple[type[BaseException], ...], pattern: str | None) -> None:
        self.expected = expected if isinstance(expected, tuple) else (expected,)
        self.pattern = pattern
        self.info = ExceptionInfo()

    def __enter__(self) -> ExceptionInfo:
        return self.info

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            names = " or ".join(cls.__name__ for cls in self.expected)
            raise Failed(f"expected {names}, and nothing was raised")
        if not isinstance(error, self.expected):
            return False
        self.info.value = error
        if self.pattern is not None:
            self.info.match(self.pattern)
        return True


def raises(expected: Any, *args: Any, match: str | None = None, **kwargs: Any) -> Any:
    """`with raises(Error, match=...)`, or `raises(Error, function, *args)`."""
    context = Raises(expected, match)
    if not args:
        return context
    with context as info:
        args[0](*args[1:], **kwargs)
    return info


def fail(reason: str = "", pytrace: bool = True) -> None:  # noqa: ARG001  pytest's signature
    """Fails the check."""
    raise Failed(reason)


@dataclass(frozen=True)
class ParameterSet:
    """`pytest.param(...)`."""

    values: tuple[object, ...]


def param(*values: object, id: str | None = None, marks: object = ()) -> ParameterSet:  # noqa: A002, ARG001
    """One set of arguments; its id is read from the source."""
    return ParameterSet(values)


@dataclass
class FixtureFunction:
    """A function under `@fixture`."""

    function: Callable[..., object]
    name: str
    scope: str
    autouse: bool


def fixture(function: Any = None, *, scope: str = "function", autouse: bool = False, name: str | None = None) -> Any:
    """Marks a fixture of the file."""
    if function is None:
        return lambda real: fixture(real, scope=scope, autouse=autouse, name=name)
    return FixtureFunction(function, name or function.__name__, scope, autouse)


def _parametrize(names: str | Sequence[str], values: Sequence[object], **options: object) -> Callable[[Any], Any]:  # noqa: ARG001
    split = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
    rows = []
    for value in values:
        given = value.values if isinstance(value, ParameterSet) else (value,) if len(split) == 1 else tuple(value)  # type: ignore[arg-type]
        if len(given) != len(split):
            raise UnsupportedFeature(f"parametrize with {len(split)} names and {len(given)} values")
        rows.append(dict(zip(split, given, strict=True)))

    def mark(target: Any) -> Any:
        target._aw_rows = [*getattr(target, "_aw_rows", ()), rows]
        return target

    return mark


def rows_of(function: object, cls: type | None = None) -> list[dict[str, object]]:
    """The argument sets of a parametrized test, in pytest's order; one empty set without parametrize."""
    combined: list[dict[str, object]] = [{}]
    for rows in [*getattr(function, "_aw_rows", ()), *getattr(cls, "_aw_rows", ())]:
        combined = [{**one, **row} for one in combined for row in rows]
    return combined


@dataclass
class Fixtures:
    """The fixtures of a file, and the values they have at the moment."""

    functions: dict[str, FixtureFunction]
    _values: dict[str, object] = field(default_factory=dict)
    _endings: list[tuple[str, Iterator[object]]] = field(default_factory=list)

    def arguments(self, function: Callable[..., object], given: Mapping[str, object]) -> dict[str, object]:
        """Values for the parameters of a function that are not given."""
        names = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD and name != "self"
        ]
        for known in self.functions.values():
            if known.autouse:
                self.value(known.name, given)
        wanted = {name: given[name] if name in given else self.value(name, given) for name in names}
        return {**wanted, **{name: value for name, value in given.items() if name not in wanted}}

    def value(self, name: str, given: Mapping[str, object]) -> object:
        """The value of a fixture, made at first use in its scope."""
        if name in self._values:
            return self._values[name]
        if name not in self.functions:
            raise UnsupportedFeature(f"the fixture {name!r}")
        found = self.functions[name]
        needed = {key: self.value(key, given) for key in inspect.signature(found.function).parameters}
        value = found.function(**needed)
        if inspect.isgenerator(value):
            self._endings.append((name, value))
            value = next(value)
        self._values[name] = value
        return value

    def end(self, *, everything: bool = False) -> None:
        """Ends the fixtures of one test; with `everything` also those of the whole file."""
        for name, generator in reversed(self._endings):
            if everything or self.functions[name].scope == "function":
                for _ in generator:
                    raise UnsupportedFeature(f"a fixture that yields twice ({name!r})")
        kept = {} if everything else {k: v for k, v in self._values.items() if self.functions[k].scope != "function"}
        self._endings = [] if everything else [(name, it) for name, it in self._endings if name in kept]
        self._values = kept


def module() -> types.ModuleType:
    """The module that `import pytest` finds in a test file."""
    made = types.ModuleType("pytest")
    made.__dict__.update(raises=raises, approx=Approx, fixture=fixture, param=param, fail=fail, Failed=Failed)
    made.__dict__["mark"] = types.SimpleNamespace(parametrize=_parametrize)
    return made
