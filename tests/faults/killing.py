"""Kills a job at random moments and goes on with it, against a server that counts, and reads what the journal holds."""

from __future__ import annotations

import random
import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from afterword.journal import open_journal
from tests.faults import job
from tests.faults.nursery import Child, Nursery
from tests.models.server import Http, Served, completion, provider

PATIENCE_S = 600.0
LATENCY_S = 0.004
_ASKED = re.compile(r"(\w+)-(\d+) (trial|lesson of) (\d+)")
_TIMES = {"seconds", "wall_s", "at"}


def answer(served: Served) -> Http:
    """What the server says is a function of the prompt: task n is done right in trial n modulo 3, plus 1."""
    found = _ASKED.match(prompt_of(served.bodies[-1]))
    assert found is not None, served.bodies[-1]
    kind, number, what, trial = found[1], int(found[2]), found[3], int(found[4])
    if what == "lesson of":
        text = f"In trial {trial} of {kind} {number} I was wrong; I will do it otherwise."
    elif kind == "word":
        text = f"right word-{number}" if trial == number % 3 + 1 else f"wrong {number} {trial}"
    else:
        text = f"def double(n):\n    return n * 2 + {max(0, number % 3 + 1 - trial)}\n"
    return Http(body=completion(text).body, wait_s=LATENCY_S)


def prompt_of(body: dict[str, object]) -> str:
    """The last message of a request."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return str(messages[-1]["content"])


@contextmanager
def counting_server() -> Iterator[Served]:
    """The server of the job."""
    with provider(plan=answer) as served:
        yield served


def repeated(served: Served) -> int:
    """How many calls were made again."""
    return sum(count - 1 for count in Counter(map(prompt_of, served.bodies)).values())


@dataclass
class Killed:
    """What became of a job that was killed over and over."""

    kills: int
    verdicts_repeated: int


def start_job(nursery: Nursery, where: str, served: Served, folder: Path) -> Child:
    """Starts the job, or goes on with it."""
    return nursery.start(where, served.url, str(folder / "verdicts"))


def run_killed(nursery: Nursery, where: str, served: Served, folder: Path, chance: random.Random) -> Killed:
    """Runs the job to its end, killing it on the way two to four times."""
    most = chance.randint(2, 4)
    kills = 0
    while True:
        child = start_job(nursery, where, served, folder)
        if kills < most and _killed(child, served, chance):
            kills += 1
            continue
        assert child.wait() == 0, child.said
        break
    judged = Counter((folder / "verdicts").read_text().splitlines())
    return Killed(kills, sum(count - 1 for count in judged.values()))


def _killed(child: Child, served: Served, chance: random.Random) -> bool:
    """Kills a process after so many requests and a moment more, or, one time in four, at any time from its start."""
    target = len(served.bodies) + chance.randint(1, 25)
    deadline = time.monotonic() + (chance.uniform(0.0, 0.8) if chance.random() < 0.25 else PATIENCE_S)
    while child.poll(0.001) is None and len(served.bodies) < target and time.monotonic() < deadline:
        pass
    time.sleep(chance.uniform(0.0, 0.02))
    return child.kill() == -signal.SIGKILL


async def contents(where: str, tasks: int = job.TASKS) -> dict[str, object]:
    """All that a journal with one run holds, task by task, without times and names."""
    async with open_journal(where, create=False) as journal:
        (run,) = await journal.runs()
        assert (run.state, run.tasks) == ("finished", tasks)
        found: dict[str, object] = {}
        async for summary, outcome in journal.outcomes(run.id):
            effects = [asdict(effect) async for effect in journal.effects(run.id, task=summary.task)]
            for effect in effects:
                if effect["role"] == "clock":
                    effect["result"] = None
            found[summary.task] = _timeless([effects, asdict(outcome)])
        return found


def _timeless(value: object) -> object:
    if isinstance(value, dict):
        return {str(name): _timeless(part) for name, part in value.items() if name not in _TIMES}
    if isinstance(value, list | tuple):
        return [_timeless(part) for part in value]
    return value


def first_difference(found: object, expected: object, at: str = "") -> str:
    """Where two journals' contents differ first, and how; empty when they do not."""
    if isinstance(found, dict) and isinstance(expected, dict):
        if found.keys() != expected.keys():
            return f"{at}: {sorted(found.keys() ^ expected.keys())} in one of them only"
        parts = [(f"{at}/{name}", found[name], expected[name]) for name in found]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        parts = [(f"{at}[{n}]", one, other) for n, (one, other) in enumerate(zip(found, expected, strict=True))]
    else:
        return "" if found == expected else f"{at}: found {found!r:.2000}, expected {expected!r:.2000}"
    return next((said for where, one, other in parts if (said := first_difference(one, other, where))), "")
