"""Afterword: one pool of jails and judges for all verdicts, with as many workers as the question says."""

import json
import time
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio.from_thread import start_blocking_portal
from line import serve

import afterword
from afterword import InputError, Limits
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.sandbox import open_sandbox

LIMITS = Limits(wall_s=5.0)
ITEMS = []


def load(path):
    """Parses the tests, as a run does once for a task."""
    rows = json.loads(Path(path).read_text())
    ITEMS[:] = [
        (row["prompt"] + row["solution"], Suite.from_humaneval(row["test"], row["entry_point"])) for row in rows
    ]
    return {"items": len(ITEMS)}


async def judge(pool, indices, workers):
    """Judges so many at a time."""
    waiting = iter(enumerate(indices))
    times_ms, passed = [0.0] * len(indices), [False] * len(indices)

    async def work():
        for place, index in waiting:
            source, suite = ITEMS[index]
            started = time.perf_counter()
            feedback = await pool.judge(source, suite, LIMITS)
            times_ms[place] = (time.perf_counter() - started) * 1000
            passed[place] = feedback.passed

    async with anyio.create_task_group() as group:
        for _ in range(workers):
            group.start_soon(work)
    return {"ms": times_ms, "passed": passed}


async def judge_case(pool, case):
    try:
        suite = Suite.from_source(case["tests"], entry_point=case["entry_point"])
    except InputError:  # tests that check nothing are refused
        return {"passed": False}
    feedback = await pool.judge(case["solution"], suite, LIMITS)
    return {"passed": feedback.passed, "reason": feedback.reason}


@asynccontextmanager
async def open_pool(workers):
    async with open_sandbox(workers=workers) as sandbox, JudgePool(sandbox, workers=workers) as pool:
        yield pool


with start_blocking_portal() as portal, ExitStack() as stack:
    pools = {}

    def pool_of(workers):
        if workers not in pools:
            pools[workers] = stack.enter_context(portal.wrap_async_context_manager(open_pool(workers)))
        return pools[workers]

    def answer(question):
        if "items" in question:
            return load(question["items"])
        if "case" in question:
            return portal.call(judge_case, pool_of(1), question["case"])
        workers = question["workers"]
        return portal.call(judge, pool_of(workers), question["judge"], workers)

    serve({"version": afterword.__version__}, answer)
