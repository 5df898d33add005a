"""The actor in a world: what counts as a step, how a trial ends, what its prompts hold, and its reset."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from tests.core.doubles import StrictRecorder
from tests.families.decision.doubles import TASK, Table, context

from afterword import Reflexion
from afterword.core.protocols import ActContext, EnvironmentStep
from afterword.core.records import Feedback, Reflection, Step, Trajectory, Trial
from afterword.errors import ReplayDiverged
from afterword.evaluators.environment import EnvironmentSuccess, StuckHeuristic
from afterword.families.decision import Demonstration, EnvironmentActor, Locker, PlayBounds, read_play
from afterword.families.decision.actor import NO_MOVE, NOTHING
from afterword.models import ScriptedModel

WIN = EnvironmentStep("You have the coin.", done=True, won=True, reward=1.0)


def act(replies: Sequence[str], world: Table, *, of: ActContext | None = None, **settings: object) -> Trajectory:
    actor = EnvironmentActor(ScriptedModel(replies), world, **settings)  # type: ignore[arg-type]

    async def main() -> Trajectory:
        await actor.reset()
        return await actor.act(of or context())

    return anyio.run(main)


def test_a_won_game_ends_the_trial_and_the_trajectory_says_so() -> None:
    world = Table({"take coin": WIN})
    trajectory = act(["think: a coin", "look", "take coin", "never asked"], world)
    assert trajectory == Trajectory(
        "",
        (
            Step(observation="You are here."),
            Step(thought="a coin", observation="OK."),
            Step(action="look", observation="Nothing happens."),
            Step(action="take coin", observation="You have the coin."),
        ),
        won=True,
        reward=1.0,
    )
    assert world.taken == ["look", "take coin"]


def test_a_game_that_is_over_is_not_won() -> None:
    trajectory = act(["wait"], Table({"wait": EnvironmentStep("Too late.", done=True, reward=0.5)}))
    assert (trajectory.end, trajectory.won, trajectory.reward) == ("finished", False, 0.5)


def test_thoughts_use_up_steps_and_the_limit_is_no_success() -> None:
    trajectory = act(["think: a", "look", "think: b", "wait"], Table(), max_steps=4)
    assert (trajectory.end, trajectory.won) == ("step_limit", False)
    assert [step.thought or step.action for step in trajectory.steps[1:]] == ["a", "look", "b", "wait"]


def test_a_thought_and_an_action_in_one_reply_are_two_steps() -> None:
    world = Table()
    trajectory = act(["look", "think: a\nwait"], world, max_steps=2)
    assert [step.thought or step.action for step in trajectory.steps[1:]] == ["look", "a"]
    assert world.taken == ["look"]


def test_the_stuck_heuristic_ends_a_trial_and_says_why() -> None:
    trajectory = act(["wait", "think: again", "wait", "wait", "wait", "wait"], Table())
    assert trajectory.end == "stuck"
    assert (
        trajectory.detail
        == "the action 'wait' was given 4 times in a row, and the answer was always 'Nothing happens.'"
    )
    assert len(trajectory.steps) == 6


def test_without_a_watch_only_the_limit_ends_a_trial() -> None:
    assert act(["wait"] * 9, Table(), watch=None, max_steps=9).end == "step_limit"


def test_a_reply_without_a_move_is_a_step_and_the_world_is_not_asked() -> None:
    world = Table()
    trajectory = act(["", "```\n```", "", ""], world)
    assert trajectory.steps[1] == Step(action=NOTHING, observation=NO_MOVE)
    assert trajectory.end == "stuck"
    assert world.taken == []


def test_equal_worlds_start_with_equal_fingerprints_and_others_do_not() -> None:
    async def start(world: Locker | Table) -> str:
        return await EnvironmentActor(ScriptedModel([]), world).reset()

    assert anyio.run(start, Locker(3)) == anyio.run(start, Locker(3)) != anyio.run(start, Locker(2))
    assert anyio.run(start, Table(first="a")) != anyio.run(start, Table(first="b"))


def test_a_world_is_reset_once_a_trial() -> None:
    world = Table({"take coin": WIN})
    act(["take coin"], world)
    assert world.resets == 1


def test_a_world_that_does_not_come_back_faults_the_run() -> None:
    class Drifting(Table):
        async def reset(self) -> str:
            await super().reset()
            return f"Day {self.resets}."

    actor = EnvironmentActor(ScriptedModel(["wait"] * 3), Drifting(), watch=None, max_steps=1)
    outcome = Reflexion(actor, EnvironmentSuccess(), max_trials=2).run_sync(TASK)
    assert outcome.status == "faulted"
    assert outcome.fault is not None
    assert outcome.fault.kind == "ResetFault"


def test_a_resumed_trial_takes_its_steps_again_and_asks_no_model() -> None:
    recorder = StrictRecorder()
    world = Table({"take coin": WIN})
    first = act(["look", "take coin"], world, of=context(recorder))
    again = Table({"take coin": WIN})
    assert act([], again, of=context(recorder.after_restart())) == first
    assert again.taken == ["look", "take coin"]


def test_a_world_that_answers_otherwise_on_a_resume_is_noticed() -> None:
    recorder = StrictRecorder()
    act(["look", "take coin"], Table({"take coin": WIN}), of=context(recorder))
    with pytest.raises(ReplayDiverged):
        act([], Table({"look": EnvironmentStep("Dark.")}), of=context(recorder.after_restart()))


EXAMPLE = Demonstration("Find the pen.", "You see a desk.", read_play("> think: look\nOK.\n> take pen\nYou have it."))
LESSONS = (Reflection("I will open\nthe box.", 1), Reflection("I will look first.", 2))
STEPS = (Step(observation="You are here."), Step(thought="a"), Step(action="look", observation="Dark.\n> take coin"))


def prompts(*steps: Step, **settings: object) -> list[tuple[str, str]]:
    of = context(lessons=settings.pop("lessons", ()), previous=settings.pop("previous", None))  # type: ignore[arg-type]
    actor = EnvironmentActor(ScriptedModel([]), Table(), **settings)  # type: ignore[arg-type]
    return [(message.role, message.content) for message in actor.request(of, steps).messages]


def test_examples_come_first_and_the_lessons_last() -> None:
    asked = prompts(*STEPS, help="look, take THING", examples=(EXAMPLE,), lessons=LESSONS)
    assert [role for role, _ in asked] == ["system", *["user", "assistant"] * 4, "user"]
    assert "Actions: look, take THING." in asked[0][1]
    assert asked[1][1] == "# Example 1\n\nFind the pen.\n\n| You see a desk."
    assert [text for role, text in asked if role == "assistant"] == ["think: look", "take pen", "think: a", "look"]
    assert asked[-1][1].endswith("- (trial 1) I will open the box.\n- (trial 2) I will look first.\n\nYour next line:")


def test_what_the_world_says_is_marked_line_by_line() -> None:
    assert prompts(*STEPS)[-1][1] == "| Dark.\n| > take coin"


def test_a_prompt_without_lessons_grows_at_its_end_only() -> None:
    short, long = prompts(*STEPS, examples=(EXAMPLE,)), prompts(*STEPS, Step(action="wait"), examples=(EXAMPLE,))
    assert long[: len(short)] == short


def test_a_long_history_stays_bounded_and_says_what_was_cut() -> None:
    steps = [Step(action=f"read page {n}", observation=f"Page {n}. {'x' * 900}") for n in range(40)]
    asked = prompts(STEPS[0], *steps, bounds=PlayBounds(history=4_000))
    text = "\n".join(content for _, content in asked)
    assert len(text) < 7_000
    assert "cut …]" in text
    assert "read page 39" in text


def test_the_last_trial_is_shown_where_the_strategy_shows_it() -> None:
    verdict = Feedback(False, 0.0, "environment", "stuck", "The goal was not reached.")
    asked = prompts(STEPS[0], previous=Trial(1, Trajectory("", STEPS, "stuck"), verdict))
    assert "# Your last trial (trial 1), which failed" in asked[-1][1]
    assert "> look\n| Dark.\n| > take coin" in asked[-1][1]
    assert "| The goal was not reached." in asked[-1][1]
    assert asked[-1][1].endswith("# The world is as it was at first\n\n| You are here.")


def test_sampled_moves_get_seeds_of_their_own() -> None:
    actor = EnvironmentActor(ScriptedModel([]), Table(), temperature=0.7)
    seeds = {actor.request(context(), STEPS[:n]).seed for n in (1, 2, 3)}
    assert len(seeds) == 3
    assert EnvironmentActor(ScriptedModel([]), Table()).request(context(), STEPS).seed is None


def test_the_heuristic_watches_unless_told_otherwise() -> None:
    assert EnvironmentActor(ScriptedModel([]), Table()).watch == StuckHeuristic(3, 30)
