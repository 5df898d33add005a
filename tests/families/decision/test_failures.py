"""Why failed trials failed, from small trajectories in both command languages."""

from __future__ import annotations

import pytest

from afterword.core.records import Feedback, Step, Trajectory, Trial
from afterword.families.decision import FailureClass, FailureRule, classify, count_failures, read_play

START = Step(observation="You are in the middle of a room. You see a desk 1, a fridge 1, and a shelf 1.")
NOTHING = "Nothing happens."
MUG = "On the desk 1, you see a mug 1."


def trajectory(play: str, *, won: bool = False) -> Trajectory:
    return Trajectory("", (START, *read_play(play)), "finished", won=won)


def test_a_won_trial_has_no_failure_class() -> None:
    assert classify(trajectory("> look\nYou see a desk 1.", won=True)) is None


@pytest.mark.parametrize("put", ["move mug 1 to desk 1", "put mug 1 in/on desk 1", "clean mug 1 with sinkbasin 1"])
def test_using_what_it_never_took_is_hallucinated_possession(put: str) -> None:
    play = (
        f"> go to desk 1\nOn the desk 1, you see a mug 1.\n> {put}\n{NOTHING}\n> look\nYou see it.\n> {put}\n{NOTHING}"
    )
    assert classify(trajectory(play)) is FailureClass.POSSESSION


def test_taking_what_is_not_there_is_hallucinated_location() -> None:
    take = f"> take mug 1 from shelf 1\n{NOTHING}\n"
    assert (
        classify(trajectory(f"> go to shelf 1\nOn the shelf 1, you see nothing.\n{take}{take}"))
        is FailureClass.LOCATION
    )


def test_going_where_there_is_no_such_place_is_hallucinated_location() -> None:
    assert classify(trajectory(f"> go to sofa 1\n{NOTHING}\n> go to sofa 2\n{NOTHING}")) is FailureClass.LOCATION


def test_putting_what_it_holds_elsewhere_is_about_the_location() -> None:
    play = (
        f"> go to desk 1\n{MUG}\n> take mug 1 from desk 1\nYou pick up the mug 1 from the desk 1."
        f"\n> move mug 1 to fridge 1\n{NOTHING}\n> move mug 1 to shelf 1\n{NOTHING}"
    )
    assert classify(trajectory(play)) is FailureClass.LOCATION


def test_a_thing_that_was_put_down_is_no_longer_held() -> None:
    play = (
        f"> go to desk 1\n{MUG}\n> take mug 1 from desk 1\nYou pick up the mug 1 from the desk 1."
        "\n> move mug 1 to desk 1\nYou move the mug 1 to the desk 1."
        f"\n> heat mug 1 with microwave 1\n{NOTHING}\n> heat mug 1 with microwave 1\n{NOTHING}"
    )
    assert classify(trajectory(play)) is FailureClass.POSSESSION


def test_one_slip_is_no_hallucinated_trial_unless_the_rule_says_so() -> None:
    play = f"> move mug 1 to desk 1\n{NOTHING}"
    assert classify(trajectory(play)) is FailureClass.OTHER
    assert classify(trajectory(play), FailureRule(hallucinated=1)) is FailureClass.POSSESSION


def test_a_refused_form_is_no_hallucination() -> None:
    assert classify(trajectory(f"> grab the mug\n{NOTHING}\n> dance\n{NOTHING}")) is FailureClass.OTHER


def test_acting_too_long_is_inefficient_planning() -> None:
    play = "".join(f"> go to shelf {n}\nOn the shelf {n}, you see nothing.\n" for n in range(31))
    assert classify(trajectory(play)) is FailureClass.PLANNING


def test_going_in_circles_is_inefficient_planning() -> None:
    assert classify(trajectory("> look\nYou see a desk 1.\n" * 4)) is FailureClass.PLANNING


def test_coming_to_the_step_limit_is_inefficient_planning() -> None:
    assert classify(Trajectory("", (START, Step(action="look")), "step_limit")) is FailureClass.PLANNING


def test_trials_are_counted_by_class() -> None:
    verdict = Feedback(False, 0.0, "environment")
    plays = (f"> go to sofa 1\n{NOTHING}\n" * 2, "> look\nA desk 1.", "> look\nA desk 1.")
    trials = [Trial(n, trajectory(play), verdict) for n, play in enumerate(plays, start=1)]
    trials.append(Trial(4, trajectory("> look\nA desk 1.", won=True), verdict))
    counts = count_failures(trials)
    assert counts == {
        FailureClass.POSSESSION: 0,
        FailureClass.LOCATION: 1,
        FailureClass.PLANNING: 0,
        FailureClass.OTHER: 2,
    }


def test_what_lies_in_an_opened_place_is_known() -> None:
    play = (
        "> go to fridge 1\nThe fridge 1 is closed.\n> open fridge 1\n"
        "You open the fridge 1. The fridge 1 is open. In it, you see a egg 1.\n"
        f"> take egg 1 from fridge 1\n{NOTHING}\n> take egg 1 from fridge 1\n{NOTHING}"
    )
    assert classify(trajectory(play)) is FailureClass.OTHER
    assert classify(trajectory(play.replace("take egg 1", "take egg 2"))) is FailureClass.LOCATION
