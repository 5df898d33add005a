"""What ends a verdict early, whatever the tests catch.

All are `BaseException`, since tests and programs may hold `except Exception`.
"""

from __future__ import annotations


class VerdictEnd(BaseException):
    """The base of what no test may catch."""


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
