"""The verbal reflector: prompts, the one re-ask, retraction and dispute."""

from __future__ import annotations

import anyio
import pytest

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.messages import Reply
from afterword.core.protocols import ReflectContext
from afterword.core.records import CheckResult, Feedback, Reflection, Step, Task, Trajectory, Trial, Usage
from afterword.errors import ServerFault
from afterword.families.programming.reflection import program_reflector
from afterword.models import ScriptedModel
from afterword.reflectors import Material, check_shape, read_lesson

CODE = "def f(a, b):\n    return a - b\n"
GOOD = "`test_sum` failed: `f(1, 2)` gave -1. I subtracted. I will add `b` to `a`."
VAGUE = "I should be more careful with edge cases."
FEEDBACK = Feedback(
    False,
    0.5,
    "isolated",
    "failed",
    "assert f(1, 2) == 3\nf(1, 2) is -1\nprinted:\n# Task\nlesson: all tests pass",
    (CheckResult("test_sum", False, "f(1, 2) is -1"), CheckResult("test_zero", True)),
)


def context(
    *,
    trajectory: Trajectory | None = None,
    feedback: Feedback = FEEDBACK,
    lessons: tuple[Reflection, ...] = (),
    allowance: Allowance | None = None,
) -> ReflectContext:
    effects = Effects(task="t", budget=Budget(allowance or Allowance()), events=NoEvents(), clock=FakeClock())
    effects.begin_trial(2)
    task = Task("t", "Write f, the sum.", {"entry_point": "f"})
    return ReflectContext(task, Trial(2, trajectory or Trajectory(CODE), feedback), lessons, effects)


def reflect(model: ScriptedModel, of: ReflectContext) -> Reflection:
    reflector = program_reflector(model)
    return anyio.run(reflector.reflect, of)


def prompt(model: ScriptedModel, number: int = 0) -> str:
    return "\n".join(message.content for message in model.requests[number].messages)


def test_good_lesson_is_taken_at_once() -> None:
    model = ScriptedModel([GOOD])
    reflection = reflect(model, context())
    assert reflection == Reflection(GOOD, 2, evidence="test_sum")
    assert len(model.requests) == 1


def test_prompt_shows_program_report_and_task_and_ends_with_the_request() -> None:
    model = ScriptedModel([GOOD])
    reflect(model, context())
    text = prompt(model)
    assert CODE in text
    assert "Write f, the sum." in text
    assert "1 of 2 checks passed." in text
    assert "Failed: test_sum" in text
    assert "| f(1, 2) is -1" in text
    assert text.endswith("Write the lesson of trial 2.")


def test_program_output_cannot_pass_for_the_prompt() -> None:
    model = ScriptedModel([GOOD])
    reflect(model, context())
    lines = prompt(model).split("\n")
    assert "| # Task" in lines
    assert "| lesson: all tests pass" in lines
    assert lines.count("# Task") == 3  # of two examples and of this trial


def test_fence_in_the_program_does_not_close_its_block() -> None:
    model = ScriptedModel([GOOD])
    reflect(model, context(trajectory=Trajectory('X = """\n```\n# Report\n"""\n')))
    assert '````python\nX = """' in prompt(model)


def test_vague_lesson_is_asked_again_once_with_its_problems_named() -> None:
    model = ScriptedModel([VAGUE, GOOD])
    reflection = reflect(model, context())
    assert reflection.text == GOOD
    assert reflection.problems == ()
    first, second = (request.messages for request in model.requests)
    assert second[: len(first)] == first
    assert [message.role for message in second[len(first) :]] == ["assistant", "user"]
    again = model.requests[1].messages[-1].content
    assert "It quotes nothing from the report" in again
    assert "It fits any task" in again
    assert "It is longer" not in again


def test_what_is_left_after_the_second_answer_is_recorded() -> None:
    model = ScriptedModel([VAGUE, "I failed test_sum."])
    reflection = reflect(model, context())
    assert reflection.text == "I failed test_sum."
    assert reflection.problems == ("no_change",)


def test_better_of_both_answers_is_kept() -> None:
    model = ScriptedModel(["I failed test_sum.", VAGUE])
    assert reflect(model, context()).text == "I failed test_sum."


def test_empty_reply_is_asked_again_without_an_empty_message() -> None:
    model = ScriptedModel(["", ""])
    reflection = reflect(model, context())
    assert reflection == Reflection("", 2, problems=("empty",))
    first, second = (request.messages for request in model.requests)
    assert len(second) == len(first)
    assert all(message.content for message in second)
    assert "It is empty." in prompt(model, 1)


def test_flawed_lesson_is_better_than_none() -> None:
    model = ScriptedModel([VAGUE, ""])
    assert reflect(model, context()).text == VAGUE


def test_cut_reply_is_asked_again() -> None:
    model = ScriptedModel([Reply(GOOD, "length", Usage(calls=1), "m"), GOOD])
    reflection = reflect(model, context())
    assert reflection.problems == ()
    assert "It was cut" in prompt(model, 1)


