"""Afterword's scheduler and loop over a journal in a file: tasks at once, memory, and opening a large journal."""

import gc
import itertools
import resource
import sqlite3
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS

import afterword
from afterword import Reflexion, Task
from afterword.core.events import NoEvents
from afterword.experiments.scheduler import Job, run_jobs
from afterword.journal import RunSpec, open_journal

FRESH = itertools.count()
gc.set_threshold(20_000, 20, 50)  # as the command line does


class Silent:
    """Counts what came of the jobs and shows nothing."""

    def __init__(self):
        self.trials = 0

    def begun(self, job):
        return NoEvents()

    def begun_again(self, job, fault):
        raise AssertionError(fault)

    def ended(self, job, outcome, *, earlier):
        assert outcome.passed, outcome.fault
        self.trials += len(outcome.trials)

    def left(self, job, reason):
        raise AssertionError("left out")


def loop_with(latency_s):
    """The measured loop; `latency_s` stands for a model that takes its time."""

    async def act(context):
        if latency_s:
            await anyio.sleep(latency_s)
        return OUTPUTS[context.number - 1]

    async def evaluate(context):
        return context.number == 3, MESSAGES[context.number - 1]

    async def reflect(context):
        return LESSONS[context.trial.number - 1]

    return Reflexion(act, evaluate, reflect)


def jobs(loop, tasks):
    """So many tasks, made one by one."""

    @asynccontextmanager
    async def opened():
        yield loop

    return (Job(Task(f"task {next(FRESH)}", INSTRUCTIONS), opened, "reflexion") for _ in range(tasks))


async def work(run, tasks, concurrency, latency_s=0.0):
    """Seconds for so many tasks, each of them finished in the journal."""
    listener = Silent()
    started = time.perf_counter()
    await run_jobs(jobs(loop_with(latency_s), tasks), at_once=concurrency, record=run, listener=listener)
    seconds = time.perf_counter() - started
    assert listener.trials == 3 * tasks
    return seconds


async def timed(folder, question):
    async with open_journal(folder / "journal.sqlite", fsync=question.get("fsync", False)) as journal:
        run = await journal.start(RunSpec())
        await work(run, question["warm"], question["concurrency"])
        return {"seconds": await work(run, question["tasks"], question["concurrency"], question["latency_s"])}


async def memory(folder, question):
    """The most memory that this process has had, after so many tasks."""
    async with open_journal(folder / "journal.sqlite") as journal:
        run = await journal.start(RunSpec())
        await work(run, question["tasks"], question["concurrency"])
        await run.end()
    size = sum(file.stat().st_size for file in folder.iterdir())
    return {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "journal_megabytes": size / 1e6}


async def opening(folder, question):
    """Seconds from opening a journal of so many trials until a resumed run has done its first task."""
    place = folder / "journal.sqlite"
    async with open_journal(place) as journal:
        run = await journal.start(RunSpec())
        await work(run, 1, 1)
    multiply(place, question["trials"] // 3)
    started = time.perf_counter()
    async with open_journal(place) as journal:
        run = await journal.resume()
        await work(run, 1, 1)
        seconds = time.perf_counter() - started
        summary = await journal.summary(run.id)
        assert summary.trials >= question["trials"], summary
    return {"seconds": seconds}


def multiply(place, tasks):
    """Copies the one task of a journal until there are so many."""
    connection = sqlite3.connect(place)
    with connection:
        connection.execute("UPDATE tasks SET task = 'copied 0'")
        for table in ("tasks", "effects", "trials", "outcomes"):
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            values = {"unit": "copies.copy", "task": "'copied ' || copies.copy"}
            chosen = ", ".join(values.get(name, f'"{name}"') for name in names)
            copies = f"SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < {tasks - 1}"  # noqa: S608
            insert = f"INSERT INTO {table} SELECT {chosen} FROM copies, {table} WHERE unit = 0"  # noqa: S608
            connection.execute(f"WITH RECURSIVE copies(copy) AS ({copies}) {insert}")
    connection.close()


MEASURES = {"time": timed, "memory": memory, "opening": opening}


def answer(question):
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(MEASURES[question["measure"]], Path(folder), question)


serve({"version": afterword.__version__, "variants": ["journal"]}, answer)
