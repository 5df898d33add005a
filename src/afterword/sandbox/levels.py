"""Which isolation this host can give, found by really trying it, and the one door to a sandbox.

Separate from the levels themselves, so that each can be read without the choice between them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, Self

from afterword.core.protocols import Sandbox
from afterword.errors import InputError, SandboxFault
from afterword.sandbox.namespaced import NamespaceSandbox

Level = Literal["namespaces", "bubblewrap", "seatbelt", "process"]
STRONG: tuple[Level, ...] = ("namespaces", "bubblewrap")
"""Levels that a run takes without being told that less is fine."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """Whether one level works on this host."""

    level: Level
    works: bool
    why_not: str = ""
    """The host's own reason when it does not work."""


@dataclass(frozen=True, slots=True)
class Options:
    """What every level needs to know of the programs it will run."""

    python: Path
    workers: int
    readable: tuple[Path, ...]
    environment: Mapping[str, str]


class TryableSandbox(Sandbox, Protocol):
    """A sandbox that can prove itself."""

    async def try_out(self) -> None: ...

    async def __aenter__(self) -> Self: ...


def _namespaces(options: Options) -> TryableSandbox:
    return NamespaceSandbox(
        python=options.python,
        workers=options.workers,
        readable=options.readable,
        environment=options.environment,
    )


_LEVELS: dict[Level, Callable[[Options], TryableSandbox]] = {"namespaces": _namespaces}


async def probe(*, python: Path | None = None) -> tuple[LevelReport, ...]:
    """Tries each level, strongest first, by running a program in it."""
    options = Options(_interpreter(python), 1, (), {})
    return tuple([await _report(level, options) for level in _LEVELS])


@asynccontextmanager
async def open_sandbox(
    level: Level | None = None,
    *,
    python: Path | None = None,
    workers: int | None = None,
    readable: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    allow_weak: bool = False,
) -> AsyncIterator[Sandbox]:
    """The strongest sandbox that works here, or the level asked for.

    Args:
        level: None picks the first that works.
        python: The interpreter of submissions; None is our own.
        workers: How many programs run at once; None is one for each processor.
        readable: Folders that commands may read besides the system's, e.g. a toolchain below a home.
        environment: Variables of commands and submissions besides the fixed few.
        allow_weak: Also take a level that does not keep a hostile program in.

    Raises:
        InputError: Only a weak level works, or the one asked for is weak, and `allow_weak` is not given.
        SandboxFault: The level asked for does not work here.
    """
    options = Options(_interpreter(python), workers or os.cpu_count() or 1, tuple(readable), environment or {})
    if level is not None:
        _refuse_weak(level, allow_weak, why="it was asked for")
    candidates = [level] if level is not None else list(_LEVELS)
    reasons: list[str] = []
    for candidate in candidates:
        if level is None and candidate not in STRONG:
            _refuse_weak(candidate, allow_weak, why="; ".join(reasons))
        report = await _report(candidate, options)
        if report.works:
            async with _opened(candidate, options) as sandbox:
                yield sandbox
            return
        reasons.append(f"{candidate}: {report.why_not}")
    raise SandboxFault(f"no sandbox works here ({'; '.join(reasons)}); see `afterword doctor`")


def _opened(level: Level, options: Options) -> AbstractAsyncContextManager[TryableSandbox]:
    return _LEVELS[level](options)


async def _report(level: Level, options: Options) -> LevelReport:
    try:
        async with _opened(level, options) as sandbox:
            await sandbox.try_out()
    except SandboxFault as fault:
        return LevelReport(level, works=False, why_not=str(fault))
    return LevelReport(level, works=True)


def _refuse_weak(level: Level, allow_weak: bool, *, why: str) -> None:
    if level not in STRONG and not allow_weak:
        raise InputError(
            f"expected an isolation level that keeps a hostile program in, found only {level!r} ({why}); "
            "make one work (`afterword doctor` tells how) or accept the risk with --allow-weak-isolation"
        )


def _interpreter(python: Path | None) -> Path:
    chosen = python or Path(sys.executable)
    if not chosen.is_file():
        raise InputError(f"expected a Python interpreter, found no file at {str(chosen)!r}")
    return chosen.absolute()
