"""Planted bugs: right programs are right, and each bug is one place that the checks notice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from afterword.evaluators.function_tests import JudgePool
from afterword.experiments.exam import PlantedBug, known_right_programs, plant, planted_quixbugs
from afterword.experiments.exam.planting import difference
from afterword.families.programming import load_benchmark
from afterword.sandbox import open_sandbox

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def judges() -> AsyncIterator[JudgePool]:
    async with open_sandbox(workers=2, allow_weak=True) as sandbox, JudgePool(sandbox, workers=2) as pool:
        yield pool


@pytest.fixture(scope="module")
async def bugs(judges: JudgePool) -> list[PlantedBug]:
    return [bug async for bug in plant(known_right_programs(), judges, seed=1, per_program=2)]


async def test_the_known_right_programs_pass_their_checks(judges: JudgePool) -> None:
    programs = known_right_programs()
    assert len(programs) >= 10
    for program in programs:
        assert (await judges.judge(program.source, program.suite, program.limits)).passed, program.id


async def test_every_program_gets_a_bug_before_any_gets_its_second(bugs: list[PlantedBug]) -> None:
    programs = known_right_programs()
    numbers = [bug.id.partition("#")[2] for bug in bugs]
    assert numbers == sorted(numbers)
    assert numbers.count("1") == len(programs)
    assert numbers.count("2") >= len(programs) - 2
    assert len({bug.buggy for bug in bugs}) == len(bugs)


async def test_a_bug_is_one_line_that_the_checks_notice(bugs: list[PlantedBug]) -> None:
    for bug in bugs:
        was, should = bug.buggy.splitlines(), bug.right.splitlines()
        differing = [number for number, (a, b) in enumerate(zip(was, should, strict=True), start=1) if a != b]
        assert tuple(differing) == bug.lines, bug.id
        assert not bug.verdict.passed
        assert bug.verdict.message
        assert bug.wrong.tokens or bug.fix.tokens


async def test_the_same_seed_plants_the_same_bugs_and_another_one_others(
    judges: JudgePool, bugs: list[PlantedBug]
) -> None:
    async def texts(seed: int) -> list[str]:
        return [bug.buggy async for bug in plant(known_right_programs()[:3], judges, seed=seed, per_program=1)]

    assert await texts(5) == await texts(5)
    assert len({tuple(await texts(seed)) for seed in (1, 2, 3)}) > 1


async def test_published_bugs_are_found_with_their_line(judges: JudgePool, data_dir: Path) -> None:
    tasks = load_benchmark("quixbugs", data_dir, ids=["gcd", "quicksort", "bitcount", "pascal"])
    found = {bug.id: bug async for bug in planted_quixbugs(tasks, judges)}
    assert "QuixBugs/bitcount" not in found, "it hangs, which leaves nothing to quote"
    quicksort = found["QuixBugs/quicksort"]
    (line,) = quicksort.lines
    assert ">" in quicksort.buggy.splitlines()[line - 1]
    assert quicksort.changed == (">", ">=")


class TestDifference:
    RIGHT = "def f(a, n):\n    while a < n:\n        a = a + 1\n    return a\n"

    def test_the_tokens_around_tell_the_place(self) -> None:
        found = difference(self.RIGHT.replace("a < n", "a <= n"), self.RIGHT)
        assert found is not None
        assert (found.lines, str(found.wrong), str(found.fix), found.changed) == (
            (2,),
            "a <= n",
            "a < n",
            ("<=", "<"),
        )

    def test_a_fragment_that_stands_elsewhere_too_is_made_longer(self) -> None:
        right = "def f(a, b):\n    x = a + 1\n    y = a + 2\n    return x, y\n"
        found = difference(right.replace("y = a + 2", "y = a + 1"), right)
        assert found is not None
        assert str(found.wrong) == "y = a + 1"

    def test_a_line_too_much_and_one_missing(self) -> None:
        without = self.RIGHT.replace("        a = a + 1\n", "        a = a + 1\n        n = n - 1\n")
        more, less = difference(without, self.RIGHT), difference(self.RIGHT, without)
        assert more is not None
        assert less is not None
        assert (str(more.wrong), str(more.fix)) == ("n = n - 1", "")
        assert (str(less.wrong), str(less.fix)) == ("", "n = n - 1")

    @pytest.mark.parametrize(
        "buggy",
        [RIGHT, RIGHT.replace("a < n", "a > n").replace("return a", "return n"), "def f(a, n):\n    return a\n"],
        ids=["equal", "two places", "two lines"],
    )
    def test_anything_else_is_no_single_bug(self, buggy: str) -> None:
        assert difference(buggy, self.RIGHT) is None
