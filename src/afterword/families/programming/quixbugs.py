"""QuixBugs: forty programs with a defect in one line, to be repaired.

The published test files import from folders of the original repository; here their cases and asserts become tests of
the submitted module, with the same comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.benchmark_files import Benchmark, BenchmarkTask, Wants, read_rows, text_of
from afterword.families.programming.task import ProgrammingTask, task_inputs

_IMPORTS = re.compile(
    r"\Aimport pytest\n(?P<node>from node import Node\n)?\s*if pytest\.use_correct:\n[^\n]*\nelse:\n[^\n]*\n"
)
_SOLUTION_END = re.compile(r'\n"{3}')
_SLOW = {
    "knapsack": "the case with capacity 6404180 takes minutes",
    "levenshtein": "the case with two long palindromes takes minutes",
}
"""The published tests skip these cases too."""
_SLOW_LIMITS = {"levenshtein": Limits(wall_s=20.0)}
"""The correct program repeats its work exponentially: seconds for one more of its cases."""


def _load(data_dir: Path, wants: Wants) -> Iterator[BenchmarkTask]:
    node = ""
    for row in read_rows(data_dir, "quixbugs", "quixbugs_python"):
        if not wants(_id_of(row)):
            continue
        if row.get("needs_node") and not node:
            node = _read_node(data_dir)
        yield _task(row, node if row.get("needs_node") else "")


def _id_of(row: Mapping[str, object]) -> str:
    return f"QuixBugs/{text_of(row, 'task_id')}"


def _task(row: Mapping[str, object], node: str) -> BenchmarkTask:
    entry_point = text_of(row, "entry_point")
    buggy = _program(text_of(row, "buggy"), node)
    specification = _docstring(text_of(row, "buggy"))
    instructions = (
        f"Repair this program: one line of it is wrong. Keep its name, its parameters and what it returns"
        f"{' and the class Node' if node else ''}.\n\n```python\n{buggy}```\n\n{specification}"
    )
    task = Task(_id_of(row), instructions, task_inputs(entry_point))
    suite = _suite(row, entry_point)
    limits = _SLOW_LIMITS.get(entry_point, Limits())
    return BenchmarkTask(ProgrammingTask(task, suite, limits=limits), _program(text_of(row, "correct"), node), buggy)


def _program(source: str, node: str) -> str:
    """The program without the texts behind it: its specification, or other correct versions."""
    code = source[: end.start()] if (end := _SOLUTION_END.search(source)) else source
    return (f"{node.strip()}\n\n\n" if node else "") + code.strip("\n") + "\n"


def _docstring(source: str) -> str:
    parts = source.split('"""')
    return parts[1].strip() if len(parts) > 1 else ""


def _suite(row: Mapping[str, object], entry_point: str) -> Suite:
    tests = text_of(row, "pytest_source")
    if row.get("test_kind") == "json":
        return Suite.from_cases(_cases(row, tests), entry_point=entry_point)
    found = _IMPORTS.match(tests)
    if found is None:
        raise InputError(
            f"the tests of QuixBugs {row.get('task_id')!r} begin otherwise than known; fetch the data again"
        )
    names = f"{entry_point}, Node" if found["node"] else entry_point
    return Suite.from_source(f"from solution import {names}\n\n{tests[found.end() :]}", entry_point=entry_point)


def _cases(row: Mapping[str, object], tests: str) -> Iterator[dict[str, object]]:
    """The labelled cases; `approx` in the published test becomes a tolerance, as there the last argument."""
    cases = row.get("cases")
    if not isinstance(cases, list):
        raise InputError(f"QuixBugs {row.get('task_id')!r} has no cases; fetch the data again")
    close = "abs=input_data[-1]" in tests
    for arguments, expected in cases:
        if row.get("task_id") in _SLOW and _is_slow(arguments):
            continue
        case: dict[str, object] = {"args": arguments, "expected": expected}
        yield {**case, "tolerance": arguments[-1]} if close else case


def _is_slow(arguments: list[object]) -> bool:
    return arguments[0] in (6404180, "amanaplanacanalpanama")


def _read_node(data_dir: Path) -> str:
    for parent in (data_dir / "quixbugs", data_dir):
        path = parent / "node.py.txt"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise InputError("expected quixbugs/node.py.txt in this data folder; put it there", file=data_dir)


QUIXBUGS = Benchmark("quixbugs", _load, "QuixBugs/gcd")
