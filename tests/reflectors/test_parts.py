"""Lessons without one of their parts: what is asked, shown and checked then, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest
from tests.reflectors.test_verbal import context

from afterword.core.messages import ChatRequest
from afterword.core.protocols import ReflectContext
from afterword.core.records import Step, Trajectory
from afterword.errors import InputError
from afterword.families.decision.reflection import game_reflector
from afterword.families.programming.reflection import program_reflector
from afterword.families.qa.reflection import answer_reflector
from afterword.models import ScriptedModel
from afterword.reflectors.parts import Part, parts_of, unchecked
from afterword.reflectors.shape import Material, Problem, check_shape

MAKERS = (program_reflector, answer_reflector, game_reflector)
TEXT_PARTS = (Part.FIRST_PERSON, Part.DIAGNOSIS, Part.PRESCRIPTION)
PHRASES = {
    Part.FIRST_PERSON: "in the first person",
    Part.DIAGNOSIS: "say what in",
    Part.PRESCRIPTION: "you will",
}
PLAY = Trajectory("", (Step(action="go north", observation="a wall"),))


def asked(make: object, *parts: Part, of: ReflectContext | None = None) -> ChatRequest:
    assert callable(make)
    reflector = replace(make(ScriptedModel([])), without=frozenset(parts))
    request: ChatRequest = reflector.request(of or context(trajectory=PLAY))
    return request


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("part", TEXT_PARTS)
def test_only_that_part_is_not_asked_for(make: object, part: Part) -> None:
    whole, without = asked(make).messages[0].content, asked(make, part).messages[0].content
    for other in TEXT_PARTS:
        assert PHRASES[other] in whole
    assert PHRASES[part] not in without
    kept = [other for other in TEXT_PARTS if other is not part and part is not Part.FIRST_PERSON]
    assert all(PHRASES[other] in without for other in kept)
    assert without.endswith(whole[whole.index("Lines with a bar") :])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("part", TEXT_PARTS)
def test_worked_examples_lack_it_and_fit_the_shape_that_is_left(make: object, part: Part) -> None:
    whole, without = asked(make), asked(make, part)
    assert len(whole.messages) == len(without.messages)
    for before, now, shown in zip(
        whole.messages[2:-1:2], without.messages[2:-1:2], without.messages[1:-1:2], strict=True
    ):
        assert (before.role, now.role) == ("assistant", "assistant")
        assert now.content != before.content
        text = now.content.partition("\nRETRACT")[0]
        found = check_shape(text, Material("", (shown.content,)))
        assert set(found) <= unchecked(frozenset({part}))
        if part is Part.FIRST_PERSON:
            assert Problem.NOT_FIRST_PERSON in found
        if part is Part.PRESCRIPTION:
            assert "I will" not in text


@pytest.mark.parametrize("make", MAKERS)
def test_without_examples_only_the_trial_is_shown(make: object) -> None:
    whole, without = asked(make), asked(make, Part.EXAMPLES)
    assert [message.role for message in without.messages] == ["system", "user"]
    assert (without.messages[0], without.messages[1]) == (whole.messages[0], whole.messages[-1])


def test_a_lesson_is_not_asked_for_again_since_it_lacks_what_it_should_lack() -> None:
    impersonal = "`test_sum` failed: `f(1, 2)` gave -1. The program subtracts and has to add `b` to `a`."
    model = ScriptedModel([impersonal, impersonal])
    reflector = program_reflector(model)
    assert "not_first_person" in anyio.run(reflector.reflect, context()).problems
    model = ScriptedModel([impersonal])
    reflector = replace(program_reflector(model), without=frozenset({Part.FIRST_PERSON}))
    assert anyio.run(reflector.reflect, context()).problems == ()
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["feelings"], "a lesson can be without first_person, diagnosis, prescription, examples, found 'feelings'"),
        (["diagnosis", "prescription"], "one part of a lesson is left out at a time, besides the examples"),
    ],
)
def test_what_cannot_be_left_out_is_refused(names: list[str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parts_of(names)
    assert parts_of(["examples", "diagnosis"]) == {Part.EXAMPLES, Part.DIAGNOSIS}
