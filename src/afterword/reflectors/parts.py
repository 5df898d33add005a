"""The parts of a lesson that a reflector can do without, to find out what each of them is worth.

Apart from the reflector, which asks for all of them. One part is left out of the instructions, of the worked examples
and of the checks at a time, or a model would copy from the examples what it is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from afterword.errors import InputError
from afterword.reflectors.shape import Problem


class Part(StrEnum):
    """What a lesson can lack."""

    FIRST_PERSON = "first_person"
    """That it speaks of itself as "I"."""
    DIAGNOSIS = "diagnosis"
    """What caused the failure."""
    PRESCRIPTION = "prescription"
    """What will be done otherwise."""
    EXAMPLES = "examples"
    """The worked examples in the prompt."""


UNCHECKED: dict[Part, frozenset[Problem]] = {
    Part.FIRST_PERSON: frozenset({Problem.NOT_FIRST_PERSON, Problem.NO_CHANGE}),  # what "I will" do, that is
    Part.DIAGNOSIS: frozenset({Problem.NO_ACTION, Problem.NO_CONSEQUENCE}),
    Part.PRESCRIPTION: frozenset({Problem.NO_CHANGE, Problem.NO_CONSEQUENCE, Problem.GENERIC}),
    Part.EXAMPLES: frozenset(),
}
"""The checks of a part, which its lack would fail."""


def parts_of(names: Iterable[str]) -> frozenset[Part]:
    """The parts of these names.

    Raises:
        InputError: there is no such part, or more than one besides the examples is left out.
    """
    names = tuple(names)
    for name in names:
        if name not in list(Part):
            raise InputError(f"a lesson can be without {', '.join(Part)}, found {name!r}")
    parts = frozenset(map(Part, names))
    if len(parts - {Part.EXAMPLES}) > 1:
        raise InputError("one part of a lesson is left out at a time, besides the examples; make an arm for each")
    return parts


def text_part(parts: frozenset[Part]) -> str:
    """The part that the lessons lack, as the templates know it; empty where they lack none."""
    return next((str(part) for part in parts if part is not Part.EXAMPLES), "")


def unchecked(parts: frozenset[Part]) -> frozenset[Problem]:
    """The problems that are none without these parts."""
    return frozenset[Problem]().union(*(UNCHECKED[part] for part in parts))
