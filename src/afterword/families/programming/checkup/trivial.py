"""Programs that do nothing of what was asked: no suite may pass them, and no check may pass whichever it meets.

They define every name that the tests need, so that what fails is the answer and not the import.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from afterword.evaluators.function_tests import Suite
from afterword.evaluators.judge.program import Row
from afterword.families.programming.checkup.expected import (
    as_source,
    expected_errors,
    expected_values,
)

Kind = Literal["constant", "argument", "raises", "empty"]
_CONSTANTS = ("None", "0", "1", "''", "[]", "{}", "True", "False")
_FALSY = frozenset({"0", "''", "[]", "{}", "False"})
_MAX_EXPECTED = 3
_MAX_ANSWERS = 500
_ERROR_NAME = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning)\Z")


@dataclass(frozen=True, slots=True)
class Trivial:
    """One such program."""

    name: str
    """How it is shown, e.g. `returns 0`."""
    kind: Kind
    value: str
    """What it returns or raises, as source text."""
    source: str

    @property
    def is_falsy(self) -> bool:
        """Whether it returns a constant that Python takes for false; `None` counts as no answer at all."""
        return self.kind == "constant" and self.value in _FALSY

    @property
    def is_truthy(self) -> bool:
        return self.kind == "constant" and self.value in ("1", "True")

    @property
    def is_fixed(self) -> bool:
        """Whether it is one of those that do not depend on what the suite expects."""
        return self.kind == "constant" and self.value in _CONSTANTS


@dataclass(frozen=True, slots=True)
class Shape:
    """What the program has to look like from outside."""

    functions: tuple[str, ...]
    classes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    asynchronous: bool = False


def shape_of(suite: Suite, model: str) -> Shape:
    """The names that the tests need, each as what `model`, a solution or a signature, has it for.

    Without a word in `model` a name in CapWords is a class, and an exception class if it reads like one.
    """
    known = [name for name in suite.program.offered if re.search(rf"^(?:async def|def|class) {name}\b", model, re.M)]
    functions: list[str] = []
    classes: list[str] = []
    errors: list[str] = []
    for name in dict.fromkeys((*suite.program.needs, *known)):
        says_class = re.search(rf"^class {name}\b", model, re.MULTILINE) is not None
        says_function = re.search(rf"^(?:async )?def {name}\b", model, re.MULTILINE) is not None
        if _ERROR_NAME.match(name) and not says_function:
            errors.append(name)
        elif says_class or (name[0].isupper() and not name.isupper() and not says_function):
            classes.append(name)
        else:
            functions.append(name)
    asynchronous = re.search(rf"^async def {suite.entry_point}\b", model, re.MULTILINE) is not None
    return Shape(tuple(functions), tuple(classes), tuple(errors), asynchronous)


def trivial_programs(suite: Suite, shape: Shape) -> tuple[Trivial, ...]:
    """The trivial programs for a suite: the usual constants, those it expects most, and others without a thought."""
    values = list(dict.fromkeys((*_CONSTANTS, *expected_values(suite)[:_MAX_EXPECTED])))
    made = [Trivial(f"returns {text}", "constant", text, program_of(shape, f"return {text}")) for text in values]
    given = "return args[0] if args else next(iter(kwargs.values()), None)"
    made.append(Trivial("returns its first argument", "argument", "", program_of(shape, given)))
    errors = [error for error in dict.fromkeys(("ValueError", *expected_errors(suite)[:1])) if _is_error(error, shape)]
    made += [Trivial(f"raises {name}", "raises", name, program_of(shape, f"raise {name}('no')")) for name in errors]
    made.append(Trivial("is an empty file", "empty", "", "\n"))
    return tuple(made)


def program_of(shape: Shape, body: str) -> str:
    """A program in which each function, and each method of each class, has this body."""
    parts = [f"class {name}(Exception):\n    pass\n" for name in shape.errors]
    word = "async def" if shape.asynchronous else "def"
    parts += [f"{word} {name}(*args, **kwargs):\n    {body}\n" for name in shape.functions]
    parts += [_class(name, body) for name in shape.classes]
    return "\n\n".join(parts)


def _class(name: str, body: str) -> str:
    return f"""class {name}:
    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def method(*args, **kwargs):
            {body}

        return method
"""


def memorising(answers: Sequence[Row], shape: Shape) -> str | None:
    """A program that knows the visible answers and, for everything else, the most frequent of them.

    None where the visible checks give no answers away.
    """
    table: dict[str, str] = {}
    for row in answers[:_MAX_ANSWERS]:
        answer = _answer(row, shape)
        if answer is not None:
            table[repr((row.args, sorted(row.kwargs.items())))] = answer
    if not table or shape.classes:
        return None
    usual = max(dict.fromkeys(table.values()), key=list(table.values()).count)
    body = (
        "answer = _ANSWERS.get(repr((args, sorted(kwargs.items()))), _USUAL)\n"
        '    if answer[0] == "raise":\n'
        '        raise answer[1]("no")\n'
        "    return answer[1]"
    )
    entries = "".join(f"    {key!r}: {answer},\n" for key, answer in table.items())
    errors = program_of(replace(shape, functions=()), "pass")
    functions = program_of(replace(shape, errors=()), body)
    return f"{errors}\n\n_ANSWERS = {{\n{entries}}}\n_USUAL = {usual}\n\n\n{functions}"


def _answer(row: Row, shape: Shape) -> str | None:
    if row.how == "raises":
        name = str(row.expected)
        return f'("raise", {name})' if _is_error(name, shape) else None
    value = row.expected if row.how not in ("true", "false") else row.how == "true"
    text = as_source(value)
    return None if text is None else f'("return", {text})'


def _is_error(name: str, shape: Shape) -> bool:
    """Whether a program of this shape knows an exception of that name."""
    built_in = getattr(builtins, name, None)
    return name in shape.errors or (isinstance(built_in, type) and issubclass(built_in, Exception))
