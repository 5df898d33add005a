"""What every memory must do: stay within its bound, be a value, keep order, retract, be repeatable."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword import Allowance, Memory, Reflection, SlidingWindow
from afterword.memories import ClusteredMemory, SimilarityMemory, SummarisingMemory
from tests.core.doubles import ListModel, make_effects

DIGESTS = ["I will do all of it.", "", "I will look at the input and at the last line.", "<think>hm"]


async def letters(text: str) -> list[float]:
    """A vector for a text: how often it has each letter."""
    return [float(text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


MEMORIES: dict[str, tuple[Callable[[], Memory], int]] = {
    "window of 1": (lambda: SlidingWindow(1), 1),
    "window of 3": (lambda: SlidingWindow(), 3),
    "window of 5": (lambda: SlidingWindow(5), 5),
    "summary of 1": (lambda: SummarisingMemory(ListModel(DIGESTS * 99), 1), 1),
    "summary of 3": (lambda: SummarisingMemory(ListModel(DIGESTS * 99)), 3),
    "clusters": (lambda: ClusteredMemory(2), 2),
    "few clusters": (lambda: ClusteredMemory(1, capacity=3), 1),
    "similar": (lambda: SimilarityMemory(2), 2),
    "similar by vectors": (lambda: SimilarityMemory(3, capacity=4, embed=letters), 3),
}

every_memory = pytest.mark.parametrize(("make", "bound"), MEMORIES.values(), ids=MEMORIES)

histories = st.lists(
    st.tuples(st.sampled_from(["", "try the empty input", "look at the last line"]), st.sets(st.integers(1, 8))),
    max_size=8,
).map(
    lambda rows: [
        Reflection(text, number, retracts=tuple(sorted(trial for trial in retracted if trial < number)))
        for number, (text, retracted) in enumerate(rows, 1)
    ]
)


def states(memory: Memory, reflections: list[Reflection], tokens: int | None = None) -> list[Memory]:
    """The memory after each reflection, the first one included."""

    async def main() -> list[Memory]:
        seen = [memory]
        effects = make_effects(allowance=Allowance(tokens=tokens))
        for reflection in reflections:
            seen.append(await seen[-1].remember(reflection, effects))
        return seen

    return anyio.run(main)


@every_memory
@given(reflections=histories)
def test_never_more_lessons_than_the_bound(
    make: Callable[[], Memory], bound: int, reflections: list[Reflection]
) -> None:
    assert all(len(memory.lessons) <= bound for memory in states(make(), reflections))


@every_memory
@given(reflections=histories)
def test_lessons_are_in_order_and_say_something(
    make: Callable[[], Memory], bound: int, reflections: list[Reflection]
) -> None:
    for memory in states(make(), reflections):
        trials = [lesson.trial for lesson in memory.lessons]
        assert trials == sorted(set(trials))
        assert all(lesson.text.strip() for lesson in memory.lessons)


@every_memory
@given(reflections=histories)
def test_a_retracted_lesson_is_never_shown_again(
    make: Callable[[], Memory], bound: int, reflections: list[Reflection]
) -> None:
    retracted: set[int] = set()
    for memory, reflection in zip(states(make(), reflections)[1:], reflections, strict=True):
        retracted |= set(reflection.retracts)
        assert not retracted & {trial for lesson in memory.lessons for trial in (lesson.trial, *lesson.merges)}


@every_memory
@given(reflections=histories)
def test_the_newest_lesson_is_always_there(
    make: Callable[[], Memory], bound: int, reflections: list[Reflection]
) -> None:
    for memory, reflection in zip(states(make(), reflections)[1:], reflections, strict=True):
        assert (reflection.trial in {lesson.trial for lesson in memory.lessons}) is bool(reflection.text)


@every_memory
@given(reflections=histories)
def test_a_memory_is_a_value_and_repeatable(
    make: Callable[[], Memory], bound: int, reflections: list[Reflection]
) -> None:
    before = [memory.lessons for memory in states(make(), reflections)]
    kept = states(make(), reflections)
    states(make(), list(reversed(reflections)))
    for memory in kept:
        states(memory, [Reflection("something else", 9)])
    assert [memory.lessons for memory in kept] == before


@every_memory
@given(reflections=histories)
def test_without_a_budget_a_memory_still_holds_the_newest(
    make: Callable[[], Memory], bound: int, reflections: list[Reflection]
) -> None:
    for memory, reflection in zip(states(make(), reflections, tokens=1)[1:], reflections, strict=True):
        assert (reflection.trial in {lesson.trial for lesson in memory.lessons}) is bool(reflection.text)
        assert len(memory.lessons) <= bound
