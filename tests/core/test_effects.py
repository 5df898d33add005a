"""The way out of the loop: keys, replay, clock, randomness, usage."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import anyio
import pytest

from afterword import (
    Allowance,
    BudgetExhausted,
    EnvironmentStep,
    FakeClock,
    Feedback,
    Price,
    Strategy,
    Task,
    Trajectory,
    Usage,
    fingerprint,
)
from afterword.core.effects import Metered
from afterword.core.events import ModelCalled
from afterword.core.protocols import EffectKey
from afterword.errors import ModelUnreachable, RecordingMismatch, ReplayDiverged, UnknownPrice
from tests.core.doubles import Heard, ListModel, StrictRecorder, ask, make_effects

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    return anyio.run(main)


async def seven() -> int:
    return 7


def test_keys_count_from_zero_for_each_role_and_trial() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        effects = make_effects(recorder=recorder, seed=3)
        for trial in (1, 2):
            effects.begin_trial(trial)
            for role in ("actor", "reflector", "actor"):
                await effects.effect(role, "?", seven, int)
        assert recorder.called == [
            EffectKey("t", "reflexion", 3, trial, role, n)
            for trial in (1, 2)
            for role, n in (("actor", 0), ("reflector", 0), ("actor", 1))
        ]

    run(main)


def test_going_back_to_a_trial_gives_no_key_twice() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        effects = make_effects(recorder=recorder)
        for trial in (1, 2, 1):
            effects.begin_trial(trial)
            await effects.elapsed_s()
        assert len(set(recorder.called)) == 3

    run(main)


def test_a_stored_result_is_returned_without_the_call() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        await make_effects(recorder=recorder).effect("actor", "2 + 5", seven, int)

        async def never() -> int:
            pytest.fail("the call was made")

        assert await make_effects(recorder=recorder).effect("actor", "2 + 5", never, int) == 7

    run(main)


def test_another_request_at_the_same_place_is_refused() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        await make_effects(recorder=recorder).effect("actor", "2 + 5", seven, int)
        with pytest.raises(RecordingMismatch):
            await make_effects(recorder=recorder).effect("actor", "3 + 4", seven, int)

    run(main)


def test_what_the_call_raises_is_passed_on_and_not_stored() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        model = ListModel([ModelUnreachable("refused", model="m"), "hello"])
        with pytest.raises(ModelUnreachable):
            await make_effects(recorder=recorder).complete("actor", model, ask())
        assert recorder.stored == {}
        assert (await make_effects(recorder=recorder).complete("actor", model, ask())).text == "hello"

    run(main)


def test_a_model_call_is_charged_to_its_role_and_told() -> None:
    async def main() -> None:
        heard = Heard()
        effects = make_effects(heard=heard)
        model = ListModel(["one two", "three"], price=Price(1e6, 1e6))
        effects.begin_trial(1)
        await effects.complete("actor", model, ask("a b c"))
        effects.begin_trial(2)
        await effects.complete("reflector", model, ask("a"))
        assert effects.usage == {"reflector": Usage(1, 1, 1, cost_usd=2.0)}
        assert effects.total_usage == {"actor": Usage(1, 3, 2, cost_usd=5.0), "reflector": Usage(1, 1, 1, cost_usd=2.0)}
        assert effects.budget.spent == Usage(2, 4, 3, cost_usd=7.0)
        called = [event for event in heard if isinstance(event, ModelCalled)]
        assert [(event.trial, event.role, event.spent.calls) for event in called] == [
            (1, "actor", 1),
            (2, "reflector", 2),
        ]

    run(main)


def test_a_replayed_call_is_charged_like_the_first_one() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        first = make_effects(recorder=recorder)
        await first.complete("actor", ListModel(["one two"]), ask())
        again = make_effects(recorder=recorder.after_restart())
        await again.complete("actor", ListModel([]), ask())
        assert again.total_usage == first.total_usage
        assert again.budget.spent == first.budget.spent

    run(main)


def test_a_refused_call_never_reaches_the_model() -> None:
    async def main() -> None:
        model = ListModel(["hello"])
        with pytest.raises(BudgetExhausted):
            await make_effects(allowance=Allowance(tokens=15)).complete("actor", model, ask(max_tokens=10))
        assert model.requests == []

    run(main)


def test_a_cost_limit_for_a_model_without_a_price_is_bad_input() -> None:
    async def main() -> None:
        model = ListModel(["hello"], price=None)
        with pytest.raises(UnknownPrice, match="test:list"):
            await make_effects(allowance=Allowance(cost_usd=1.0)).complete("actor", model, ask())
        assert model.requests == []

    run(main)


def test_a_call_after_the_time_is_refused() -> None:
    async def main() -> None:
        clock = FakeClock(100.0)
        effects = make_effects(allowance=Allowance(seconds=5.0), clock=clock)
        model = ListModel(["in time", "late"])
        await effects.elapsed_s()
        clock.now = 104.9
        await effects.complete("actor", model, ask())
        clock.now = 105.0
        with pytest.raises(BudgetExhausted) as refused:
            await effects.complete("actor", model, ask())
        assert (refused.value.limit, refused.value.needed) == ("time", 5.0)
        assert len(model.requests) == 1

    run(main)


def test_time_counts_from_the_first_reading() -> None:
    async def main() -> None:
        clock = FakeClock(1000.0)
        effects = make_effects(clock=clock)
        seen = [await effects.elapsed_s()]
        for now in (1001.5, 1004.0):
            clock.now = now
            seen.append(await effects.elapsed_s())
        assert seen == [0.0, 1.5, 4.0]

    run(main)


def test_time_goes_on_after_a_restart_with_another_clock() -> None:
    async def main() -> None:
        recorder, clock = StrictRecorder(), FakeClock(1000.0)
        effects = make_effects(recorder=recorder, clock=clock)
        await effects.elapsed_s()
        clock.now = 1008.0
        await effects.elapsed_s()

        clock = FakeClock(3.0)
        effects = make_effects(recorder=recorder.after_restart(), clock=clock)
        assert [await effects.elapsed_s(), await effects.elapsed_s()] == [0.0, 8.0]
        clock.now = 4.5
        assert await effects.elapsed_s() == 9.5

    run(main)


def test_readings_at_the_same_time_count_no_second_twice() -> None:
    async def main() -> None:
        clock = FakeClock(0.0)
        effects = make_effects(clock=clock)
        await effects.elapsed_s()
        clock.now = 2.0
        seen: list[float] = []

        async def read() -> None:
            seen.append(await effects.elapsed_s())

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(read)
        assert seen == [2.0, 2.0, 2.0]

    run(main)


def test_randomness_depends_on_the_place_only() -> None:
    def draw(role: str = "actor", trial: int = 1, seed: int = 0, task: str = "t") -> float:
        effects = make_effects(seed=seed, task=task)
        effects.begin_trial(trial)
        return effects.random(role).random()

    assert draw() == draw()
    others = [draw(role="judge"), draw(trial=2), draw(seed=1), draw(task="u")]
    assert len({draw(), *others}) == 5


def test_metered_effects_stand_below_their_role() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        effects = make_effects(recorder=recorder)
        effects.begin_trial(1)

        async def inside() -> int:
            await effects.elapsed_s()
            return await effects.effect("actor", "", seven, int)

        await effects.metered("actor", "", inside, Metered[int])
        await effects.elapsed_s()
        assert [(key.role, key.n) for key in recorder.called] == [
            ("actor", 0),
            ("actor/clock", 0),
            ("actor/actor", 0),
            ("clock", 0),
        ]

    run(main)


def test_a_stored_metered_result_brings_back_its_usage() -> None:
    async def main() -> None:
        recorder = StrictRecorder()
        model = ListModel(["a b", "c"])

        def asks(effects_number: int) -> Callable[[], Awaitable[None]]:
            effects = both[effects_number]

            async def inside() -> str:
                return (await effects.complete("judge", model, ask())).text

            async def whole() -> None:
                effects.begin_trial(1)
                await effects.complete("actor", model, ask())
                assert await effects.metered("actor", "", inside, Metered[str]) == "c"

            return whole

        both = [make_effects(recorder=recorder), make_effects(recorder=recorder)]
        for number in (0, 1):
            await asks(number)()
        first, again = both
        assert set(first.usage) == {"actor", "judge"}
        assert again.usage == first.usage
        assert again.total_usage == first.total_usage
        assert again.budget.spent == first.budget.spent
        assert len(model.requests) == 2

    run(main)


def test_usage_inside_a_metered_call_that_fails_is_kept() -> None:
    async def main() -> None:
        effects = make_effects()

        async def inside() -> str:
            await effects.complete("judge", ListModel(["a"]), ask())
            raise OSError("gone")

        with pytest.raises(OSError, match="gone"):
            await effects.metered("actor", "", inside, Metered[str])
        assert effects.usage["judge"].calls == 1
        assert effects.total_usage["judge"].calls == 1

    run(main)


def test_equal_values_have_equal_fingerprints() -> None:
    assert fingerprint({"b": 1, "a": (1, 2)}) == fingerprint({"a": [1, 2], "b": 1})
    assert fingerprint({3, 1, 2}) == fingerprint(frozenset({2, 3, 1}))
    assert fingerprint(Task("t", "x", MappingProxyType({"a": 1}))) == fingerprint(Task("t", "x", {"a": 1}))
    assert fingerprint(Strategy.RETRY) == fingerprint("retry")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        ("", None),
        (Task("t", "x"), Task("t", "y")),
        (Trajectory("x"), Trajectory("x", end="stuck")),
        (Feedback(False, 0.5, "exact"), Feedback(False, 0.25, "exact")),
        (("ab", "c"), ("a", "bc")),
    ],
)
def test_different_values_have_different_fingerprints(one: object, other: object) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_a_fingerprint_of_an_object_is_refused() -> None:
    with pytest.raises(TypeError, match="plain data and records, found FakeClock"):
        fingerprint(FakeClock())


def test_fingerprints_are_the_same_in_every_process() -> None:
    program = (
        "from afterword import Task, fingerprint; print(fingerprint(Task('t', 'é', {'a': {'x', 'y', 'z'}})), end='')"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    ]
    assert found == [fingerprint(Task("t", "é", {"a": {"x", "y", "z"}}))] * 2


@dataclass
class Counting:
    """A world that answers with how often it was asked; `drift` makes it answer otherwise."""

    drift: str = ""
    steps: int = 0

    async def reset(self) -> str:
        self.steps = 0
        return "start"

    async def step(self, action: str) -> EnvironmentStep:
        self.steps += 1
        return EnvironmentStep(f"{action} {self.steps}{self.drift}")

    async def fingerprint(self) -> str:
        return str(self.steps)

    async def close(self) -> None:
        pass


def test_a_replay_takes_the_steps_of_a_world_again() -> None:
    recorder = StrictRecorder()
    for world, played in ((Counting(), recorder), (Counting(), recorder.after_restart())):

        async def play(world: Counting = world, played: StrictRecorder = played) -> list[str]:
            effects = make_effects(recorder=played)
            effects.begin_trial(1)
            return [await effects.reset(world), (await effects.step(world, "go")).observation]

        assert anyio.run(play) == ["start", "go 1"]
        assert world.steps == 1


def test_a_world_that_answers_a_recorded_action_otherwise_is_noticed() -> None:
    recorder = StrictRecorder()

    async def play(world: Counting, played: StrictRecorder) -> None:
        effects = make_effects(recorder=played)
        effects.begin_trial(2)
        await effects.reset(world)
        await effects.step(world, "go")

    anyio.run(play, Counting(), recorder)
    with pytest.raises(ReplayDiverged, match=r"answered 'go' with .*drifted") as caught:
        anyio.run(play, Counting(drift=" drifted"), recorder.after_restart())
    assert caught.value.trial == 2
