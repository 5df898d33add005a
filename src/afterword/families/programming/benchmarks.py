"""The benchmarks of the programming family by name.

They are read from a folder of the user's (`--data DIR` or `AFTERWORD_DATA`): nothing of them is shipped.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from afterword.errors import InputError, MissingExtra
from afterword.families.names import plain_name
from afterword.families.programming.benchmark_files import Benchmark, BenchmarkTask
from afterword.families.programming.humaneval import HUMANEVAL, HUMANEVAL_PLUS
from afterword.families.programming.mbpp import MBPP, MBPP_PLUS
from afterword.families.programming.quixbugs import QUIXBUGS

__all__ = ["BENCHMARKS", "Benchmark", "BenchmarkTask", "benchmark_named", "data_folder", "load_benchmark"]

BENCHMARKS = {one.name: one for one in (HUMANEVAL, HUMANEVAL_PLUS, MBPP, MBPP_PLUS, QUIXBUGS)}


def load_benchmark(
    name: str, data_dir: Path, *, limit: int | None = None, ids: Sequence[str] | None = None
) -> list[BenchmarkTask]:
    """The tasks of a benchmark in their published order.

    Args:
        name: one of `BENCHMARKS`; `-plus` and `_plus` stand for `+`.
        data_dir: the folder that holds the published files, or their folder itself.
        limit: at most so many tasks, the first ones.
        ids: only these tasks, e.g. `HumanEval/7`; the number alone does.

    Raises:
        InputError: the benchmark, the files or an id are not there.
        MissingExtra: the plus tests need numpy.
    """
    benchmark = _usable(name)
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1 task, found {limit!r}")
    if ids is None:
        return list(islice(benchmark.load(data_dir, lambda name: name not in benchmark.excluded), limit))
    wanted = list(dict.fromkeys(ids))[:limit]
    found = {task.id: task for task in benchmark.load(data_dir, lambda name: any(_means(one, name) for one in wanted))}
    return [_pick(found, one, benchmark) for one in wanted]


def benchmark_tasks(name: str, data_dir: Path) -> Iterator[BenchmarkTask]:
    """All tasks of a benchmark in their published order, each made when it is asked for.

    Raises:
        InputError, MissingExtra: as `load_benchmark`.
    """
    benchmark = _usable(name)
    return benchmark.load(data_dir, lambda name: name not in benchmark.excluded)


def is_benchmark(name: str) -> bool:
    """Whether this is the name of a benchmark."""
    return plain_name(name) in BENCHMARKS


def _usable(name: str) -> Benchmark:
    benchmark = benchmark_named(name)
    if benchmark.name.endswith("+") and find_spec("numpy") is None:
        raise MissingExtra("analysis", "numpy")
    return benchmark


def _means(wanted: str, name: str) -> bool:
    return wanted in (name, name.partition("/")[2])


def _pick(found: dict[str, BenchmarkTask], wanted: str, benchmark: Benchmark) -> BenchmarkTask:
    for name, reason in benchmark.excluded.items():
        if _means(wanted, name):
            raise InputError(f"{name} is left out of {benchmark.name}: {reason}; choose another task")
    for name, task in found.items():
        if _means(wanted, name):
            return task
    raise InputError(f"{benchmark.name} has no task {wanted!r}; its ids are like {benchmark.example_id!r}")


def benchmark_named(name: str) -> Benchmark:
    """The benchmark of a name.

    Raises:
        InputError: there is none; the message lists them.
    """
    plain = plain_name(name)
    if plain in BENCHMARKS:
        return BENCHMARKS[plain]
    if plain.startswith(("humanevalrs", "mbpprs")):
        raise InputError(f"{name!r} has no reference programs; there are some for {', '.join(BENCHMARKS)}")
    close = difflib.get_close_matches(plain, BENCHMARKS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(BENCHMARKS)}"
    raise InputError(f"unknown benchmark {name!r}; {hint}")


def data_folder(given: Path | None) -> Path:
    """The data folder: the one given, else the one that `AFTERWORD_DATA` names.

    Raises:
        InputError: neither is given.
    """
    named = os.environ.get("AFTERWORD_DATA")
    if given is None and not named:
        raise InputError(
            "expected the folder with the benchmark data; give --data DIR, set AFTERWORD_DATA, or state data in an "
            "experiment's file"
        )
    return given if given is not None else Path(str(named))
