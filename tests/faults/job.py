"""A job of 20 tasks, to be killed: up to three trials each, a few judged by real function tests.

It starts a run in the journal, or goes on with the one that is there. Every verdict that is reached adds a line to the
file `verdicts` before it is returned.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext

import anyio

from afterword import ActContext, EvaluateContext, ReflectContext, Reflection, Reflexion, Task, Trajectory
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import Evaluator, Model
from afterword.core.records import Feedback, Limits
from afterword.evaluators.function_tests import FunctionTests, JudgePool, Suite
from afterword.journal import Journal, Run, RunSpec, open_journal
from afterword.models import ModelOptions, open_model
from afterword.sandbox import open_sandbox

TASKS = 20
JUDGED_BY_TESTS = 3
"""So many of the tasks are programs."""
AT_ONCE = 4
ARM = "reflexion"
_TESTS = """
from solution import double


def test_two():
    assert double(2) == 4


def test_three():
    assert double(3) == 6
"""

Told = Callable[[str], None]


def tasks() -> list[Task]:
    """All tasks; what the actor says is decided by the server, from the prompt."""
    kinds = ["program" if n < JUDGED_BY_TESTS else "word" for n in range(TASKS)]
    return [Task(f"{kind}-{n}", f"the {kind} number {n}") for n, kind in enumerate(kinds)]


class Asks:
    """Actor and reflector in one: each prompt names the task, the trial and the lessons."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def act(self, context: ActContext) -> Trajectory:
        lessons = " / ".join(lesson.text for lesson in context.lessons)
        prompt = f"{context.task.id} trial {context.number} lessons {lessons}"
        reply = await context.effects.complete("actor", self._model, ChatRequest((Message("user", prompt),)))
        return Trajectory(reply.text)

    async def reflect(self, context: ReflectContext) -> Reflection:
        prompt = f"{context.task.id} lesson of {context.trial.number}: {context.trial.feedback.message}"
        reply = await context.effects.complete("reflector", self._model, ChatRequest((Message("user", prompt),)))
        return Reflection(reply.text, context.trial.number)


class Counted(JudgePool):
    """Tells each verdict that it reaches."""

    told: Told

    async def judge(self, source: str, suite: Suite, limits: Limits) -> Feedback:
        verdict = await super().judge(source, suite, limits)
        self.told(source)
        return verdict


class Word:
    """Judges by comparison with the word that is due."""

    check_ids = ("word",)

    def __init__(self, told: Told) -> None:
        self._told = told

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        output = context.trajectory.output

        async def judged() -> Feedback:
            self._told(output)
            if output == f"right {context.task.id}":
                return Feedback(True, 1.0, "exact", "ok")
            return Feedback(False, 0.0, "exact", "failed", f"it is not {output}")

        return await context.effects.effect(context.role, output, judged, Feedback)


async def main(where: str, url: str, verdicts: str) -> None:
    """Works on all tasks that are not finished."""
    log = os.open(verdicts, os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    def told(judged: str) -> None:
        os.write(log, judged.encode().hex().encode() + b"\n")

    options = ModelOptions(base_url=url, api_key="sk-test-0123456789", concurrency=AT_ONCE, timeout_s=30.0)
    async with open_model("openai:m", options=options) as model, open_journal(where) as journal:
        run = await _run(journal)
        left = [task for task in tasks() if await run.outcome(task.id, arm=ARM) is None]
        async with _judging_programs(told) if any(map(_is_program, left)) else nullcontext() as by_tests:
            limiter = anyio.CapacityLimiter(AT_ONCE)
            async with anyio.create_task_group() as group:
                for task in left:
                    evaluator = by_tests if by_tests is not None and _is_program(task) else Word(told)
                    group.start_soon(_work, limiter, run, task, model, evaluator)
        await run.end()


def _is_program(task: Task) -> bool:
    return task.id.startswith("program")


@asynccontextmanager
async def _judging_programs(told: Told) -> AsyncIterator[Evaluator]:
    async with open_sandbox("namespaces", workers=1) as sandbox, Counted(sandbox, workers=1) as pool:
        pool.told = told
        patient = Limits(wall_s=100.0)  # however busy the machine is, a verdict is the program's
        yield FunctionTests(Suite.from_source(_TESTS, entry_point="double"), pool, patient)


async def _run(journal: Journal) -> Run:
    """A new run, or the one that was killed."""
    begun = await journal.runs()
    return await journal.resume(begun[0].id) if begun else await journal.start(RunSpec(("job",)))


async def _work(limiter: anyio.CapacityLimiter, run: Run, task: Task, model: Model, evaluator: Evaluator) -> None:
    async with limiter:
        parts = Asks(model)
        agent = Reflexion(parts, evaluator, parts, strategy=ARM)
        outcome = await agent.run(task, recorder=run.recorder, events=run.events(arm=ARM))
        await run.finish(outcome, arm=ARM)
