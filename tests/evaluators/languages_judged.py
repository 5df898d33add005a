"""Shorthands for tests of programs in other languages: a suite, a judge of a module's own, one verdict."""

from __future__ import annotations

import shutil
import textwrap

import pytest

from afterword.core.records import Feedback, Limits
from afterword.evaluators.languages import LANGUAGES, LanguageJudge, LanguageSuite

needs_rust = pytest.mark.skipif(
    shutil.which("rustc") is None or shutil.which("cc") is None, reason="needs rustc and a C linker; install Rust"
)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node; install Node.js")


def suite_of(language: str, tests: str, entry_point: str = "f", signature: str | None = None) -> LanguageSuite:
    return LanguageSuite.from_source(
        textwrap.dedent(tests), language=LANGUAGES[language], entry_point=entry_point, signature=signature
    )


async def verdict(
    judge: LanguageJudge,
    source: str,
    tests: str,
    *,
    entry_point: str = "f",
    signature: str | None = None,
    limits: Limits | None = None,
) -> Feedback:
    """The verdict of `tests` on a program."""
    suite = suite_of(judge.language.name, tests, entry_point, signature)
    return await judge.judge(textwrap.dedent(source), suite, limits or Limits(wall_s=10.0))
