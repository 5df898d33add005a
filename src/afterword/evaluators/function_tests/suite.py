"""`Suite`: the checks of a task, with ids known from the start, ready for a judge.

It is made from a test file, from labelled cases or from a HumanEval test; all three come down to one
`Program`, so that everything after this module is the same for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from afterword.errors import InputError, NoTests
from afterword.evaluators.function_tests.compile import compile_humaneval, compile_source
from afterword.evaluators.function_tests.labelled import rows_of
from afterword.evaluators.judge.program import Program


@dataclass(frozen=True)
class Suite:
    """Checks on one entry point. Make it with `from_source`, `from_cases` or `from_humaneval`."""

    entry_point: str
    check_ids: tuple[str, ...]
    """The checks that are judged, in the order in which they run."""
    program: Program
    file: Path | None = None
    text: str = ""
    """The source that it was made from."""
    shared_state: tuple[str, ...] = ()
    """Why its checks depend on each other, if they do; such a suite cannot be split."""
    imports: tuple[str, ...] = ()
    """Modules that the tests import."""
    companion: str = ""
    """Code of tests that are not trusted, for a jail of its own."""

    @classmethod
    def from_source(cls, text: str, *, entry_point: str, file: Path | None = None) -> Suite:
        """Checks of a test file: test functions and classes, unittest classes, asserts at module level.

        Raises:
            BadTests: it does not compile or uses an unsupported feature; the message names it.
            NoTests: it defines no check.
        """
        compiled = compile_source(text, entry_point, file)
        return cls._made(compiled.program, text, file, compiled.shared_state, compiled.imports)

    @classmethod
    def from_cases(cls, rows: Iterable[Mapping[str, object]], *, entry_point: str, file: Path | None = None) -> Suite:
        """Labelled cases: `args`, `kwargs` and `expected` (or `raises`), with an optional `tolerance`, as JSON data.

        The row with number 7, from 1, is the check `case:7`. Tuples and generators of the program count as lists.

        Raises:
            InputError: a row is out of form; the error holds its line.
            NoTests: there is no row.
        """
        made = rows_of(rows, entry_point, file)
        ids = tuple(row.check_id for row in made)
        text = "\n".join(json.dumps(row.plain(), default=repr) for row in made)
        return cls._made(Program(entry_point, ids, (entry_point,), rows=made), text, file, (), ())

    @classmethod
    def from_humaneval(cls, test_text: str, entry_point: str, file: Path | None = None) -> Suite:
        """HumanEval's form: `check(candidate)`; each top-level assert of it is a check `check:L12`.

        Raises:
            BadTests, NoTests: as `from_source`.
        """
        compiled = compile_humaneval(test_text, entry_point, file)
        return cls._made(compiled.program, test_text, file, compiled.shared_state, compiled.imports)

    @classmethod
    def _made(
        cls, program: Program, text: str, file: Path | None, shared: tuple[str, ...], imports: tuple[str, ...]
    ) -> Suite:
        if not program.check_ids:
            raise NoTests("the tests define no check; add a test function or an assert", file=file)
        return cls(program.entry_point, program.check_ids, program, file, text, shared, imports)

    def select(self, ids: Sequence[str]) -> Self:
        """The same tests with only these checks judged.

        Raises:
            InputError: an id is not one of this suite.
        """
        unknown = sorted(set(ids) - set(self.check_ids))
        if unknown:
            raise InputError(f"the tests have no check {unknown[0]!r}; they have {', '.join(self.check_ids[:8])}")
        wanted = set(ids)
        return replace(self, check_ids=tuple(check_id for check_id in self.check_ids if check_id in wanted))

    @property
    def digest(self) -> str:
        """Equal for suites that judge alike."""
        parts = [self.entry_point, self.text, *self.check_ids]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
