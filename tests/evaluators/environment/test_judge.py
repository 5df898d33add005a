"""A model in the place of the world or of the heuristic."""

from __future__ import annotations

import anyio
import pytest

from afterword.core.protocols import EvaluateContext
from afterword.core.records import Feedback, Step, Trajectory
from afterword.errors import InputError
from afterword.evaluators.environment import ModelWatch, StuckHeuristic, Watch, compare, success_judge
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


def verdict(passed: bool) -> Feedback:
    return Feedback(passed, float(passed), "model")


def test_two_judges_are_compared_pair_by_pair() -> None:
    pairs = [(True, True)] * 3 + [(True, False)] + [(False, True)] + [(False, False)] * 5
    counted = compare((verdict(one), verdict(other)) for one, other in pairs)
    assert (counted.both, counted.first_only, counted.second_only, counted.neither) == (3, 1, 1, 5)
    assert counted.agreement == 0.8
    assert counted.kappa == pytest.approx((0.8 - 0.52) / 0.48)


def test_agreement_that_chance_alone_would_give_has_no_kappa() -> None:
    assert compare([(verdict(True), verdict(True))]).kappa is None
    assert compare([]).agreement is None


def test_heuristic_and_model_can_be_swapped() -> None:
    watches: list[Watch] = [StuckHeuristic(), ModelWatch.of(ScriptedModel([]))]
    assert len(watches) == 2
