"""The judge's part of containers that both ends hold: nothing that the jail says about them goes unchecked.

Apart from `connection.py`, whose frames carry the changes.
"""

from __future__ import annotations

from typing import Any

from afterword.evaluators.judge.ends import Tampered, UnsupportedFeature
from afterword.sandbox.jail.codec import WireError
from afterword.sandbox.jail.sharing import KINDS, Shared, put


class Held(Shared):
    """Lists, dicts and sets of the tests that the program holds too."""

    def put(self, target: Any, content: Any) -> bool:
        """What the tests have put into a container stays out of the program's reach."""
        return put(target, content)

    def _node(self, value: Any) -> Any:
        try:
            return super()._node(value)
        except UnsupportedFeature as end:  # the tests put something in that cannot cross
            end.take_back()
            return None

    def take_over(self, changes: object) -> None:
        """Raises Tampered if they are out of form."""
        try:
            self.apply(changes if type(changes) is list else [changes])
        except (WireError, RecursionError) as error:
            raise Tampered(str(error)) from None

    def keep(self, kept: object, given: list[object]) -> None:
        """From now on both ends hold these arguments, told as [place, number]."""
        for pair in kept if type(kept) is list else [kept]:
            if type(pair) is not list or [type(part) for part in pair] != [int, int] or not 0 <= pair[0] < len(given):
                raise Tampered("an argument that was not given")
            if type(given[pair[0]]) in KINDS and self.get(pair[1]) is None:
                self.add(pair[1], given[pair[0]])

    def container(self, number: object, content: object) -> object:
        """The one local container of a number, with this content."""
        if type(number) is not int or type(content) not in KINDS:
            raise WireError("a container that cannot be shared")
        known = self.get(number)
        if known is None or not put(known, content):
            known = content
        self.add(number, known)
        return known
