"""Plain functions as parts: asynchronous or not, every type they may return, and what they may not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import anyio
import pytest

from afterword import (
    ActContext,
    EvaluateContext,
    Feedback,
    InputError,
    ReflectContext,
    Reflection,
    Step,
    Trajectory,
)
from afterword.core.functions import (
    Acted,
    ActFunction,
    EvaluateFunction,
    Judged,
    Lesson,
    ReflectFunction,
    as_actor,
    as_evaluator,
    as_reflector,
)
from tests.core.doubles import TASK, make_effects, make_trial


def act(function: ActFunction) -> Trajectory:
    context = ActContext(TASK, 1, (), None, make_effects())
    return anyio.run(as_actor(function).act, context)


def evaluate(function: EvaluateFunction) -> Feedback:
    context = EvaluateContext(TASK, 1, Trajectory("out"), make_effects())
    return anyio.run(as_evaluator(function).evaluate, context)


def reflect(function: ReflectFunction) -> Reflection | None:
    context = ReflectContext(TASK, make_trial(3), (), make_effects())
    return anyio.run(as_reflector(function).reflect, context)


@pytest.mark.parametrize("text", ["an answer", "  kept as it is\n"])
def test_a_text_is_the_output(text: str) -> None:
    assert act(lambda context: text) == Trajectory(text)


def test_a_trajectory_is_returned_as_it_is() -> None:
    trajectory = Trajectory("out", (Step("t", "a", "o"),), end="stuck")
    assert act(lambda context: trajectory) is trajectory


@pytest.mark.parametrize("nothing", [None, "", " \n\t"])
def test_nothing_is_a_trial_without_output(nothing: Acted) -> None:
    trajectory = act(lambda context: nothing)
    assert (trajectory.output, trajectory.end) == ("", "no_output")
    assert trajectory.detail


@pytest.mark.parametrize("wrong", [7, ["text"], b"text", True])
def test_an_actor_that_returns_something_else_is_told_so(wrong: object) -> None:
    with pytest.raises(TypeError, match=type(wrong).__name__):
        act(lambda context: wrong)  # type: ignore[arg-type,return-value]  # as a user without a type checker would


@pytest.mark.parametrize(
    ("judged", "passed", "score", "message", "graded"),
    [
        (True, True, 1.0, "", False),
        (False, False, 0.0, "", False),
        (1, True, 1.0, "", False),
        (0, False, 0.0, "", False),
        (1.0, True, 1.0, "", True),
        (0.5, False, 0.5, "", True),
        (0.0, False, 0.0, "", True),
        ((False, "why"), False, 0.0, "why", False),
        ((0.25, "how far"), False, 0.25, "how far", True),
    ],
)
def test_what_a_verdict_may_be(judged: Judged, passed: bool, score: float, message: str, graded: bool) -> None:
    feedback = evaluate(lambda context: judged)
    assert (feedback.passed, feedback.score, feedback.message, feedback.graded) == (passed, score, message, graded)
    assert feedback.reason == ("ok" if passed else "failed")
    assert feedback.trust == "shared_process"


def test_a_feedback_is_returned_as_it_is() -> None:
    feedback = Feedback(False, 0.5, "model", "unclear")
    assert evaluate(lambda context: feedback) is feedback


@pytest.mark.parametrize("wrong", [None, "yes", (True,), (True, "a", "b"), [True, "a"], ("yes", "a")])
def test_a_verdict_of_another_type_is_told_so(wrong: object) -> None:
    with pytest.raises(TypeError, match="bool, a grade"):
        evaluate(lambda context: wrong)  # type: ignore[arg-type,return-value]  # as a user without a type checker would


@pytest.mark.parametrize("grade", [1.5, -0.1, 2, float("nan"), float("inf")])
def test_a_grade_outside_its_range_is_told_so(grade: float) -> None:
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        evaluate(lambda context: grade)


def test_a_text_is_the_lesson_of_its_trial() -> None:
    assert reflect(lambda context: "try harder") == Reflection("try harder", 3)


def test_a_reflection_is_returned_as_it_is() -> None:
    reflection = Reflection("", 3, disputes="case:1")
    assert reflect(lambda context: reflection) is reflection


@pytest.mark.parametrize("nothing", [None, "", "  ", Reflection("", 3)])
def test_no_lesson_is_none(nothing: Lesson) -> None:
    assert reflect(lambda context: nothing) is None


def test_a_reflector_that_returns_something_else_is_told_so() -> None:
    with pytest.raises(TypeError, match="found int"):
        reflect(lambda context: 3)  # type: ignore[arg-type,return-value]  # as a user without a type checker would


async def answer(context: ActContext) -> str:
    return "async"


def keyword_answer(context: ActContext, text: str) -> str:
    return text


class Answers:
    def __call__(self, context: ActContext) -> str:
        return "called"

    async def later(self, context: ActContext) -> str:
        return "method"


class AnswersLater:
    async def __call__(self, context: ActContext) -> str:
        return "called later"


@pytest.mark.parametrize(
    ("function", "output"),
    [
        (answer, "async"),
        (lambda context: answer(context), "async"),
        (partial(keyword_answer, text="partial"), "partial"),
        (Answers(), "called"),
        (Answers().later, "method"),
        (AnswersLater(), "called later"),
    ],
    ids=["coroutine function", "returns a coroutine", "partial", "object", "method", "asynchronous object"],
)
def test_what_counts_as_a_function(function: ActFunction, output: str) -> None:
    assert act(function).output == output


def test_a_function_that_waits_does_not_hold_up_the_event_loop() -> None:
    async def main() -> None:
        go_on = threading.Event()

        def wait_for_the_other(context: ActContext) -> str:
            return "waited" if go_on.wait(10) else "held up"

        async def other() -> None:
            go_on.set()

        async with anyio.create_task_group() as group:
            group.start_soon(other)
            context = ActContext(TASK, 1, (), None, make_effects())
            assert (await as_actor(wait_for_the_other).act(context)).output == "waited"

    anyio.run(main)


class RealActor:
    async def act(self, context: ActContext) -> Trajectory:
        return Trajectory("real")


class RealEvaluator:
    check_ids = ("case:1",)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        return Feedback(True, 1.0, "exact")


class RealReflector:
    async def reflect(self, context: ReflectContext) -> Reflection | None:
        return None


def test_parts_that_are_none_of_functions_stay_as_they_are() -> None:
    actor, evaluator, reflector = RealActor(), RealEvaluator(), RealReflector()
    assert as_actor(actor) is actor
    assert as_evaluator(evaluator) is evaluator
    assert as_reflector(reflector) is reflector


@pytest.mark.parametrize(
    ("wrap", "part", "found"),
    [
        (as_actor, "a text", "found str"),
        (as_evaluator, None, "found NoneType"),
        (as_reflector, 3, "found int"),
        (as_actor, RealActor, "found the class RealActor"),
        (as_evaluator, RealEvaluator, "found the class RealEvaluator"),
        (as_reflector, RealReflector, "found the class RealReflector"),
    ],
)
def test_what_is_no_part_is_bad_input(wrap: Callable[[object], object], part: object, found: str) -> None:
    with pytest.raises(InputError, match=found):
        wrap(part)


def test_a_function_with_a_reset_must_be_an_actor() -> None:
    class Called:
        def __call__(self, context: ActContext) -> str:
            return "out"

        async def reset(self) -> str:
            return "fresh"

    with pytest.raises(InputError, match="async def act"):
        as_actor(Called())
