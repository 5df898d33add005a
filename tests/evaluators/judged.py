"""Shorthands for tests of verdicts: judge a program, watch what it printed, count what is left of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from afterword.core.protocols import Peer, Sandbox
from afterword.core.records import Feedback, Limits, RunResult
from afterword.evaluators.function_tests import JudgePool, Suite


def suite_of(source: str, tests: str) -> Suite:
    """A suite for the first public function or class of a program."""
    (name, *_) = [found for found in re.findall(r"(?:def|class) (\w+)", source) if not found.startswith("_")] or ["f"]
    return Suite.from_source(textwrap.dedent(tests), entry_point=name)


async def judge(judges: JudgePool, source: str, tests: str, limits: Limits | None = None) -> Feedback:
    source = textwrap.dedent(source)
    return await judges.judge(source, suite_of(source, tests), limits or Limits())


class Listening:
    """A sandbox that keeps how each jail ended, with what the program printed."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.peers: list[Peer] = []

    @property
    def isolation(self) -> str:
        return self._inner.isolation

    async def open(self, source: str, limits: Limits) -> Peer:
        self.peers.append(await self._inner.open(source, limits))
        return self.peers[-1]

    async def run(
        self, argv: Sequence[str], files: Mapping[str, bytes], limits: Limits, *, collect: Sequence[str] = ()
    ) -> RunResult:
        return await self._inner.run(argv, files, limits, collect=collect)

    async def printed(self) -> str:
        endings = [await peer.wait() for peer in self.peers]
        return "".join(ending.stdout + ending.stderr for ending in endings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """The inner sandbox is the caller's."""
