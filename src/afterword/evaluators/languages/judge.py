"""`LanguageJudge`: builds a program with its tests and runs it, each in a jail, for any number of callers at a time."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread

from afterword.core.protocols import Sandbox
from afterword.core.records import Feedback, Limits, RunResult
from afterword.errors import BadTests, SandboxFault
from afterword.evaluators.languages.cache import BuildCache, cache_folder
from afterword.evaluators.languages.protocol import TOKENS_FILE, BuildFailure, Language, Made, Step, Toolchain
from afterword.evaluators.languages.suite import LanguageSuite
from afterword.evaluators.languages.tokens import Tokens, read
from afterword.evaluators.languages.verdict import unbuilt, verdict_of
from afterword.sandbox import Level, open_sandbox

BUILD_LIMITS = Limits(wall_s=30.0, memory_mb=2048, processes=64, file_mb=64, output_bytes=1_000_000)
"""What one build step may use, whatever the verdict may; a compiler needs more than most programs."""
MAX_SOURCE_CHARS = 200_000


class BuildEnded(Exception):
    """A build step was ended by a limit, or by a crash of the compiler."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        crashed = result.reason == "signal"
        super().__init__("the compiler crashed" if crashed else f"the compiler was ended by the limit: {result.reason}")


class _JailedWorkshop:
    """Makes steps in jails, looking in the cache first."""

    def __init__(self, sandbox: Sandbox, toolchain: Toolchain, cache: BuildCache | None) -> None:
        self._sandbox = sandbox
        self._toolchain = toolchain
        self._cache = cache

    async def make(self, step: Step) -> Made:
        if self._cache is None:
            return await self._made(step)
        key = self._cache.key(self._toolchain, step)
        kept = await anyio.to_thread.run_sync(self._cache.find, key)
        if kept is not None:
            return kept
        made = await self._made(step)
        await anyio.to_thread.run_sync(self._cache.keep, key, made)
        return made

    async def _made(self, step: Step) -> Made:
        result = await self._sandbox.run(step.argv, step.files, BUILD_LIMITS, collect=step.collect)
        if result.exit_code is None:
            raise BuildEnded(result)
        if result.exit_code == 127:
            raise SandboxFault(f"the jail has no {step.argv[0]!r}: {result.stderr.strip()}; see `afterword doctor`")
        return Made(result.exit_code, result.files, result.stderr or result.stdout)


class LanguageJudge:
    """Judges programs of one language by suites. The sandbox is the caller's, and has to show the toolchain."""

    def __init__(
        self, language: Language, sandbox: Sandbox, toolchain: Toolchain, *, cache: BuildCache | None = None
    ) -> None:
        self.language = language
        self._sandbox = sandbox
        self._toolchain = toolchain
        self._workshop = _JailedWorkshop(sandbox, toolchain, cache)

    @property
    def isolation(self) -> str:
        """The level of the jails."""
        return self._sandbox.isolation

    async def judge(self, source: str, suite: LanguageSuite, limits: Limits) -> Feedback:
        """The verdict of a suite on a program; its trust is `shared_process`.

        Its reason is ok, failed, error, timeout, memory, tampered, output_limit, syntax or missing.

        Raises:
            SandboxFault: no verdict could be reached.
        """
        started = time.monotonic()
        if (problem := _no_source(source)) is not None:
            return unbuilt(suite.check_ids, BuildFailure("syntax", problem), self.isolation, 0.0)
        try:
            program = await self.language.build(self._toolchain, self._workshop, source, suite.tests)
        except BuildEnded as ended:
            program = BuildFailure(_reason_of(ended.result), f"{ended} while it read the program")
        if isinstance(program, BuildFailure):
            return unbuilt(suite.check_ids, program, self.isolation, time.monotonic() - started)
        tokens = Tokens.drawn(len(suite.tests.check_ids))
        files = {**program.files, TOKENS_FILE: tokens.file}
        ending = await self._sandbox.run(program.argv, files, limits)
        proof = read(ending.stdout, tokens)
        return verdict_of(suite, proof, ending, limits)

    async def refuse_unusable(self, suite: LanguageSuite) -> None:
        """Builds the tests with a program that does nothing, where the signature tells of one.

        Raises:
            BadTests: they do not compile.
        """
        stub = self.language.stub(suite.tests)
        if stub is None:
            return
        try:
            built = await self.language.build(self._toolchain, self._workshop, stub, suite.tests)
        except BuildEnded as ended:
            raise BadTests(f"{ended} while it read the tests", file=suite.file) from None
        if isinstance(built, BuildFailure) and self.language.blames_names(built.message):
            return
        if isinstance(built, BuildFailure) and built.reason == "missing":
            raise BadTests(built.message, file=suite.file)
        if isinstance(built, BuildFailure):
            raise BadTests(f"signature is not valid: {built.message}", file=suite.file)


@asynccontextmanager
async def open_judge(
    language: Language,
    level: Level | None = None,
    *,
    workers: int | None = None,
    allow_weak: bool = False,
    cache: Path | None = None,
) -> AsyncIterator[LanguageJudge]:
    """A judge of a language, with a sandbox that shows its toolchain.

    Args:
        language: one of `LANGUAGES`.
        level: as `open_sandbox`.
        workers: how many programs are built or run at once.
        allow_weak: as `open_sandbox`.
        cache: where compiled programs are kept; None is the user's cache folder.

    Raises:
        InputError: the toolchain is not there, or only a weak level works.
        SandboxFault: the level asked for does not work here.
    """
    toolchain = await anyio.to_thread.run_sync(language.find_toolchain)
    async with open_sandbox(level, readable=toolchain.readable, workers=workers, allow_weak=allow_weak) as sandbox:
        yield LanguageJudge(language, sandbox, toolchain, cache=BuildCache(cache or cache_folder()))


def _no_source(source: str) -> str | None:
    if not source.strip():
        return "the program is empty"
    if len(source) > MAX_SOURCE_CHARS:
        return f"the program is longer than {MAX_SOURCE_CHARS:,} characters"
    if "\0" in source:
        return "the program holds a NUL character"
    return None


def _reason_of(result: RunResult) -> str:
    return result.reason if result.reason in ("timeout", "memory", "output_limit") else "error"
