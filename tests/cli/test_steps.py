"""How the steps of a trial are shown: in full where they are short, with marks where they are not."""

from __future__ import annotations

from afterword.cli.steps import MAX_LINES, MAX_STEPS, step_lines
from afterword.core.records import Step


def test_a_step_shows_its_thought_action_and_observation() -> None:
    steps = [Step(observation="You are here."), Step("Look first.", "look", "A box.\n\nA lamp.")]
    assert list(step_lines(steps)) == [
        ("observation", "  1   You are here."),
        ("thought", "  2 think: Look first."),
        ("action", "    > look"),
        ("observation", "      A box."),
        ("observation", "      A lamp."),
    ]


def test_a_long_trial_shows_its_beginning_and_its_end() -> None:
    shown = [line for _, line in step_lines([Step(action=f"go {number}") for number in range(1, 501)])]
    assert len(shown) == MAX_STEPS + 1
    assert shown[MAX_STEPS // 3] == f"… {500 - MAX_STEPS} more steps; afterword export has all"
    assert shown[-1] == "500 > go 500"


def test_hostile_steps_stay_small_and_plain() -> None:
    hostile = "\x1b[2J\N{RIGHT-TO-LEFT OVERRIDE}\0\ud800" + "x\n" * 1_000_000
    shown = [line for _, line in step_lines([Step(hostile, hostile, hostile)] * 1_000)]
    assert len(shown) <= MAX_STEPS * (MAX_LINES + 3) + 1
    assert max(map(len, shown)) < 700
    assert not any(char in line for line in shown for char in "\x1b\0\n\ud800\N{RIGHT-TO-LEFT OVERRIDE}")
