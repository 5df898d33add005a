import pytest

from afterword.cli.ask import AskingReflector
from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.protocols import ReflectContext
from afterword.core.records import Feedback, Reflection, Task, Trajectory, Trial

pytestmark = pytest.mark.anyio

DRAFT = Reflection("I will check the empty list.", 1, evidence="test_empty", retracts=(), problems=("generic",))


class Drafting:
    async def reflect(self, context: ReflectContext) -> Reflection | None:
        return DRAFT


async def decide(*answers: str) -> tuple[Reflection | None, list[str]]:
    shown: list[str] = []
    given = list(answers)
    starts: list[str] = []

    def read(prompt: str, initial: str) -> str:
        starts.append(initial)
        return given.pop(0)

    asking = AskingReflector(Drafting(), shown.append, read)
    effects = Effects(task="t", budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())
    trial = Trial(1, Trajectory("x"), Feedback(False, 0.0, "exact"))
    lesson = await asking.reflect(ReflectContext(Task("t", "do"), trial, (), effects))
    assert given == []
    return lesson, shown + starts


async def test_enter_keeps_the_lesson() -> None:
    lesson, _ = await decide("\n")
    assert lesson == DRAFT


async def test_end_of_input_keeps_the_lesson() -> None:
    lesson, _ = await decide("")
    assert lesson == DRAFT


async def test_edit_starts_from_the_draft() -> None:
    lesson, told = await decide("e", "I will return [] for the empty list.")
    assert lesson is not None
    assert lesson.text == "I will return [] for the empty list."
    assert lesson.source == "person"
    assert DRAFT.text in told


async def test_replace_drops_the_evidence_of_the_draft() -> None:
    lesson, _ = await decide("r", "Sort first.")
    assert lesson is not None
    assert (lesson.text, lesson.evidence, lesson.problems) == ("Sort first.", "", ())


async def test_dropped_lesson_is_none() -> None:
    lesson, _ = await decide("d")
    assert lesson is None


async def test_unknown_answer_is_asked_again() -> None:
    lesson, told = await decide("x", "k")
    assert lesson == DRAFT
    assert any("found 'x'" in line for line in told)
