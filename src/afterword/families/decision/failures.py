"""Why a failed trial failed, from its steps alone: the classes of the paper's figure 3b, with the rule stated.

The paper names hallucination (acting on a thing that one does not have or that is not there) and inefficient planning,
and publishes neither its rule nor its trajectories. This rule is ours; `docs/decision.md` states it in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from afterword.core.records import Step, Trajectory, Trial
from afterword.evaluators.environment import StuckHeuristic


class FailureClass(StrEnum):
    """What was wrong with a failed trial."""

    POSSESSION = "hallucinated_possession"
    """It used a thing that it did not have."""
    LOCATION = "hallucinated_location"
    """It went to, took from or used something that was not there."""
    PLANNING = "inefficient_planning"
    """It acted on what there was, and repeated itself or took too long."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FailureRule:
    """How trials are classed."""

    refusals: tuple[str, ...] = ("nothing happens",)
    """How a world says that an action did nothing, in lower case."""
    hallucinated: int = 2
    """So many refused actions of a kind make a trial a hallucinated one; a single slip does not."""
    max_actions: int = 30
    cycles: int = 3


@dataclass(slots=True)
class _Seen:
    """What the answers have shown so far: what is held, where one is, and what lies where."""

    held: set[str] = field(default_factory=set)
    place: str = ""
    things: dict[str, str] = field(default_factory=dict)
    """The place that a thing was seen at last."""
    places: set[str] = field(default_factory=set)


_GO = re.compile(r"go to (?P<place>.+)\Z")
_TAKE = re.compile(r"take (?P<thing>.+?) from (?P<place>.+)\Z")
_PUTS = (re.compile(r"move (?P<thing>.+?) to (?P<place>.+)\Z"), re.compile(r"put (?P<thing>.+?) in/on (?P<place>.+)\Z"))
"""In today's language and in the paper's."""
_WORK = re.compile(r"(?:clean|heat|cool|slice) (?P<thing>.+?) with (?P<place>.+)\Z")
_OPEN = re.compile(r"(?:open|close) (?P<place>.+)\Z")
_USE = re.compile(r"use (?P<thing>.+)\Z")
_NAME = re.compile(r"\ban? ([a-z]+ \d+)")
_AT = re.compile(r"\bon the ([a-z]+ \d+), you see|\bthe ([a-z]+ \d+) is open\. in it, you see", re.IGNORECASE)


def classify(trajectory: Trajectory, rule: FailureRule | None = None) -> FailureClass | None:
    """The class of a failed trial, None for one that won."""
    rule = FailureRule() if rule is None else rule
    if trajectory.won:
        return None
    possession, location = count_hallucinations(trajectory.steps, rule)
    if max(possession, location) >= rule.hallucinated:
        return FailureClass.POSSESSION if possession >= location else FailureClass.LOCATION
    stuck = StuckHeuristic(rule.cycles, rule.max_actions)
    actions = [step for step in trajectory.steps if step.action]
    wasted = any(stuck.why(actions[:end]) for end in range(1, len(actions) + 1))
    if wasted or trajectory.end == "step_limit":
        return FailureClass.PLANNING
    return FailureClass.OTHER


def count_hallucinations(steps: Sequence[Step], rule: FailureRule) -> tuple[int, int]:
    """How many refused actions were about a thing not held, and how many about something that is not there."""
    seen = _Seen()
    possession = location = 0
    for step in steps:
        if not step.action:
            if not step.thought:  # what there was to see at first
                seen.places.update(_NAME.findall(step.observation.lower()))
            continue
        action = " ".join(step.action.lower().split()).removesuffix(".")
        answer = " ".join(step.observation.lower().split())
        if any(refusal in answer for refusal in rule.refusals):
            kind = _hallucination(action, seen)
            possession += kind is FailureClass.POSSESSION
            location += kind is FailureClass.LOCATION
        else:
            _learn(action, answer, seen)
    return possession, location


def _hallucination(action: str, seen: _Seen) -> FailureClass | None:
    """What a refused action got wrong about the world; None when it is only of a wrong form."""
    if (held := _first(action, (*_PUTS, _WORK))) is not None:
        if held["thing"] not in seen.held:
            return FailureClass.POSSESSION
        there = held["place"] == seen.place
    elif (take := _TAKE.match(action)) is not None:
        there = seen.place == take["place"] == seen.things.get(take["thing"])
    elif (go := _GO.match(action)) is not None:
        there = go["place"] in seen.places
    elif (opened := _OPEN.match(action)) is not None:
        there = opened["place"] == seen.place
    elif (use := _USE.match(action)) is not None:
        there = seen.place == seen.things.get(use["thing"])
    else:
        there = True
    return None if there else FailureClass.LOCATION


def _first(action: str, patterns: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.match(action)) is not None), None)


def _learn(action: str, answer: str, seen: _Seen) -> None:
    if (go := _GO.match(action)) is not None:
        seen.place = go["place"]
        seen.places.add(go["place"])
    elif (take := _TAKE.match(action)) is not None:
        seen.held.add(take["thing"])
        seen.things.pop(take["thing"], None)
    elif (put := _first(action, _PUTS)) is not None:
        seen.held.discard(put["thing"])
        seen.things[put["thing"]] = put["place"]
    for found in _AT.finditer(answer):
        place = found[1] or found[2]
        listed = set(_NAME.findall(answer[found.end() :].split(".")[0]))
        seen.things = {thing: at for thing, at in seen.things.items() if at != place or thing in listed}
        seen.things.update(dict.fromkeys(listed, place))


def count_failures(trials: Iterable[Trial], rule: FailureRule | None = None) -> dict[FailureClass, int]:
    """How many of these trials failed in which way."""
    counts = dict.fromkeys(FailureClass, 0)
    for trial in trials:
        kind = classify(trial.trajectory, rule)
        if kind is not None:
            counts[kind] += 1
    return counts
