"""The published question runs as recordings: what the model said and what the encyclopedia answered, by position.

The logs hold no requests, so the n-th effect of a role in a trial gets the n-th logged result. What the logs do not
hold (a trial that is absent, steps after the model's context was full) is an empty reply.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from afterword.core.messages import FREE, ChatRequest, Price, Reply
from afterword.core.protocols import EffectKey
from afterword.core.records import Strategy, Usage
from afterword.families.qa import Mode, Observation, read_move
from afterword.journal import PositionalRecorder, RecordedRow

T = TypeVar("T")

MAX_STEPS = 6

_STEP = re.compile(r"^(Thought|Action|Observation) (\d+): ?", re.MULTILINE)
_STRATEGIES = {
    "base": Strategy.RETRY,
    "last_trial": Strategy.LAST_ATTEMPT,
    "reflexion": Strategy.REFLEXION,
    "last_trial_and_reflexion": Strategy.LAST_ATTEMPT_AND_REFLEXION,
}
_MODES = {"cot": Mode.COT, "cot_gt_context": Mode.COT_CONTEXT, "react": Mode.REACT}


@dataclass(frozen=True)
class Row:
    """One question at one trial."""

    trial: int
    status: str
    carried: bool
    answer: str | None
    right: bool
    reflections: tuple[str, ...]
    """What the actor saw."""
    trajectory: str


@dataclass(frozen=True)
class PublishedRun:
    """One of the nine logs."""

    strategy: Strategy
    mode: Mode
    questions: dict[str, list[Row]]
    """By id, in the order of the log; the rows by trial."""

    @property
    def trials(self) -> int:
        return max(row.trial for rows in self.questions.values() for row in rows)


def read_run(data_dir: Path, name: str) -> PublishedRun:
    """The log of this name."""
    file = data_dir / "reflexion_logs" / "runs_hotpotqa" / f"{name}.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    questions: dict[str, list[Row]] = defaultdict(list)
    for line in lines:
        questions[line["question_id"]].append(
            Row(
                line["trial"],
                line["status"],
                line["carried"],
                line["answer"],
                line["em_logged"],
                tuple(line["reflections"]),
                line["trajectory"],
            )
        )
    return PublishedRun(_STRATEGIES[lines[0]["strategy"]], _MODES[lines[0]["setting"]], dict(questions))


@dataclass
class Logged:
    """Answers from the log of one question, and keeps the prompts that it was asked with."""

    log: PositionalRecorder
    prompts: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The last message to the actor, by trial and step."""

    async def effect(self, key: EffectKey, request: object, call: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        if key.role == "actor":
            assert isinstance(request, tuple)
            asked = request[1]
            assert isinstance(asked, ChatRequest)
            self.prompts[key.trial].append(asked.messages[-1].content)
        return await self.log.effect(key, request, call, kind)


class Unasked:
    """A model that a replay never reaches."""

    name = "openai:text-davinci-003"
    price: Price | None = FREE

    async def complete(self, request: ChatRequest) -> Reply:
        raise AssertionError("a replay asked the model")


class Unread:
    """A store that a replay never reaches."""

    name = "live en.wikipedia.org"

    async def search(self, title: str) -> Observation:
        raise AssertionError(f"a replay searched {title!r}")

    async def lookup(self, page: str, word: str, number: int) -> Observation:
        raise AssertionError(f"a replay looked {word!r} up")


def recorded(question: str, rows: Sequence[Row], run: PublishedRun) -> Logged:
    """The recording of one question."""
    lessons = _lessons(rows, run.strategy)
    results: list[RecordedRow] = []
    for row in rows:

        def add(role: str, result: object, trial: int = row.trial) -> None:
            results.append(RecordedRow(question, trial, role, result))

        steps = _steps(row.trajectory) if run.mode is Mode.REACT else [(row.trajectory, "")]
        for reply, seen in [*steps, *[("", "")] * MAX_STEPS][:MAX_STEPS]:
            add("actor", _reply(reply))
            if _is_look_up(reply):
                add("articles", Observation(seen, "" if _is_miss(seen) else "the page"))
        for _ in range(2):  # the same again when it is asked for a better one
            add("reflector", _reply(lessons.get(row.trial, "")))
    return Logged(PositionalRecorder(results, live=("clock", "evaluator", "held_out")))


def _reply(text: str) -> Reply:
    return Reply(text, "stop", Usage(calls=1), "text-davinci-003")


def _steps(trajectory: str) -> list[tuple[str, str]]:
    """Each step's reply and the observation behind it."""
    parts: dict[int, dict[str, str]] = defaultdict(dict)
    marks = list(_STEP.finditer(trajectory))
    ends = [*(mark.start() for mark in marks[1:]), len(trajectory)]
    for mark, after in zip(marks, ends, strict=False):  # no mark at all where the log has no trajectory
        parts[int(mark[2])][mark[1]] = trajectory[mark.end() : after].strip("\n")
    return [
        (f"Thought {number}: {part['Thought']}\nAction {number}: {part['Action']}", part.get("Observation", ""))
        for number, part in sorted(parts.items())
    ]


def _is_look_up(reply: str) -> bool:
    action = read_move(reply).action
    return action is not None and action.name != "Finish"


def _is_miss(observation: str) -> bool:
    return observation.startswith("Could not find")


def _lessons(rows: Sequence[Row], strategy: Strategy) -> dict[int, str]:
    """What was new to the actor at the next trial that is there; the log has a lesson of several lines in parts."""
    lessons = {}
    there = [row for row in rows if row.status != "absent" and not row.carried]
    for row, after in pairwise(there):
        known = Counter(row.reflections) if strategy is Strategy.REFLEXION else Counter[str]()
        new = []
        for reflection in after.reflections:
            if known[reflection]:
                known[reflection] -= 1
            else:
                new.append(reflection)
        lessons[row.trial] = "\n".join(new)
    return lessons
