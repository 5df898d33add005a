"""LangGraph: the graph of `langgraph_loop`, each step of it checkpointed in a file by SqliteSaver before the next."""

import asyncio
import itertools
import operator
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS

FRESH = {"instructions": INSTRUCTIONS, "number": 0, "output": "", "passed": False, "message": "", "lessons": []}
THREADS = itertools.count()


class State(TypedDict):
    instructions: str
    number: int
    output: str
    passed: bool
    message: str
    lessons: Annotated[list[str], operator.add]


def evaluator(state):
    return {"passed": state["number"] == 3, "message": MESSAGES[state["number"] - 1]}


def reflector(state):
    return {"lessons": [LESSONS[state["number"] - 1]]}


def route(state):
    return END if state["passed"] or state["number"] >= 4 else "reflector"


def graph(actor, checkpointer):
    builder = StateGraph(State)
    builder.add_node("actor", actor)
    builder.add_node("evaluator", evaluator)
    builder.add_node("reflector", reflector)
    builder.add_edge(START, "actor")
    builder.add_edge("actor", "evaluator")
    builder.add_conditional_edges("evaluator", route, [END, "reflector"])
    builder.add_edge("reflector", "actor")
    return builder.compile(checkpointer=checkpointer)


def config():
    return {"configurable": {"thread_id": str(next(THREADS))}}


def one_at_a_time(place, tasks, latency_s):
    def actor(state):
        time.sleep(latency_s)
        return {"number": state["number"] + 1, "output": OUTPUTS[state["number"]]}

    with SqliteSaver.from_conn_string(str(place)) as saver:
        app = graph(actor, saver)
        app.invoke(FRESH, config(), durability="sync")
        started = time.perf_counter()
        for _ in range(tasks):
            state = app.invoke(FRESH, config(), durability="sync")
            assert state["number"] == 3
        return time.perf_counter() - started


async def many_at_once(place, tasks, concurrency, latency_s):
    async def actor(state):
        if latency_s:
            await asyncio.sleep(latency_s)
        return {"number": state["number"] + 1, "output": OUTPUTS[state["number"]]}

    async with AsyncSqliteSaver.from_conn_string(str(place)) as saver:
        app = graph(actor, saver)
        await app.ainvoke(FRESH, config(), durability="sync")
        gate = asyncio.Semaphore(concurrency)

        async def one():
            async with gate:
                state = await app.ainvoke(FRESH, config(), durability="sync")
                assert state["number"] == 3

        started = time.perf_counter()
        await asyncio.gather(*[one() for _ in range(tasks)])
        return time.perf_counter() - started


def answer(question):
    tasks, concurrency, latency_s = (question[name] for name in ("tasks", "concurrency", "latency_s"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoints.sqlite"
        if concurrency == 1:  # its fastest form there
            return {"seconds": one_at_a_time(place, tasks, latency_s)}
        return {"seconds": asyncio.run(many_at_once(place, tasks, concurrency, latency_s))}


serve({"version": version("langgraph"), "variants": ["SqliteSaver"]}, answer)