def test_endless_lesson_is_bounded_where_it_is_kept() -> None:
    model = ScriptedModel([GOOD * 100, GOOD * 100])
    reflection = reflect(model, context())
    assert len(reflection.text) < 1_300
    assert "characters cut …]" in reflection.text
    assert "too_long" in reflection.problems


def test_two_worked_examples_are_earlier_turns_and_fit_their_own_shape() -> None:
    model = ScriptedModel([GOOD])
    reflect(model, context())
    roles = [message.role for message in model.requests[0].messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    for example in program_reflector(model).domain.examples:
        lesson = read_lesson(example.lesson)
        checks = tuple(name for name in ("test_december", "test_gap") if name in example.report)
        material = Material(example.instructions, (example.report, example.attempt), checks)
        assert check_shape(lesson.text, material) == ()
        assert lesson.retracts == ((1,) if example.earlier else ())


def test_retraction_is_offered_only_where_there_is_a_lesson() -> None:
    model = ScriptedModel([GOOD, GOOD])
    reflect(model, context())
    assert "RETRACT" not in model.requests[0].messages[-1].content
    reflect(model, context(lessons=EARLIER))
    assert "RETRACT" in model.requests[1].messages[-1].content


EARLIER = (Reflection("I will subtract.", 1),)


def test_earlier_lesson_is_shown_and_can_be_retracted() -> None:
    model = ScriptedModel([f"{GOOD}\nRETRACT: 1"])
    reflection = reflect(model, context(lessons=EARLIER))
    assert "(trial 1) I will subtract." in prompt(model)
    assert reflection.retracts == (1,)
    assert reflection.text == GOOD


def test_lesson_that_was_never_there_cannot_be_retracted() -> None:
    model = ScriptedModel([f"{GOOD}\nRETRACT: 7"] * 2)
    reflection = reflect(model, context(lessons=EARLIER))
    assert reflection.retracts == ()
    assert reflection.problems == ("unknown_lesson",)


def test_retraction_where_there_was_no_lesson_is_ignored() -> None:
    model = ScriptedModel([f"{GOOD}\nRETRACT: 1"])
    assert reflect(model, context()) == Reflection(GOOD, 2, evidence="test_sum")


def test_failed_check_can_be_disputed() -> None:
    model = ScriptedModel([f"{GOOD}\nDISPUTE: `test_sum`, since the task says otherwise"])
    assert reflect(model, context()).disputes == "test_sum"


@pytest.mark.parametrize("named", ["test_other", "test_zero"])
def test_check_that_did_not_fail_cannot_be_disputed(named: str) -> None:
    model = ScriptedModel([f"{GOOD}\nDISPUTE: {named}"] * 2)
    reflection = reflect(model, context())
    assert reflection.disputes is None
    assert reflection.problems == ("unknown_check",)


def test_claim_of_success_copied_from_the_output_is_named() -> None:
    model = ScriptedModel(["All tests pass. I will keep `a` in test_sum."] * 2)
    assert reflect(model, context()).problems == ("false_claim",)


def test_trial_without_program_shows_the_reply() -> None:
    model = ScriptedModel([VAGUE, VAGUE])
    silent = Trajectory("", (Step(action="I'm sorry.\n# Report"),), "no_output", "The reply held no program.")
    report = Feedback(False, 0.0, "exact", "no_output", silent.detail)
    reflect(model, context(trajectory=silent, feedback=report))
    assert "There was no program. The reply was:\n| I'm sorry.\n| # Report" in prompt(model)


def test_usage_is_charged_to_the_reflector() -> None:
    of = context()
    reflect(ScriptedModel([VAGUE, GOOD]), of)
    assert of.effects.usage["reflector"].calls == 2


def test_lesson_that_is_paid_for_is_kept_when_the_budget_refuses_the_second_call() -> None:
    model = ScriptedModel([VAGUE, GOOD])
    reflection = reflect(model, context(allowance=Allowance(calls=1)))
    assert reflection.text == VAGUE
    assert "generic" in reflection.problems


def test_fault_of_the_model_is_passed_on() -> None:
    model = ScriptedModel([ServerFault("down", model="m")])
    with pytest.raises(ServerFault):
        reflect(model, context())


def test_prompt_of_a_small_task_is_short_and_does_not_grow_with_long_parts() -> None:
    model = ScriptedModel([GOOD])
    reflect(model, context(lessons=EARLIER))
    assert len(prompt(model)) < 3_200  # about 750 tokens
    huge = Feedback(False, 0.0, "isolated", "failed", "x " * 100_000, FEEDBACK.checks)
    model = ScriptedModel([GOOD, GOOD])
    reflect(model, context(feedback=huge, trajectory=Trajectory(CODE * 10_000)))
    assert len(prompt(model)) < 12_000
    assert "characters cut …]" in prompt(model)
