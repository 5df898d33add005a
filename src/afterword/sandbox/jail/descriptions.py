"""What is told of a submission's errors and classes: arguments, text and last lines; the operators that are defined.

Apart from `worker.py`, since nothing of it depends on what crossed before.
"""

from __future__ import annotations

from typing import Any

from .codec import BASES, SPECIAL_NAMES, ancestors, is_builtin, standard_class

MAX_TEXT = 2_000


def arguments(error: BaseException) -> tuple[Any, ...]:
    """What the error was made of; two classes keep some of it elsewhere."""
    given: tuple[Any, ...] = BaseException.__dict__["args"].__get__(error)
    if type(error).__module__ == "builtins" and isinstance(error, OSError) and error.filename is not None:
        return (*given, error.filename)
    if type(error) is standard_class("json.decoder", "JSONDecodeError"):
        return tuple(vars(error).get(name) for name in ("msg", "doc", "pos"))
    return given


def shown(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except Exception as problem:  # noqa: BLE001  recorded as the text
        return f"(its text cannot be shown: {type(problem).__name__})"


def last_lines(error: BaseException, source: list[str]) -> list[list[Any]]:
    """Where in the submission an error came from, innermost last."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == "solution.py":
            found.append((trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return [
        [line, name[:80], source[line - 1].strip()[:200] if 0 < line <= len(source) else ""]
        for line, name in found[-3:]
    ]


def operators(cls: type) -> list[str]:
    """The operators that a class defines; of a class of plain data all that it defines anew."""
    specials = _overridden(cls)
    return [name for name in SPECIAL_NAMES if _defines(cls, name)] if specials is None else specials


def _defines(cls: type, name: str) -> bool:
    return any(name in vars(base) for base in ancestors(cls)[:-1])


def _overridden(cls: type) -> list[str] | None:
    """What a subclass of a built-in class of plain data, and no other, defines anew."""
    bases = ancestors(cls)
    plain = [base for base in bases if base in BASES]
    if not plain or issubclass(cls, BaseException):
        return None
    names = {name for base in bases if not is_builtin(base) for name in vars(base)}
    if "__missing__" in names:
        names.add("__getitem__")
    return sorted(name for name in names if name in SPECIAL_NAMES or (hasattr(plain[0], name) and name[:1] != "_"))
