"""The nine published HotPotQA runs through this loop: the curves, each answer, and what stood in each prompt."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from afterword import Outcome, Reflexion, SlidingWindow, Strategy
from afterword.core.lessons import normalise
from afterword.core.protocols import Actor
from afterword.evaluators.exact_match import ExactMatch, StrictMatch
from afterword.families.qa import ChainOfThought, Mode, Question, ReActActor, answer_reflector, load_hotpotqa
from tests.paper.published_questions import Logged, PublishedRun, Row, Unasked, Unread, read_run, recorded

CURVES = {
    "hotpotqa_cot_gt_reflexion": [61, 69, 69, 70, 72, 74, 75, 75],
    "hotpotqa_cot_gt_last_trial": [62, 66, 66, 66, 66],
    "hotpotqa_cot_gt_last_trial_and_reflexion": [63, 70, 72, 74, 74],
    "hotpotqa_cot_base": [32, 33, 33, 33, 33],
    "hotpotqa_cot_last_trial": [32, 34, 35, 36, 37, 38],
    "hotpotqa_cot_reflexion": [32, 37, 40, 40, 40],
    "hotpotqa_cot_last_trial_and_reflexion": [31, 33, 34, 35, 35, 35],
    "hotpotqa_react_base": [34, 34, 34, 34, 34],
    "hotpotqa_react_reflexion": [32, 42, 48, 50, 51, 53, 53],
}
"""Correct of 100 by trial."""


def loop(run: PublishedRun, question: Question) -> Reflexion:
    model = Unasked()
    actor: Actor = ReActActor(model, Unread()) if run.mode is Mode.REACT else ChainOfThought(model)
    both = run.strategy is Strategy.LAST_ATTEMPT_AND_REFLEXION
    return Reflexion(
        actor,
        ExactMatch(question.answers),
        answer_reflector(model),
        strategy=run.strategy,
        memory=SlidingWindow(
            1 if both else run.trials
        ),  # as the logs show: the last lesson beside the last trial, or all
        max_trials=run.trials,
        stop_on_repetition=False,
        held_out=StrictMatch(question.answers),
    )


async def replay(run: PublishedRun, questions: dict[str, Question]) -> list[tuple[Outcome, Logged, list[Row]]]:
    replayed = []
    for name, rows in run.questions.items():
        log = recorded(name, rows, run)
        outcome = await loop(run, questions[name]).run(questions[name].task(run.mode), recorder=log)
        replayed.append((outcome, log, rows))
    return replayed


@pytest.mark.parametrize("name", CURVES)
def test_a_published_run_comes_out_as_published(name: str, data_dir: Path) -> None:
    questions = {question.id: question for question in load_hotpotqa("hotpotqa", data_dir)}
    run = read_run(data_dir, name)
    replayed = anyio.run(replay, run, questions)
    assert len(replayed) == 100
    curve = [sum(outcome.passed and len(outcome.trials) <= t for outcome, _, _ in replayed) for t in trials(run)]
    assert curve == CURVES[name]
    for outcome, log, rows in replayed:
        assert outcome.fault is None
        assert_answers_as_logged(outcome, rows)
        assert_prompts_hold_what_the_actor_saw(outcome, log, rows, run.strategy)


def trials(run: PublishedRun) -> range:
    return range(1, run.trials + 1)


def assert_answers_as_logged(outcome: Outcome, rows: list[Row]) -> None:
    tried = [row for row in rows if not row.carried]
    assert len(outcome.trials) == len(tried)
    for trial, row in zip(outcome.trials, tried, strict=True):
        assert trial.feedback.passed is row.right
        assert trial.trajectory.output == (row.answer or "")
        if row.status == "halted":
            assert trial.trajectory.end == "step_limit"


def assert_prompts_hold_what_the_actor_saw(outcome: Outcome, log: Logged, rows: list[Row], strategy: Strategy) -> None:
    for trial, row in zip(outcome.trials, rows, strict=False):
        for prompt in log.prompts[trial.number]:
            said = normalise(prompt)
            for reflection in row.reflections:
                assert normalise(reflection) in said
            assert ("Lessons from your failed attempts" in prompt) == bool(trial.lessons_shown)
            assert bool(trial.lessons_shown) == bool(row.reflections) or row.status == "absent"
        first = log.prompts[trial.number][0]
        shows = trial.number > 1 and strategy.shows_last_attempt
        assert (f"Your last attempt (trial {trial.number - 1})" in first) == shows
        if shows:
            before = outcome.trials[trial.number - 2]
            for said in (before.feedback.message, *(step.thought for step in before.trajectory.steps)):
                assert normalise(said) in normalise(first)
