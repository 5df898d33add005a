"""Afterword's loop around three plain functions, asynchronous and synchronous."""

import anyio
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS, timed_async

import afterword
from afterword import Reflexion


async def act(context):
    return OUTPUTS[context.number - 1]


async def evaluate(context):
    return context.number == 3, MESSAGES[context.number - 1]


async def reflect(context):
    return LESSONS[context.trial.number - 1]


def act_sync(context):
    return OUTPUTS[context.number - 1]


def evaluate_sync(context):
    return context.number == 3, MESSAGES[context.number - 1]


def reflect_sync(context):
    return LESSONS[context.trial.number - 1]


LOOPS = {
    "async functions": Reflexion(act, evaluate, reflect),
    "sync functions, each in a worker thread": Reflexion(act_sync, evaluate_sync, reflect_sync),
}


def answer(question):
    loop = LOOPS[question["variant"]]

    async def run():
        outcome = await loop.run(INSTRUCTIONS)
        assert outcome.passed
        assert outcome.trials[2].lessons_shown == (1, 2)
        return len(outcome.trials)

    async def main():
        return await timed_async(run, question["tasks"])

    return anyio.run(main)


serve({"version": afterword.__version__, "variants": list(LOOPS)}, answer)
