"""What each memory shows of the same lessons; the contract of all of them is in `tests/contract/test_memory.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
import pytest
from tests.core.doubles import Heard, ListModel, StrictRecorder, make_effects
from tests.core.script import LESSONS, Script, run

from afterword import Effects, InputError, Memory, Outcome, Reflection, SlidingWindow
from afterword.memories import ClusteredMemory, MemoryKind, SimilarityMemory, SummarisingMemory, make_memory
from afterword.memories.overlap import overlap

M = TypeVar("M", bound=Memory)

COLON = "I split at the colon before looking whether there is one; I will look for the colon first."
COLON_AGAIN = "I still split at the colon where there is none. I will look for the colon before splitting."
ZERO = "An empty list made me divide by its length of zero; I will return early for an empty list."
ZERO_AGAIN = "The empty list still reaches the division by its length; I will return early for an empty list."
ORDER = "I kept the order of the dictionary. I will sort the pairs by descending count."


def remember(memory: M, *texts: str, effects: Effects | None = None) -> M:
    async def main() -> M:
        held = memory
        for number, text in enumerate(texts, 1):
            held = await held.remember(Reflection(text, number), effects or make_effects())  # type: ignore[assignment]  # of its own kind
        return held

    return anyio.run(main)


def shown(memory: Memory) -> list[int]:
    return [lesson.trial for lesson in memory.lessons]


def test_words_that_every_lesson_has_make_no_overlap() -> None:
    assert overlap("I failed test_a and will do it", "I failed test_b and will do it") == 0.0
    assert overlap(COLON, COLON_AGAIN) > 0.5 > overlap(COLON, ZERO)
    assert overlap(COLON, COLON) == 1.0


def test_lessons_of_one_kind_share_one_place() -> None:
    assert shown(remember(ClusteredMemory(3), COLON, ZERO, COLON_AGAIN, ORDER)) == [2, 3, 4]


def test_what_went_wrong_most_often_stays_beside_the_newest() -> None:
    assert shown(remember(ClusteredMemory(2), ZERO, COLON, ZERO_AGAIN, "Sort pairs by count.", ORDER)) == [3, 5]


def test_a_lesson_of_a_known_kind_takes_the_place_of_the_old_one() -> None:
    assert shown(remember(ClusteredMemory(2), COLON, ZERO, COLON_AGAIN)) == [2, 3]


def test_earlier_lessons_like_the_newest_are_found_again() -> None:
    texts = (ZERO, COLON, ORDER, "I will read the file in binary mode.", ZERO_AGAIN)
    assert shown(remember(SimilarityMemory(2), *texts)) == [1, 5]
    assert shown(remember(SlidingWindow(2), *texts)) == [4, 5]


def test_among_equally_near_lessons_the_newer_are_shown() -> None:
    assert shown(remember(SimilarityMemory(2), "alpha", "beta", "gamma")) == [2, 3]


def test_only_so_many_lessons_are_kept_to_be_found() -> None:
    memory = remember(SimilarityMemory(2, capacity=2), ZERO, COLON, ORDER, ZERO_AGAIN)
    assert [lesson.trial for lesson in memory.kept] == [3, 4]


@dataclass
class Compass:
    """Embeds a text by the direction it names."""

    asked: list[str] = field(default_factory=list)

    async def __call__(self, text: str) -> Sequence[float]:
        self.asked.append(text)
        return {"north": (0.0, 1.0), "east": (1.0, 0.0), "north-east": (1.0, 1.0), "nowhere": (0.0, 0.0)}[text]


def test_an_embedding_decides_where_there_is_one() -> None:
    compass = Compass()
    memory = remember(SimilarityMemory(2, embed=compass), "north", "east", "nowhere", "north")
    assert shown(memory) == [1, 4]
    assert compass.asked == ["north", "east", "nowhere", "north"]


def test_an_embedding_is_recorded_and_not_asked_again() -> None:
    recorder = StrictRecorder()
    remember(SimilarityMemory(2, embed=Compass()), "north", "east", effects=make_effects(recorder=recorder))
    compass, again = Compass(), recorder.after_restart()
    memory = remember(SimilarityMemory(2, embed=compass), "north", "east", effects=make_effects(recorder=again))
    assert shown(memory) == [1, 2]
    assert compass.asked == []


def test_vectors_of_two_lengths_are_an_error() -> None:
    async def embed(text: str) -> Sequence[float]:
        return [1.0] * len(text)

    with pytest.raises(ValueError, match="vectors of one length, found 1 and 3"):
        remember(SimilarityMemory(2, embed=embed), "a", "ccc")

    async def main() -> Outcome:
        return await run(Script().parts(memory=SimilarityMemory(2, embed=embed)))

    outcome = anyio.run(main)
    assert outcome.fault is not None
    assert "memory raised ValueError" in outcome.fault.message


def test_a_full_buffer_is_condensed_and_has_room_again() -> None:
    model = ListModel(["I will look for the colon, and return early."])
    memory = remember(SummarisingMemory(model, 3), COLON, ZERO, COLON_AGAIN, ORDER)
    assert memory.lessons == (
        Reflection("I will look for the colon, and return early.", 3, merges=(1, 2, 3)),
        Reflection(ORDER, 4),
    )
    assert len(model.requests) == 1
    asked = model.requests[0].messages[-1].content
    assert [text in asked for text in (COLON, ZERO, COLON_AGAIN, ORDER)] == [True, True, True, False]
    assert len(remember(memory, "one").lessons) == 3


def test_a_digest_of_a_digest_knows_all_that_is_in_it() -> None:
    model = ListModel(["first", "second"])
    memory = remember(SummarisingMemory(model, 2), COLON, ZERO, ORDER, COLON_AGAIN)
    assert memory.lessons[0] == Reflection("second", 3, merges=(1, 2, 3))
    assert "- first" in model.requests[1].messages[-1].content


@pytest.mark.parametrize("reply", ["", "<think>let me see", " \n "])
def test_without_a_digest_the_oldest_lesson_goes(reply: str) -> None:
    assert shown(remember(SummarisingMemory(ListModel([reply]), 2), COLON, ZERO, ORDER)) == [2, 3]


def test_an_endless_digest_is_bounded() -> None:
    memory = remember(SummarisingMemory(ListModel(["more " * 5_000]), 2), COLON, ZERO, ORDER)
    assert len(memory.lessons[0].text) < 1_300


def test_retracting_a_part_withdraws_the_digest() -> None:
    memory = remember(SummarisingMemory(ListModel(["digest"]), 2), COLON, ZERO, ORDER)

    async def main() -> Memory:
        return await memory.remember(Reflection("not so", 4, retracts=(1,)), make_effects())

    assert shown(anyio.run(main)) == [3, 4]


def test_the_loop_records_what_a_memory_wrote_and_what_it_cost() -> None:
    model, script, heard = ListModel(["all in one"] * 3), Script(), Heard()

    async def main() -> Outcome:
        return await run(script.parts(max_trials=4, memory=SummarisingMemory(model, 2)), heard=heard)

    outcome = anyio.run(main)
    assert [trial.lessons_shown for trial in outcome.trials] == [(), (1,), (1, 2), (2, 3)]
    assert [trial.digests for trial in outcome.trials] == [(), (), (), (Reflection("all in one", 2, merges=(1, 2)),)]
    assert script.acted[3].lessons == (outcome.trials[3].digests[0], Reflection(LESSONS[2], 3))
    assert outcome.usage["memory"].calls == outcome.trials[2].usage["memory"].calls == 1


@pytest.mark.parametrize("kind", MemoryKind)
def test_each_kind_can_be_named(kind: MemoryKind) -> None:
    memory = make_memory(kind, 2, ListModel(["digest"]))
    assert shown(remember(memory, COLON, ZERO))[-1] == 2


def test_a_summary_needs_a_model() -> None:
    with pytest.raises(InputError, match="asks a model"):
        make_memory(MemoryKind.SUMMARY, 2)


@pytest.mark.parametrize("make", [ClusteredMemory, SimilarityMemory])
def test_a_memory_without_room_is_bad_input(make: type[ClusteredMemory] | type[SimilarityMemory]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        make(0)
    with pytest.raises(InputError, match="cannot start with 3"):
        make(3, capacity=2)
