"""`LanguageSuite`: the checks of a task in a language other than Python, with ids known before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from afterword.errors import InputError
from afterword.evaluators.languages.protocol import Language, TestFile


@dataclass(frozen=True, slots=True)
class LanguageSuite:
    """Checks on one entry point. Make it with `from_source`."""

    language: Language
    tests: TestFile
    check_ids: tuple[str, ...]
    """The checks that are judged, in the order in which they run."""
    file: Path | None = None

    @classmethod
    def from_source(
        cls, text: str, *, language: Language, entry_point: str, signature: str | None = None, file: Path | None = None
    ) -> Self:
        """The checks of a test file.

        Raises:
            BadTests: it uses what is not supported; the message names it.
            NoTests: it defines no check.
        """
        tests = language.read_tests(text, entry_point, signature, file)
        return cls(language, tests, tests.check_ids, file)

    @property
    def entry_point(self) -> str:
        return self.tests.entry_point

    @property
    def shared_state(self) -> tuple[str, ...]:
        """Why the checks depend on each other, if they do; such a suite cannot be split."""
        return self.tests.shared_state

    @property
    def digest(self) -> str:
        """Equal for suites that judge alike."""
        parts = [self.language.name, self.entry_point, self.tests.signature or "", self.tests.text, *self.check_ids]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

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
