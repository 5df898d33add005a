"""What an evaluator is, as a fingerprint: so that a rubric can be locked, whatever its criteria are made of.

An evaluator that says so itself (`fingerprint`) is believed. Of others everything counts that can be seen: the type and
its source, plain fields, the source of a function. What cannot be seen into counts by its type.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import CellType

from afterword.core.effects import fingerprint

_MAX_DEPTH = 8


def identity_of(evaluator: object) -> str:
    """A fingerprint that is equal for evaluators that judge alike, as far as can be seen."""
    return fingerprint(_seen(evaluator, 0))


def _seen(value: object, depth: int) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if depth > _MAX_DEPTH:
        return _name_of(type(value))
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return [[_seen(key, depth + 1), _seen(each, depth + 1)] for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [_seen(each, depth + 1) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(fingerprint(_seen(each, depth + 1)) for each in value)
    return _thing(value, depth)


def _thing(value: object, depth: int) -> object:
    for name in ("fingerprint", "digest"):
        stated = getattr(value, name, None)
        if isinstance(stated, str):
            return [_name_of(type(value)), stated]
    if isinstance(value, partial):
        return [_seen(value.func, depth + 1), _seen(value.args, depth + 1), _seen(value.keywords, depth + 1)]
    if inspect.isroutine(value) or isinstance(value, type):
        return [_name_of(value), _source(value), _seen(_bound(value), depth + 1)]
    parts: list[object] = []
    if is_dataclass(value):
        parts = [[one.name, _seen(getattr(value, one.name), depth + 1)] for one in fields(value)]
    elif depth == 0:  # its settings; objects further down may hold what changes from call to call
        settings = sorted(getattr(value, "__dict__", {}).items())
        parts = [[name, _seen(part, depth + 1)] for name, part in settings]
    return [_name_of(type(value)), _source(type(value)) if depth == 0 else "", parts]


def _bound(value: object) -> list[object]:
    """What a function brings along besides its text: what it closes over, its defaults, the object it is bound to."""
    cells = getattr(value, "__closure__", None) or ()
    closed = [cell.cell_contents for cell in cells if _is_filled(cell)]
    return [closed, *(getattr(value, name, None) for name in ("__defaults__", "__kwdefaults__", "__self__"))]


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty one raises
    except ValueError:
        return False
    return True


def _name_of(value: object) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(type(value)))}"


def _source(value: object) -> str:
    """The text of a function or class; empty where there is none, as at a prompt."""
    if not (inspect.isfunction(value) or inspect.ismethod(value) or inspect.isclass(value)):
        return ""
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return ""
