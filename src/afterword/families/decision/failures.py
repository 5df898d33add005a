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
_PUT = re.compile(r"(?:move (?P<thing>.+?) to|put (?P<thing2>.+?) (?:in/on|into|in|on)) (?P<place>.+)\Z")
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
    if (put := _PUT.match(action)) is not None:
        return (
            None
            if (put["thing"] or put["thing2"]) in seen.held and put["place"] == seen.place
            else _of_use(put["thing"] or put["thing2"], seen)
        )
    if (work := _WORK.match(action)) is not None:
        return None if work["thing"] in seen.held and work["place"] == seen.place else _of_use(work["thing"], seen)
    if (take := _TAKE.match(action)) is not None:
        there = seen.things.get(take["thing"]) == take["place"] and seen.place == take["place"]
        return None if there else FailureClass.LOCATION
    if (go := _GO.match(action)) is not None:
        return None if go["place"] in seen.places or go["place"] == seen.place else FailureClass.LOCATION
    if (opened := _OPEN.match(action)) is not None:
        return None if opened["place"] == seen.place else FailureClass.LOCATION
    if (use := _USE.match(action)) is not None:
        return None if seen.things.get(use["thing"]) == seen.place else FailureClass.LOCATION
    return None


def _of_use(thing: str, seen: _Seen) -> FailureClass:
    """Who does not hold the thing believes to have it; who holds it believes to be elsewhere."""
    return FailureClass.LOCATION if thing in seen.held else FailureClass.POSSESSION


def _learn(action: str, answer: str, seen: _Seen) -> None:
    if (go := _GO.match(action)) is not None:
        seen.place = go["place"]
        seen.places.add(go["place"])
    elif (take := _TAKE.match(action)) is not None:
        seen.held.add(take["thing"])
        seen.things.pop(take["thing"], None)
    elif (put := _PUT.match(action)) is not None:
        thing = put["thing"] or put["thing2"]
        seen.held.discard(thing)
        seen.things[thing] = put["place"]
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
