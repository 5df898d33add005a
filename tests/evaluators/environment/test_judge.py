"""A model in the place of the world or of the heuristic."""

from __future__ import annotations

import anyio
import pytest

from afterword.core.protocols import EvaluateContext, Evaluator
from afterword.core.records import Step, Trajectory
from afterword.errors import InputError
from afterword.evaluators.environment import ModelWatch, StuckHeuristic, Watch, success_judge
from afterword.experiments.agreement import Agreement
from afterword.models import ScriptedModel
from tests.families.decision.doubles import TASK, effects

PASS = '{"reason": "step 2 shows it", "verdict": "pass"}'
FAIL = '{"reason": "step 2 repeats step 1", "verdict": "fail"}'
STEPS = tuple(Step(action=f"go {n}", observation=f"Room {n}.") for n in range(4))


def test_a_judge_sees_the_steps_and_not_what_the_world_says() -> None:
    model = ScriptedModel([FAIL])
    context = EvaluateContext(TASK, 1, Trajectory("", STEPS, won=True, reward=1.0), effects())
    verdict = anyio.run(success_judge(model).evaluate, context)
    assert (verdict.passed, verdict.trust) == (False, "model")
    prompt = "\n".join(message.content for message in model.requests[0].messages)
    assert "go 3" in prompt
    assert "won" not in prompt.lower().split()


def watched(model: ScriptedModel, every: int, steps: int) -> list[str]:
    watch: Watch = ModelWatch.of(model, every)

    async def main() -> list[str]:
        given = effects()
        return [await watch.stuck(TASK, STEPS[:end], given) for end in range(1, steps + 1)]

    return anyio.run(main)


def test_a_watch_asks_after_every_so_many_actions_and_gives_the_reason() -> None:
    model = ScriptedModel([PASS, FAIL])
    first, second, third, fourth = watched(model, 2, 4)
    assert (first, second, third) == ("", "", "")
    assert "step 2 repeats step 1" in fourth
    assert len(model.requests) == 2


def test_a_watch_is_not_asked_again_for_a_thought() -> None:
    model = ScriptedModel([PASS])
    watch = ModelWatch.of(model, 2)

    async def main() -> None:
        given = effects()
        await watch.stuck(TASK, STEPS[:2], given)
        await watch.stuck(TASK, (*STEPS[:2], Step(thought="so")), given)

    anyio.run(main)
    assert len(model.requests) == 1


def test_a_watch_looks_at_least_now_and_then() -> None:
    with pytest.raises(InputError, match="every 1 action or more"):
        ModelWatch.of(ScriptedModel([]), 0)


def test_heuristic_and_model_are_compared_over_the_same_trials() -> None:
    wait = Step(action="wait", observation="Nothing happens.")
    trials = [Trajectory("", STEPS), Trajectory("", (wait,) * 4, "stuck"), Trajectory("", (wait,), "step_limit")]
    judges: list[Evaluator] = [StuckHeuristic(), success_judge(ScriptedModel([FAIL, FAIL, PASS]))]

    async def main() -> list[tuple[bool, ...]]:
        return [
            tuple([(await judge.evaluate(EvaluateContext(TASK, 1, trial, effects()))).passed for judge in judges])
            for trial in trials
        ]

    heuristic, model = zip(*anyio.run(main), strict=True)
    assert Agreement.of(zip(heuristic, model, strict=True)) == Agreement(0, 1, 1, 1)


def test_heuristic_and_model_can_be_swapped() -> None:
    watches: list[Watch] = [StuckHeuristic(), ModelWatch.of(ScriptedModel([]))]
    assert len(watches) == 2
