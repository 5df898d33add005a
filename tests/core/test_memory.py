"""The sliding window and its retraction; the contract of every memory is in `tests/contract/test_memory.py`."""

from __future__ import annotations

import anyio
import pytest

from afterword import InputError, Reflection, SlidingWindow
from tests.core.doubles import make_effects


def remember(memory: SlidingWindow, *reflections: Reflection) -> SlidingWindow:
    async def main() -> SlidingWindow:
        held = memory
        for reflection in reflections:
            held = await held.remember(reflection, make_effects())
        return held

    return anyio.run(main)


def shown(memory: SlidingWindow) -> list[int]:
    return [lesson.trial for lesson in memory.lessons]


def lessons(*trials: int) -> list[Reflection]:
    return [Reflection(f"lesson {trial}", trial) for trial in trials]


def test_the_last_three_are_kept_by_default() -> None:
    assert shown(remember(SlidingWindow(), *lessons(1, 2, 3, 4, 5))) == [3, 4, 5]


def test_a_window_of_one_keeps_the_newest() -> None:
    assert shown(remember(SlidingWindow(1), *lessons(1, 2))) == [2]


def test_a_retracted_lesson_goes_and_the_retracting_one_stays() -> None:
    memory = remember(SlidingWindow(), *lessons(1, 2), Reflection("not so", 3, retracts=(1,)))
    assert shown(memory) == [2, 3]


def test_several_lessons_can_be_retracted_at_once() -> None:
    assert shown(remember(SlidingWindow(), *lessons(1, 2), Reflection("neither", 3, retracts=(1, 2)))) == [3]


def test_a_lesson_that_left_the_window_does_not_come_back_by_a_retraction() -> None:
    assert shown(remember(SlidingWindow(1), *lessons(1, 2), Reflection("not so", 3, retracts=(2,)))) == [3]


def test_a_retraction_of_an_unknown_lesson_changes_nothing_else() -> None:
    assert shown(remember(SlidingWindow(), *lessons(1), Reflection("not so", 2, retracts=(7,)))) == [1, 2]


def test_an_empty_text_retracts_and_takes_no_place() -> None:
    assert shown(remember(SlidingWindow(2), *lessons(1, 2), Reflection(" \n", 3, retracts=(1,)))) == [2]


def test_remembering_makes_a_new_memory() -> None:
    first = remember(SlidingWindow(), *lessons(1))
    remember(first, *lessons(2))
    assert shown(first) == [1]


@pytest.mark.parametrize("size", [0, -1])
def test_a_window_without_room_is_bad_input(size: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        SlidingWindow(size)


def test_a_window_cannot_start_with_more_than_it_holds() -> None:
    with pytest.raises(InputError, match="size 1 cannot start with 2"):
        SlidingWindow(1, tuple(lessons(1, 2)))
