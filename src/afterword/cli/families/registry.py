"""Which family a source belongs to. A family's module is loaded only when it is used."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from afterword.cli.families.interface import Family
from afterword.errors import InputError
from afterword.families.names import plain_name

DEFAULT = "programming"

_OF_NAME = {
    "humaneval": "programming",
    "mbpp": "programming",
    "quixbugs": "programming",
    "hotpotqa": "qa",
    "hotpotqa-train": "qa",
    "alfworld": "decision",
    "textworld-express": "decision",
    "webshop": "decision",
}
"""The families of sources that are names, such as a benchmark's; paths are the default family's."""
_FAMILY = {plain_name(name): family for name, family in _OF_NAME.items()}


def _programming() -> Family:
    from afterword.cli.families.programming import ProgrammingFamily

    return ProgrammingFamily()


def _questions() -> Family:
    from afterword.cli.families.qa import QuestionFamily

    return QuestionFamily()


def _decision() -> Family:
    from afterword.cli.families.decision import DecisionFamily

    return DecisionFamily()


_LOADERS: dict[str, Callable[[], Family]] = {
    "programming": _programming,
    "qa": _questions,
    "decision": _decision,
}
FAMILIES = tuple(_LOADERS)


def family_named(name: str) -> Family:
    """The family of this name.

    Raises:
        InputError: there is none; the message lists them.
    """
    if name not in _LOADERS:
        close = difflib.get_close_matches(name, _LOADERS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_LOADERS)}"
        raise InputError(f"unknown family {name!r}; {hint}")
    return _LOADERS[name]()


def family_of(sources: Sequence[str], stated: str | None) -> Family:
    """The family that is stated, or the one that the sources belong to.

    Raises:
        InputError: there is no such family, or the sources belong to several.
    """
    if stated is not None:
        return family_named(stated)
    found = {source: _family_name(source) for source in sources}
    names = set(found.values())
    if len(names) > 1:
        told = ", ".join(f"{source!r} is of {name}" for source, name in found.items())
        raise InputError(f"expected sources of one family, found several: {told}; run them one after the other")
    return family_named(names.pop() if names else DEFAULT)


def is_name(source: str) -> bool:
    """Whether it names a benchmark or games, and no place of files."""
    return _plain(source) in _FAMILY


def names_like(source: str) -> str:
    """What to do about a name that there is none of: the closest one, or all."""
    close = difflib.get_close_matches(source.strip().lower(), _OF_NAME, n=1)
    return f"did you mean {close[0]!r}?" if close else f"the benchmarks are {', '.join(_OF_NAME)}"


def _family_name(source: str) -> str:
    return _FAMILY.get(_plain(source), DEFAULT)


def _plain(source: str) -> str:
    return plain_name(source.partition(":")[0]).removesuffix("+")
