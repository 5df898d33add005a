"""What ends a verdict early, whatever the tests catch.

All are `BaseException`, since tests and programs may hold `except Exception`.
"""

from __future__ import annotations

from typing import ClassVar


class VerdictEnd(BaseException):
    """The base of what no test may keep from ending the verdict."""

    first: ClassVar[VerdictEnd | None] = None
    """The first one in this process, which reaches one verdict. A bare `except` of the tests catches it like any other;
    without this the check would then pass on no evidence at all."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        VerdictEnd.first = VerdictEnd.first or self

    def take_back(self) -> None:
        """For who answers it by something else than the end of the verdict."""
        if VerdictEnd.first is self:
            VerdictEnd.first = None

    @staticmethod
    def insist() -> None:
        """Raises the first end again, if there was one."""
        if VerdictEnd.first is not None:
            raise VerdictEnd.first


class JailLost(VerdictEnd):
    """The jail closed the connection: it ended or was ended."""


class Tampered(VerdictEnd):
    """The jail sent something that an honest one never sends."""


class DeadlinePassed(VerdictEnd):
    """The time for the program and its tests is over."""


class TooManyCallbacks(VerdictEnd):
    """The program called functions of the tests more often than is allowed."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"more than {limit:,} calls of functions of the tests")


class UnsupportedFeature(VerdictEnd):
    """The tests use what this judge does not offer; the message names it."""
