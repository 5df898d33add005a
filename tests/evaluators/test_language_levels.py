"""Programs in other languages at every level that works on this host."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from afterword.evaluators.languages import LANGUAGES, open_judge
from afterword.sandbox import Level, probe
from tests.evaluators.languages_judged import needs_node, needs_rust, verdict

_WORKING = [report.level for report in anyio.run(probe) if report.works]
PROGRAMS = [
    pytest.param("rust", "fn f(n: i64) -> i64 { n * n }", "fn main() { assert_eq!(f(3), 9); }", marks=needs_rust),
    pytest.param("javascript", "const f = (n) => n * n;", "assert.strictEqual(f(3), 9);", marks=needs_node),
]


@pytest.mark.anyio
@pytest.mark.parametrize("level", _WORKING)
@pytest.mark.parametrize(("language", "source", "tests"), PROGRAMS)
async def test_verdicts_are_the_same(level: Level, language: str, source: str, tests: str, tmp_path: Path) -> None:
    async with open_judge(LANGUAGES[language], level, workers=1, allow_weak=True, cache=tmp_path) as judge:
        right = await verdict(judge, source, tests)
        wrong = await verdict(judge, source.replace("n * n", "n + 1"), tests)
    assert (right.passed, right.isolation, right.trust) == (True, level, "shared_process")
    assert (wrong.reason, wrong.checks_passed) == ("failed", 0)
