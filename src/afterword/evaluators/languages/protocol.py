"""What a programming language has to give so that programs in it can be judged.

Each is a class that the registry names. Everything that does not depend on the language (jails, tokens, the verdict,
the cache, the loop) is elsewhere and is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

TOKENS_FILE = "tokens"
"""In the work folder of a running test: a mark, one token for each check, and one for the end, a line each.

The test program reads and removes it before anything of the solution runs.
"""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The programs of a language on this host."""

    program: Path
    """The compiler or interpreter itself, not a launcher of it."""
    version: str
    """Tells two toolchains apart, e.g. in the keys of the cache."""
    readable: tuple[Path, ...] = ()
    """Folders that a jail has to show besides the system's."""


@dataclass(frozen=True, slots=True)
class TestFile:
    """Tests as read, before there is a program: what they check, and the text that a language makes of them."""

    __test__ = False  # not a test of ours

    text: str
    """The source as the user wrote it."""
    entry_point: str
    signature: str | None
    check_ids: tuple[str, ...]
    code: str
    """The source with each check marked, in the form that the language's `build` takes."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """What a check says, by its id, where one statement is the check: it leads the message."""
    shared_state: tuple[str, ...] = ()
    """Why checks depend on each other, if they do."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command in a jail of its own that makes files of files, the same ones for the same input."""

    argv: tuple[str, ...]
    files: Mapping[str, bytes]
    collect: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """What a step came to."""

    exit_code: int
    files: Mapping[str, bytes]
    output: str


@dataclass(frozen=True, slots=True)
class Program:
    """What is run under the tokens of one verdict."""

    argv: tuple[str, ...]
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """Why there is nothing to run."""

    reason: str
    """`syntax` when the solution does not compile, `missing` when the tests do not fit it."""
    message: str


class Workshop(Protocol):
    """Carries out the steps of a build: in jails, or from the cache.

    Raises:
        BuildEnded: a step was ended by a limit.
    """

    async def make(self, step: Step) -> Made: ...


class Language(Protocol):
    """A programming language.

    A build is a function of the toolchain, the solution and the tests, and nothing of the tests is in reach of the
    solution while it is built. When the program runs it reports each check as `verdict` reads it, with its token
    only after the check has passed.
    A solution that does not compile is returned as `BuildFailure`; tests that cannot be used raise `BadTests`.
    """

    @property
    def name(self) -> str:
        """As in `language = "rust"`."""
        ...

    @property
    def title(self) -> str:
        """As in a sentence."""
        ...

    @property
    def suffix(self) -> str:
        """Of its source files, with the dot."""
        ...

    @property
    def fences(self) -> Sequence[str]:
        """How replies mark a block of it, the usual word first."""
        ...

    @property
    def advice(self) -> str:
        """What the actor has to know of how its program is used."""
        ...

    @property
    def signature_form(self) -> str:
        """What a signature looks like, with `{name}` in it."""
        ...

    @property
    def needs_signature(self) -> bool:
        """Whether a task has to state one, since without it the program would choose the types that tests compare."""
        ...

    def find_toolchain(self) -> Toolchain:
        """Raises InputError where it is absent."""
        ...

    def read_tests(self, text: str, entry_point: str, signature: str | None, file: Path | None) -> TestFile:
        """Raises BadTests or NoTests."""
        ...

    def is_signature(self, signature: str, entry_point: str) -> bool:
        """Whether it declares the entry point."""
        ...

    def defines(self, code: str, name: str) -> bool:
        """Whether a program defines a name at its top level."""
        ...

    def complete(self, code: str, signature: str) -> str:
        """The program with what only the signature gives: what it imports, or its head before a bare body."""
        ...

    def stub(self, tests: TestFile) -> str | None:
        """A program that fits the tests and does nothing; None where it cannot be known what would fit."""
        ...

    def blames_names(self, message: str) -> bool:
        """Whether a build failed for want of names, which a program could bring and a stub does not."""
        ...

    async def build(
        self, toolchain: Toolchain, workshop: Workshop, solution: str, tests: TestFile
    ) -> Program | BuildFailure: ...
