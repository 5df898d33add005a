"""What a verdict of own tests costs beside one of function tests: the same five tests, judged both ways.

    python benchmarks/own_tests_speed.py

Own tests whose values are literal are labelled cases; one that is not runs in a jail of its own.
"""

from __future__ import annotations

import statistics
import time

import anyio

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.families.programming.own_tests import read_test, suite_of
from afterword.sandbox import open_sandbox

PROGRAM = "def f(xs):\n    return sorted(xs)\n"
LITERAL = [f"assert f([3, {number}, 1]) == [1, 3, {number}]" for number in range(4, 9)]
JAILED = [*LITERAL[:4], "assert len(f([3, 1])) == 2"]
WARM_UP = 10
ROUNDS = 120


async def measure() -> dict[str, float]:
    """Median milliseconds of a verdict, of each kind in turn."""
    suites = {
        "function tests, literal": _function_tests(LITERAL),
        "own tests, literal": _own_tests(LITERAL),
        "function tests, one not literal": _function_tests(JAILED),
        "own tests, one in a jail of its own": _own_tests(JAILED),
    }
    taken: dict[str, list[float]] = {name: [] for name in suites}
    async with (
        open_sandbox(workers=1) as sandbox,
        open_sandbox(workers=1) as companions,
        JudgePool(sandbox, workers=1, companions=companions) as judges,
    ):
        for _ in range(ROUNDS):
            for name, suite in suites.items():
                started = time.perf_counter()
                verdict = await judges.judge(PROGRAM, suite, Limits())
                taken[name].append(time.perf_counter() - started)
                assert verdict.passed, verdict.message
    return {name: statistics.median(seconds[WARM_UP:]) * 1000 for name, seconds in taken.items()}


def _function_tests(tests: list[str]) -> Suite:
    functions = "".join(f"\n\ndef test_{number}():\n    {test}\n" for number, test in enumerate(tests))
    return Suite.from_source(f"from solution import f\n{functions}", entry_point="f")


def _own_tests(tests: list[str]) -> Suite:
    return suite_of([test for text in tests if (test := read_test(text, "f")) is not None], "f")


def main() -> None:
    """Prints the medians and the two ratios."""
    names = list(found := anyio.run(measure))
    for name in names:
        print(f"{name}: {found[name]:.1f} ms")
    for function, own in (names[:2], names[2:]):
        print(f"{own}: {found[own] / found[function]:.2f} times")


if __name__ == "__main__":
    main()
