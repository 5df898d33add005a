"""Sanitized MBPP and MBPP+: the published asserts are visible, the plus tests held out.

The prompts alone do not say what the function is called, so the task states the reference's own definition line and
the first visible assert as an example.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from afterword.core.records import Limits, Task
from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite
from afterword.evaluators.function_tests.source import parse
from afterword.families.programming.benchmark_files import Benchmark, BenchmarkTask, Wants, read_rows, text_of, texts_of
from afterword.families.programming.plus_tests import PLUS_LIMITS, plus_suite
from afterword.families.programming.task import ProgrammingTask, task_inputs

_SLOW_LIMITS = {"Mbpp/123": Limits(wall_s=30.0)}
"""The reference program divides by every smaller number: seconds of computing on a quiet machine."""


def _base(data_dir: Path, wants: Wants) -> Iterator[BenchmarkTask]:
    for row in read_rows(data_dir, "programming", "mbpp_sanitized"):
        if wants(_id_of(row)):
            yield BenchmarkTask(_task(row), text_of(row, "code"))


def _plus(data_dir: Path, wants: Wants) -> Iterator[BenchmarkTask]:
    for row in read_rows(data_dir, "programming", "MbppPlus-OriginFmt"):
        if not wants(_id_of(row)):
            continue
        base = _task(row)
        held_out = plus_suite(text_of(row, "test"), base.checks.entry_point)
        programming = replace(base, held_out=held_out, held_out_limits=PLUS_LIMITS)
        yield BenchmarkTask(programming, text_of(row, "code"))


def _task(row: Mapping[str, object]) -> ProgrammingTask:
    asserts = texts_of(row, "test_list")
    entry_point, signature = _definition(text_of(row, "code"), asserts, row)
    instructions = f"{text_of(row, 'prompt').strip()}\nFor example:\n{asserts[0]}"
    task = Task(_id_of(row), instructions, task_inputs(entry_point, signature))
    tests = "\n".join([*texts_of(row, "test_imports"), *asserts])
    limits = _SLOW_LIMITS.get(task.id, Limits())
    return ProgrammingTask(task, Suite.from_source(tests, entry_point=entry_point), limits=limits)


def _id_of(row: Mapping[str, object]) -> str:
    return f"Mbpp/{row.get('task_id')}"


def _definition(code: str, asserts: list[str], row: Mapping[str, object]) -> tuple[str, str | None]:
    """The name of the function that the asserts call, and the line that defines it."""
    called = {name.id for text in asserts for name in ast.walk(parse(text, None)) if isinstance(name, ast.Name)}
    for node in parse(code, None).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in called:
            return node.name, f"def {node.name}({ast.unparse(node.args)}):"
        if isinstance(node, ast.ClassDef) and node.name in called:
            return node.name, None
    raise InputError(
        f"the asserts of MBPP task {row.get('task_id')!r} call nothing that its code defines; fetch it again"
    )


MBPP = Benchmark("mbpp", _base, "Mbpp/2")
MBPP_PLUS = Benchmark(
    "mbpp+", _plus, "Mbpp/2", {"Mbpp/599": "its plus tests add up too many numbers: over 60 s for the reference"}
)
