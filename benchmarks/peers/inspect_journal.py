"""inspect_ai: a solver that tries three times on a mock model, its samples logged in a file as they end."""

import itertools
import os
import tempfile
import time
from importlib.metadata import version

from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS

os.environ["INSPECT_DISPLAY"] = "none"

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

FOLDER = tempfile.TemporaryDirectory()  # one for all: it looks back at the log before


@solver
def three_trials():
    async def solve(state, generate):
        for number in range(3):
            state = await generate(state)
            if number < 2:
                state.messages.append(ChatMessageUser(content=f"{MESSAGES[number]}\n{LESSONS[number]}"))
        return state

    return solve


@scorer(metrics=[accuracy()])
def passed():
    async def score(state, target):
        return Score(value="C" if state.output.completion == OUTPUTS[2] else "I")

    return score


def said(text):
    """A reply with its usage, which would else be counted with a vocabulary from the network."""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return output


def seconds_for(tasks, concurrency):
    replies = (said(output) for output in itertools.cycle(OUTPUTS))
    dataset = MemoryDataset([Sample(input=INSTRUCTIONS, target="x") for _ in range(tasks)])
    task = Task(dataset=dataset, solver=three_trials(), scorer=passed())
    model = get_model("mockllm/model", custom_outputs=replies)
    started = time.perf_counter()
    (log,) = eval(task, model=model, log_dir=FOLDER.name, max_samples=concurrency, log_buffer=1, log_samples=True)
    seconds = time.perf_counter() - started
    assert log.status == "success", log.error
    assert len(log.samples) == tasks
    return seconds


def answer(question):
    """What more samples take: an evaluation takes seconds to start and to end, which is not counted."""
    some = min(seconds_for(1, question["concurrency"]) for _ in range(2))
    return {"seconds": seconds_for(1 + question["tasks"], question["concurrency"]) - some}


serve({"version": version("inspect_ai"), "variants": ["mock model, log_buffer=1"]}, answer)
