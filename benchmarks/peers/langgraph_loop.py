"""LangGraph: actor -> evaluator -> reflector as a graph, asynchronous and synchronous, bare and checkpointed."""

import asyncio
import operator
from importlib.metadata import version
from itertools import count
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from line import serve
from loop_task import INSTRUCTIONS, LESSONS, MESSAGES, OUTPUTS, timed, timed_async


class State(TypedDict):
    instructions: str
    number: int
    output: str
    passed: bool
    message: str
    lessons: Annotated[list[str], operator.add]


def actor(state):
    number = state["number"] + 1
    return {"number": number, "output": OUTPUTS[number - 1]}


def evaluator(state):
    return {"passed": state["number"] == 3, "message": MESSAGES[state["number"] - 1]}


def reflector(state):
    return {"lessons": [LESSONS[state["number"] - 1]]}


async def actor_async(state):
    return actor(state)


async def evaluator_async(state):
    return evaluator(state)


async def reflector_async(state):
    return reflector(state)


def route(state):
    return END if state["passed"] or state["number"] >= 4 else "reflector"


def graph(nodes, checkpointer):
    builder = StateGraph(State)
    for name, node in zip(("actor", "evaluator", "reflector"), nodes, strict=True):
        builder.add_node(name, node)
    builder.add_edge(START, "actor")
    builder.add_edge("actor", "evaluator")
    builder.add_conditional_edges("evaluator", route, [END, "reflector"])
    builder.add_edge("reflector", "actor")
    return builder.compile(checkpointer=checkpointer)


FRESH = {"instructions": INSTRUCTIONS, "number": 0, "output": "", "passed": False, "message": "", "lessons": []}
VARIANTS = {
    "async graph": (True, False),
    "sync graph": (False, False),
    "async graph, InMemorySaver": (True, True),
    "sync graph, InMemorySaver": (False, True),
}


def answer(question):
    asynchronous, checkpointed = VARIANTS[question["variant"]]
    threads = count()

    def config():
        return {"configurable": {"thread_id": str(next(threads))}} if checkpointed else None

    saver = InMemorySaver() if checkpointed else None  # a new one each time: it keeps every thread for good
    if not asynchronous:
        app = graph((actor, evaluator, reflector), saver)
        return timed(lambda: app.invoke(FRESH, config())["number"], question["tasks"])

    async def main():
        app = graph((actor_async, evaluator_async, reflector_async), saver)

        async def run():
            state = await app.ainvoke(FRESH, config())
            return state["number"]

        return await timed_async(run, question["tasks"])

    return asyncio.run(main())


serve({"version": version("langgraph"), "variants": list(VARIANTS)}, answer)
