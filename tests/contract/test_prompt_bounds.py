"""What every actor, reflector and judge must do with length: a prompt has a bound, whatever a trial holds, however many
steps it took and however many trials went before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterword import ActContext, ChatRequest, Feedback, ReflectContext, Reflexion, Strategy, Task, Trajectory, Trial
from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Effects, FakeClock
from afterword.core.events import NoEvents
from afterword.core.protocols import EvaluateContext
from afterword.core.records import CheckResult, Reflection, Step
from afterword.evaluators.environment import ModelWatch, success_judge
from afterword.evaluators.model_judge import ModelJudge
from afterword.families.decision import EnvironmentActor, game_reflector
from afterword.families.programming import ProgramActor, program_reflector
from afterword.families.qa import ChainOfThought, ClosedArticles, Paragraph, ReActActor, answer_reflector
from tests.contract.test_lessons_in_prompt import AnsweringModel, Room
from tests.core.doubles import ListModel

MODEL = ListModel([])
TASK = Task("t", "Do what is asked.", {"entry_point": "half", "language": "python"})
LESSONS = 3
PAGES = ClosedArticles([Paragraph("Ada", ("Ada was born in 1815.",))])

PIECES = ("a", "word ", "\n", "`", "| ", "{{ 7 * 7 }}", "{% raw %}", "\u2028", "\x1b[31m", "\N{RIGHT-TO-LEFT OVERRIDE}")
"""What a text is made of; a line end and a backtick grow where they are quoted."""


class Past(NamedTuple):
    """A trial, and the lessons before it."""

    steps: tuple[Step, ...]
    output: str
    message: str
    lessons: tuple[str, ...]


Size = tuple[str, int]
SIZES = st.tuples(st.sampled_from(PIECES), st.sampled_from((0, 1, 30, 900, 20_000)))
STEPS = st.lists(st.tuples(SIZES, SIZES, SIZES), max_size=60)


def text(size: Size) -> str:
    piece, number = size
    return piece * number


NOTHING = Past((), "", "", ())


def effects() -> Effects:
    made = Effects(task="t", budget=Budget(Allowance()), events=NoEvents(), clock=FakeClock())
    made.begin_trial(2)
    return made


def trial_of(past: Past) -> Trial:
    check = CheckResult(past.message[:5_000] or "check", False, past.message)
    feedback = Feedback(False, 0.0, "exact", "failed", past.message, (check,))
    return Trial(1, Trajectory(past.output, past.steps), feedback)


def lessons_of(past: Past) -> tuple[Reflection, ...]:
    return tuple(Reflection(text, number) for number, text in enumerate(past.lessons, start=1))


def acting(past: Past) -> ActContext:
    return ActContext(TASK, 2, lessons_of(past), trial_of(past), effects())


def reflecting(past: Past) -> ReflectContext:
    return ReflectContext(TASK, trial_of(past), lessons_of(past), effects())


def judged(judge: ModelJudge) -> Callable[[Past], ChatRequest | None]:
    def asked(past: Past) -> ChatRequest | None:
        context = EvaluateContext(TASK, 1, Trajectory(past.output, past.steps), effects())
        attempt = judge.show(context)
        return None if len(attempt) > judge.max_chars else judge.request(context, attempt)

    return asked


# The second number is what the parts of a prompt are bounded to, in characters, before they are quoted.
MAKERS: dict[str, tuple[Callable[[Past], ChatRequest | None], int]] = {
    "program": (lambda past: ProgramActor(MODEL).request(acting(past)), 8_400),
    "chain of thought": (lambda past: ChainOfThought(MODEL).request(acting(past)), 3_600),
    "ReAct": (lambda past: ReActActor(MODEL, PAGES, max_steps=99).request(acting(past), past.steps), 9_600),
    "game": (
        lambda past: EnvironmentActor(MODEL, Room()).request(acting(past), (Step(observation="Here."), *past.steps)),
        12_600,
    ),
    "reflector of programs": (lambda past: program_reflector(MODEL).request(reflecting(past)), 10_000),
    "reflector of answers": (lambda past: answer_reflector(MODEL).request(reflecting(past)), 5_600),
    "reflector of games": (lambda past: game_reflector(MODEL).request(reflecting(past)), 6_850),
    "judge of outputs": (judged(ModelJudge(MODEL, "Be right.")), 24_000),
    "judge of games": (judged(success_judge(MODEL)), 9_000),
    "watch of games": (judged(ModelWatch.of(MODEL).judge), 9_000),
}
PER_LESSON = 1_300
PER_STEP = 60
"""Labels, and what turns begin with."""
QUOTED = 3
"""By so much a text of line ends grows when each line gets a bar, and one of backticks when it gets a fence."""


def size(request: ChatRequest) -> int:
    return sum(len(message.content) for message in request.messages)


def check_bound(maker: str, past: Past) -> None:
    make, parts = MAKERS[maker]
    empty, request = make(NOTHING), make(past)
    if request is not None:  # a judge does not read what is too long
        assert empty is not None
        bound = size(empty) + QUOTED * (parts + LESSONS * PER_LESSON) + PER_STEP * len(past.steps)
        assert size(request) <= bound


@pytest.mark.parametrize("maker", MAKERS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS, output=SIZES, message=SIZES, lessons=st.lists(SIZES, max_size=LESSONS))
def test_a_prompt_has_a_bound_whatever_a_trial_holds(
    maker: str, steps: list[tuple[Size, Size, Size]], output: Size, message: Size, lessons: list[Size]
) -> None:
    taken = tuple(Step(*map(text, parts)) for parts in steps)
    check_bound(maker, Past(taken, text(output), text(message), tuple(map(text, lessons))))


@pytest.mark.parametrize("piece", ["word ", "\n", "`"])
@pytest.mark.parametrize("maker", MAKERS)
def test_a_prompt_has_a_bound_where_all_is_long(maker: str, piece: str) -> None:
    long = text((piece, 20_000))
    check_bound(maker, Past((Step(long, long, long),) * 60, long, long, (long,) * LESSONS))


LOOPS: dict[str, tuple[Callable[[AnsweringModel], object], str]] = {
    "program": (ProgramActor, "```python\ndef half(n):\n    return n\n" + "# long\n" * 3_000 + "```"),
    "chain of thought": (ChainOfThought, "Thought: " + "I guess. " * 3_000 + "\nAnswer: Paris"),
    "ReAct": (lambda model: ReActActor(model, PAGES, max_steps=6), "I search. " * 3_000 + "\nAction: Search[Ada]"),
    "game": (lambda model: EnvironmentActor(model, Room(), watch=None, max_steps=12), "> look " + "x" * 20_000),
}


@pytest.mark.parametrize("actor", LOOPS)
def test_prompts_do_not_grow_with_trials(actor: str) -> None:
    make, reply = LOOPS[actor]
    model = AnsweringModel(reply)
    first_of_trial: list[int] = []
    largest: list[int] = []

    async def judge(context: EvaluateContext) -> Feedback:
        sizes: Sequence[int] = [size(request) for request in model.requests]
        first_of_trial.append(sizes[0])
        largest.append(max(sizes))
        model.requests.clear()
        return Feedback(False, 0.0, "exact", "failed", "wrong " * 10_000)

    async def reflect(context: ReflectContext) -> Reflection:
        return Reflection(f"lesson {context.trial.number} " + "words " * 5_000, context.trial.number)

    loop = Reflexion(
        make(model),  # type: ignore[arg-type]  # an actor of any family
        judge,
        reflect,
        strategy=Strategy.LAST_ATTEMPT_AND_REFLEXION,
        max_trials=8,
        stop_on_repetition=False,
    )
    outcome = anyio.run(loop.run, TASK)
    assert len(outcome.trials) == 8
    slack = 40  # numbers of trials have more digits
    assert max(first_of_trial[4:]) <= first_of_trial[3] + slack
    assert max(largest[4:]) <= largest[3] + slack
