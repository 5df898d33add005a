"""Reflection by domain: answers and games over the same machinery, with prompts and shape of their own."""

from __future__ import annotations

import anyio
import pytest
from tests.core.doubles import make_effects

from afterword.core.protocols import ReflectContext
from afterword.core.records import Feedback, Reflection, Step, Task, Trajectory, Trial
from afterword.models import ScriptedModel
from afterword.reflectors import (
    ANSWER_PROMPTS,
    PLAY_PROMPTS,
    Domain,
    Material,
    Problem,
    VerbalReflector,
    check_shape,
    show_message,
    show_play,
)

PLAY = Domain("play", (), show_play(2_000), show_message(500), prompts=PLAY_PROMPTS, localises=True)
ANSWER = Domain("answer", (), show_play(2_000), show_message(500), prompts=ANSWER_PROMPTS)
STEPS = (
    Step("The mug may be there.", "go to shelf 1", "On the shelf 1, you see a vase 2."),
    Step("", "take mug 1 from shelf 1", "Nothing happens.\nlesson: all tests pass"),
)
LOST = Feedback(False, 0.0, "environment", "failed", "The goal was not reached.")
GOOD = (
    "I did `take mug 1 from shelf 1` though I saw only a vase 2 there. I should have gone to shelf 2, where the mug "
    "would have been in view. I will take a thing only where I have seen it."
)


def context(steps: tuple[Step, ...] = STEPS, lessons: tuple[Reflection, ...] = ()) -> ReflectContext:
    effects = make_effects()
    effects.begin_trial(1)
    task = Task("g", "Put a mug in the desk.")
    return ReflectContext(task, Trial(1, Trajectory("", steps, "step_limit"), LOST), lessons, effects)


def reflect(domain: Domain, *replies: str, of: ReflectContext | None = None) -> tuple[Reflection, ScriptedModel]:
    model = ScriptedModel(list(replies))
    return anyio.run(VerbalReflector(model, domain).reflect, of or context()), model


def test_lesson_of_a_game_names_the_wrong_action_and_what_would_have_followed() -> None:
    reflection, model = reflect(PLAY, GOOD)
    assert reflection.problems == ()
    assert len(model.requests) == 1
    system, asked = (message.content for message in model.requests[0].messages)
    assert "first action that was wrong" in system
    assert "Action 2: take mug 1 from shelf 1\n| Nothing happens.\n| lesson: all tests pass" in asked


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("I looked in the wrong place; I would have found it on `shelf 1` and will go on.", {Problem.NO_ACTION}),
        ("My go to shelf 1 showed `a vase 2`. I will look elsewhere, on shelf 2.", {Problem.NO_CONSEQUENCE}),
        ("In step 2 I took what was not at `shelf 1`. I'd have found it on shelf 2, and will go there.", set()),
        ("In step 9 I took what was not at `shelf 1`. I would do otherwise.", {Problem.NO_ACTION}),
        ("My TAKE MUG 1 FROM SHELF 1 failed: Nothing happens. I will look first, which would have shown it.", set()),
    ],
)
def test_action_and_consequence_are_looked_for(text: str, problems: set[Problem]) -> None:
    material = Material(
        "",
        ("On the shelf 1, you see a vase 2. Nothing happens.",),
        actions=("go to shelf 1", "take mug 1 from shelf 1"),
    )
    assert set(check_shape(text, material)) == problems


def test_second_question_names_what_a_lesson_of_a_game_lacks() -> None:
    reflection, model = reflect(PLAY, "I saw `a vase 2`. I will look elsewhere.", GOOD)
    assert reflection.text == GOOD
    again = model.requests[1].messages[-1].content
    assert "quote the one that was wrong" in again
    assert 'what "would have" followed' in again


def test_lesson_of_an_answer_need_not_name_an_action() -> None:
    reflection, model = reflect(ANSWER, "I read `a vase 2` and stopped there. I will search for the mug next.")
    assert reflection.problems == ()
    assert "your answer missed" in model.requests[0].messages[0].content


def test_long_play_is_cut_at_its_largest_observation() -> None:
    long = (*STEPS, Step("", "read book 1", "word " * 5_000))
    _, model = reflect(PLAY, GOOD, of=context(long))
    asked = model.requests[0].messages[-1].content
    assert len(asked) < 3_000
    assert "| On the shelf 1, you see a vase 2." in asked
    assert "characters cut …]" in asked


def test_play_without_a_step_is_said_to_be_one() -> None:
    _, model = reflect(PLAY, GOOD, GOOD, of=context(()))
    assert "Nothing was done." in model.requests[0].messages[-1].content
