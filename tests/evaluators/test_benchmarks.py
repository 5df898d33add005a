"""Published solutions of the benchmarks against their own tests: all have to pass."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import anyio
import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool, Suite

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def rows(file: Path) -> list[dict[str, str]]:
    text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


async def failures(judges: JudgePool, jobs: list[tuple[str, str, Suite]], limits: Limits) -> dict[str, str]:
    found: dict[str, str] = {}
    limiter = anyio.CapacityLimiter(2)

    async def one(name: str, source: str, suite: Suite) -> None:
        async with limiter:
            feedback = await judges.judge(source, suite, limits)
        if not feedback.passed:
            found[name] = feedback.message

    async with anyio.create_task_group() as tasks:
        for job in jobs:
            tasks.start_soon(one, *job)
    return found


async def test_humaneval(judges: JudgePool, data_dir: Path) -> None:
    jobs = [
        (
            row["task_id"],
            row["prompt"] + row["canonical_solution"],
            Suite.from_humaneval(row["test"], row["entry_point"]),
        )
        for row in rows(data_dir / "programming" / "HumanEval.jsonl.gz")
    ]
    assert len(jobs) == 164
    assert sum(len(suite.check_ids) for _, _, suite in jobs) > 1_000
    assert await failures(judges, jobs, Limits(wall_s=20)) == {}


async def test_mbpp_sanitized(judges: JudgePool, data_dir: Path) -> None:
    jobs = []
    for row in rows(data_dir / "programming" / "mbpp_sanitized.jsonl"):
        tests = "\n".join([*row["test_imports"], *row["test_list"]])
        names = [name for name in re.findall(r"def\s+(\w+)", row["code"]) if re.search(rf"\b{name}\(", tests)]
        jobs.append((str(row["task_id"]), row["code"], Suite.from_source(tests, entry_point=names[0])))
    assert len(jobs) == 427
    assert await failures(judges, jobs, Limits(wall_s=60)) == {}
