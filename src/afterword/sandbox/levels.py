"""Which isolation this host can give, found by really trying it, and the one door to a sandbox.

Separate from the levels themselves, so that each can be read without the choice between them.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, Self

import anyio

from afterword.core.protocols import Sandbox
from afterword.errors import InputError, SandboxFault
from afterword.sandbox.container import ContainerSandbox
from afterword.sandbox.launchers import Bare, Bubblewrap, Launcher, Seatbelt
from afterword.sandbox.namespaced import PRELOADED, NamespaceSandbox
from afterword.sandbox.spawned import SpawnedSandbox

Level = Literal["namespaces", "bubblewrap", "container", "seatbelt", "process"]
STRONG: tuple[Level, ...] = ("namespaces", "bubblewrap", "container")
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
    preload: tuple[str, ...] = PRELOADED


class TryableSandbox(Sandbox, Protocol):
    """A sandbox that can prove itself."""

    async def try_out(self) -> None: ...

    async def __aenter__(self) -> Self: ...


def _namespaces(options: Options) -> TryableSandbox:
    if platform.system() != "Linux":
        raise SandboxFault(f"namespaces are Linux's, and this is {platform.system()}")
    return NamespaceSandbox(
        python=options.python,
        workers=options.workers,
        readable=options.readable,
        extra_environment=options.environment,
        preload=options.preload,
    )


def _spawned(launcher: Callable[[], Launcher], options: Options) -> TryableSandbox:
    return SpawnedSandbox(
        launcher(),
        python=options.python,
        workers=options.workers,
        readable=options.readable,
        extra_environment=options.environment,
    )


def _container(options: Options) -> TryableSandbox:
    if platform.system() != "Linux":
        raise SandboxFault(f"this container level is Linux's, and this is {platform.system()}")
    return ContainerSandbox(
        python=options.python,
        workers=options.workers,
        readable=options.readable,
        extra_environment=options.environment,
    )


_LEVELS: dict[Level, Callable[[Options], TryableSandbox]] = {
    "namespaces": _namespaces,
    "bubblewrap": partial(_spawned, Bubblewrap),
    "container": _container,
    "seatbelt": partial(_spawned, Seatbelt),
    "process": partial(_spawned, Bare),
}


async def probe(*, python: Path | None = None) -> tuple[LevelReport, ...]:
    """Tries each level, strongest first, by running a program in it."""
    options = Options(await _interpreter(python), 1, (), {})
    return tuple([await _report(level, options) for level in _LEVELS])


@asynccontextmanager
async def open_sandbox(
    level: Level | None = None,
    *,
    python: Path | None = None,
    workers: int | None = None,
    readable: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    preload: Sequence[str] = PRELOADED,
    allow_weak: bool = False,
) -> AsyncIterator[Sandbox]:
    """The strongest sandbox that works here, or the level asked for.

    Args:
        level: None picks the first that works.
        python: The interpreter of submissions; None is our own.
        workers: How many programs run at once; None is one for each processor.
        readable: Folders that commands may read besides the system's, e.g. a toolchain below a home.
        environment: Variables of commands and submissions besides the fixed few; PYTHONHASHSEED, which is 0
            otherwise, decides the order of sets in submissions.
        preload: Modules that take long to import; a level that keeps processes warm starts submissions which name one
            from a process that holds them.
        allow_weak: Also take a level that does not keep a hostile program in.

    Raises:
        InputError: Only a weak level works, or the one asked for is weak, and `allow_weak` is not given.
        SandboxFault: The level asked for does not work here.
    """
    options = Options(
        await _interpreter(python), workers or os.cpu_count() or 1, tuple(readable), environment or {}, tuple(preload)
    )
    if level is not None:
        _refuse_weak(level, allow_weak, found=repr(level))
    candidates = [level] if level is not None else list(_LEVELS)
    reasons: list[str] = []
    for candidate in candidates:
        if level is None and candidate not in STRONG:
            _refuse_weak(candidate, allow_weak, found=f"none that works here ({'; '.join(reasons)})")
        proved = _proved(candidate, options)
        try:
            sandbox = await proved.__aenter__()
        except SandboxFault as fault:
            reasons.append(f"{candidate}: {fault}")
            continue
        async with AsyncExitStack() as stack:
            stack.push_async_exit(proved)
            yield sandbox
        return
    raise SandboxFault(f"no sandbox works here ({'; '.join(reasons)}); see `afterword doctor`")


@asynccontextmanager
async def _proved(level: Level, options: Options) -> AsyncIterator[Sandbox]:
    """A sandbox that has run something. Raises SandboxFault where it cannot."""
    async with _LEVELS[level](options) as sandbox:
        await sandbox.try_out()
        yield sandbox


async def _report(level: Level, options: Options) -> LevelReport:
    try:
        async with _proved(level, options):
            return LevelReport(level, works=True)
    except SandboxFault as fault:
        return LevelReport(level, works=False, why_not=str(fault))


def _refuse_weak(level: Level, allow_weak: bool, *, found: str) -> None:
    if level not in STRONG and not allow_weak:
        raise InputError(
            f"expected an isolation level that keeps a hostile program in, found {found}; "
            "make one work (`afterword doctor` tells how) or accept the risk with --allow-weak-isolation"
        )


async def _interpreter(python: Path | None) -> Path:
    """An absolute path, its symlinks kept: a virtual environment is told by where it was called."""
    if python is None:
        return Path(sys.executable)
    try:
        with anyio.fail_after(30):
            answer = await anyio.run_process([str(python), "-I", "-c", _VERSION_CHECK], check=False)
    except (OSError, TimeoutError) as error:
        raise InputError(f"expected a Python interpreter at {str(python)!r}, found: {error}") from error
    if answer.stdout.strip() != b"True":
        raise InputError(f"expected a Python interpreter, 3.8 or later, at {str(python)!r}; it does not answer as one")
    return _absolute(python)


_VERSION_CHECK = "import sys; print(sys.version_info >= (3, 8))"


def _absolute(path: Path) -> Path:
    return Path.cwd() / path
