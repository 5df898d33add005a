"""The reflector of games: what it sees, what it asks for, and that its own examples are as it asks."""

from __future__ import annotations

import tomllib
from importlib import resources

import anyio
from tests.families.decision.doubles import TASK, effects

from afterword.core.protocols import ReflectContext
from afterword.core.records import Feedback, Reflection, Step, Trajectory, Trial
from afterword.families.decision import game_reflector
from afterword.models import ScriptedModel
from afterword.reflectors import Material, check_shape, read_lesson

STEPS = (
    Step(observation="You are here."),
    Step(thought="a box", observation="OK."),
    Step(action="unlock box", observation="Nothing happens."),
)
GOOD = (
    'In step 3 I gave `unlock box` without a key, so the answer was "Nothing happens." I should have given '
    "`open drawer 3`; then I would have had the key. Next time I will open every drawer before I go to the box."
)
VAGUE = "I will be more careful next time."


def reflect(*replies: str, steps: tuple[Step, ...] = STEPS) -> tuple[Reflection | None, ScriptedModel]:
    model = ScriptedModel(replies)
    verdict = Feedback(False, 0.0, "environment", "stuck", "The goal was not reached.")
    context = ReflectContext(TASK, Trial(1, Trajectory("", steps, "stuck"), verdict), (), effects())
    return anyio.run(game_reflector(model).reflect, context), model


def test_a_lesson_that_names_the_action_and_what_would_have_followed_is_taken() -> None:
    lesson, model = reflect(GOOD)
    assert lesson is not None
    assert (lesson.text, lesson.problems) == (GOOD, ())
    assert len(model.requests) == 1


def test_a_vague_lesson_is_asked_for_again() -> None:
    lesson, model = reflect(VAGUE, GOOD)
    assert lesson is not None
    assert lesson.text == GOOD
    again = model.requests[1].messages[-1].content
    assert "names no action of the trial" in again
    assert "would have" in again


def test_the_reflector_sees_thoughts_actions_and_marked_answers() -> None:
    _, model = reflect(GOOD)
    shown = model.requests[0].messages[-1].content
    assert "| You are here.\nThought 1: a box\n| OK.\nAction 2: unlock box\n| Nothing happens." in shown
    assert "| The goal was not reached." in shown


def test_a_long_trial_is_bounded_by_its_largest_answers() -> None:
    steps = (*STEPS, Step(action="read book", observation="word " * 4_000), Step(action="wait", observation="Dark."))
    _, model = reflect(GOOD, steps=steps)
    shown = model.requests[0].messages[-1].content
    assert len(shown) < 6_500
    assert "cut …]" in shown
    assert "Action 4: wait\n| Dark." in shown


def test_its_own_examples_are_as_it_asks() -> None:
    file = resources.files("afterword.families.decision") / "prompts" / "reflection_examples.toml"
    for example in tomllib.loads(file.read_text("utf-8"))["example"]:
        actions = tuple(
            line.partition(": ")[2] for line in example["attempt"].splitlines() if line.startswith("Action ")
        )
        material = Material(example["instructions"], (example["report"], example["attempt"]), actions=actions)
        assert check_shape(read_lesson(example["lesson"]).text, material) == ()
