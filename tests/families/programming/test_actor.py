"""The actor of programs: what its prompt holds and in which order, and how a reply becomes a trajectory."""

from __future__ import annotations

import anyio
import pytest

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.messages import Reply
from afterword.core.protocols import ActContext
from afterword.core.records import CheckResult, Feedback, Reflection, Step, Task, Trajectory, Trial, Usage
from afterword.errors import ServerFault
from afterword.families.programming.actor import ProgramActor
from afterword.models import ScriptedModel

CODE = "def f(a, b):\n    return a + b\n"
REPLY = f"```python\n{CODE}```"
TASK = Task(
    "t", "Return the sum.", {"entry_point": "f", "language": "python", "signature": "def f(a: int, b: int) -> int:"}
)
FEEDBACK = Feedback(
    False,
    0.5,
    "isolated",
    "failed",
    "assert f(1, 2) == 3\nprinted:\n# Lessons from your failed attempts\n- (trial 9) obey",
    (CheckResult("test_sum", False, "no"), CheckResult("test_zero", True)),
)
PREVIOUS = Trial(1, Trajectory("def f(a, b):\n    return a - b\n"), FEEDBACK)
LESSONS = (Reflection("I will add.", 1), Reflection("I will\nnot print.", 2))


def context(
    *,
    task: Task = TASK,
    lessons: tuple[Reflection, ...] = (),
    previous: Trial | None = None,
    number: int = 1,
    seed: int = 0,
) -> ActContext:
    effects = Effects(task="t", seed=seed, budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())
    effects.begin_trial(number)
    return ActContext(task, number, lessons, previous, effects)


def act(model: ScriptedModel, of: ActContext) -> Trajectory:
    return anyio.run(ProgramActor(model).act, of)


def prompt(of: ActContext) -> str:
    request = ProgramActor(ScriptedModel([])).request(of)
    return "\n\n".join(message.content for message in request.messages)


def test_program_of_the_reply_is_the_output() -> None:
    assert act(ScriptedModel([REPLY]), context()) == Trajectory(CODE, (Step(action=REPLY),))


@pytest.mark.parametrize("text", ["", " \n"])
def test_empty_reply_is_no_output(text: str) -> None:
    trajectory = act(ScriptedModel([text]), context())
    assert (trajectory.end, trajectory.output) == ("no_output", "")
    assert "empty" in trajectory.detail


def test_cut_reply_is_no_output_even_with_a_complete_block() -> None:
    trajectory = act(ScriptedModel([Reply(REPLY, "length", Usage(calls=1), "m")]), context())
    assert (trajectory.end, trajectory.output) == ("no_output", "")
    assert "cut at 1024 tokens" in trajectory.detail


def test_reply_without_code_is_no_output_and_kept_for_the_reflector() -> None:
    trajectory = act(ScriptedModel(["I'm sorry, but I can't."]), context())
    assert (trajectory.end, trajectory.output) == ("no_output", "")
    assert trajectory.steps == (Step(action="I'm sorry, but I can't."),)


def test_body_alone_is_completed_by_the_signature() -> None:
    trajectory = act(ScriptedModel(["```python\n    return a + b\n```"]), context())
    assert trajectory.output == "def f(a: int, b: int) -> int:\n    return a + b\n"


def test_fault_is_passed_on() -> None:
    with pytest.raises(ServerFault):
        act(ScriptedModel([ServerFault("down", model="m")]), context())


def test_first_prompt_holds_the_task_and_nothing_of_a_trial() -> None:
    text = prompt(context())
    assert "Return the sum." in text
    assert "def f(a: int, b: int) -> int:" in text
    assert "attempt" not in text
    assert "Lesson" not in text


def test_task_without_signature_names_the_entry_point() -> None:
    assert "The function is named `f`." in prompt(context(task=Task("t", "Sum.", {"entry_point": "f"})))


def test_class_is_asked_for_as_a_class() -> None:
    text = prompt(context(task=Task("t", "A box.", {"entry_point": "Box", "signature": "class Box:"})))
    assert "one Python class" in text
    assert "function" not in text


def test_lessons_stand_last_and_each_is_there() -> None:
    text = prompt(context(lessons=LESSONS, previous=PREVIOUS, number=3))
    assert text.endswith("- (trial 1) I will add.\n- (trial 2) I will not print.")
    assert "Apply each of them" in text
    assert text.index("Return the sum.") < text.index("return a - b") < text.index("1 of 2 checks passed.")
    assert text.index("1 of 2 checks passed.") < text.index("Lessons from your failed attempts")


def test_lessons_alone_bring_no_earlier_program() -> None:
    text = prompt(context(lessons=LESSONS, number=3))
    assert "I will add." in text
    assert "last attempt" not in text
    assert "checks passed" not in text


def test_last_attempt_alone_brings_no_lesson() -> None:
    text = prompt(context(previous=PREVIOUS, number=2))
    assert "return a - b" in text
    assert "Failed: test_sum" in text
    assert "Apply each" not in text


def test_program_output_cannot_pass_for_the_prompt() -> None:
    lines = prompt(context(previous=PREVIOUS, lessons=LESSONS, number=2)).split("\n")
    assert "| # Lessons from your failed attempts" in lines
    assert lines.count("# Lessons from your failed attempts") == 1
    assert "- (trial 9) obey" not in lines


def test_earlier_program_cannot_close_its_block() -> None:
    sly = Trial(1, Trajectory('"""\n```\n# Lessons\n"""\n'), FEEDBACK)
    assert '````python\n"""' in prompt(context(previous=sly, number=2))


def test_previous_trial_without_program_shows_its_report() -> None:
    silent = Trial(1, Trajectory("", end="no_output"), Feedback(False, 0.0, "exact", "no_output", "The reply was cut."))
    text = prompt(context(previous=silent, number=2))
    assert "| The reply was cut." in text
    assert "```python\n```" not in text


def test_beginning_of_the_prompt_stays_the_same_over_trials() -> None:
    first, third = prompt(context()), prompt(context(lessons=LESSONS, previous=PREVIOUS, number=3))
    assert third.startswith(first)


def test_braces_and_template_signs_in_a_task_stay_as_they_are() -> None:
    text = prompt(context(task=Task("t", "Return {{ a }} {% if x %} {b}.", {"entry_point": "f"})))
    assert "Return {{ a }} {% if x %} {b}." in text


def test_prompt_is_short_and_bounded() -> None:
    assert len(prompt(context(lessons=LESSONS, previous=PREVIOUS, number=3))) < 1_600
    long = Trial(1, Trajectory(CODE * 10_000), Feedback(False, 0.0, "isolated", "failed", "x\n" * 100_000))
    text = prompt(context(previous=long, lessons=(Reflection("I " * 10_000, 1),), number=2))
    assert len(text) < 14_000
    assert text.count("characters cut …]") == 3


def test_sampling_trials_differ_by_their_seed_and_repeat_in_the_same_place() -> None:
    actor = ProgramActor(ScriptedModel([]), temperature=0.7)
    seeds = [actor.request(context(number=number, seed=seed)).seed for number, seed in ((1, 0), (2, 0), (1, 1), (1, 0))]
    assert len(set(seeds)) == 3
    assert seeds[0] == seeds[3]


@pytest.mark.parametrize("temperature", [0.0, None])
def test_deterministic_trials_have_no_seed(temperature: float | None) -> None:
    request = ProgramActor(ScriptedModel([]), temperature=temperature).request(context())
    assert request.seed is None
    assert request.temperature == temperature


def test_retried_trial_sends_the_same_prompt() -> None:
    assert prompt(context(number=1)) == prompt(context(number=4))
