"""Cutting and quoting text that enters a prompt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afterword.core.bounds import bound_steps, cut, fence, quote_untrusted, show_steps
from afterword.core.records import Step


def test_short_text_is_kept() -> None:
    assert cut("abc", 3) == "abc"


def test_cut_leaves_a_visible_mark_with_the_count() -> None:
    assert cut("a" * 2_000 + "b", 766) == "a" * 510 + "[… 1,235 characters cut …]" + "a" * 255 + "b"


def test_cut_text_of_lines_gets_the_mark_on_a_line_of_its_own() -> None:
    assert cut("ab\ncdefghi", 3) == "ab\n[… 7 characters cut …]\ni"


@given(st.text(max_size=300), st.integers(0, 100))
def test_cut_is_bounded(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= max(limit + 40, limit)


@given(st.text())
def test_every_quoted_line_has_its_bar(text: str) -> None:
    assert all(line.startswith("| ") for line in quote_untrusted(text).splitlines())


@given(st.text(alphabet="`a\n", max_size=60))
def test_fence_is_longer_than_any_inside(code: str) -> None:
    lines = fence(code, "python").split("\n")
    mark = lines[-1]
    assert lines[0] == f"{mark}python"
    assert all(mark not in line for line in lines[1:-1])


def test_fenced_code_is_unchanged() -> None:
    assert fence("x = 1\n", "python") == "```python\nx = 1\n```"
    assert fence("x = 1") == "```\nx = 1\n```"


SHORT = Step("I look.", "look", "A room.")


def test_steps_that_fit_are_kept() -> None:
    assert bound_steps([SHORT, SHORT], 100) == ((1, SHORT), (2, SHORT))
    assert bound_steps([], 100) == ()


def test_the_largest_observation_is_cut_first() -> None:
    steps = [Step("t" * 90, "a" * 90, "o" * 90), Step("", "read", "x" * 2_000), Step("", "go", "y" * 300)]
    (_, first), (_, second), (_, third) = bound_steps(steps, 1_000)
    assert first == steps[0]
    assert third == steps[2]
    assert "characters cut …]" in second.observation
    assert len(second.observation) < 500


def test_thoughts_are_cut_when_observations_are_not_enough() -> None:
    (_, only), *rest = bound_steps([Step("t" * 900, "go", "o" * 900)], 400)
    assert not rest
    assert "characters cut …]" in only.thought
    assert only.action == "go"
    assert len(only.observation) < 150


def test_steps_after_the_beginning_go_last_and_leave_a_mark_with_their_numbers() -> None:
    steps = [Step("", f"go to shelf {number}", "Nothing is there.") for number in range(1, 51)]
    shown = bound_steps(steps, 600)
    (place,) = [place for place, (_, step) in enumerate(shown) if not step.action]
    (first, mark), (after, _) = shown[place], shown[place + 1]
    assert shown[0] == (1, steps[0])
    assert shown[-1] == (50, steps[-1])
    assert mark.observation == f"[… steps {first} to {after - 1} cut …]"
    assert len(shown) - place > place > 1


@given(st.lists(st.builds(Step, *[st.text("ab\n", max_size=400)] * 3), max_size=30), st.integers(600, 5_000))
def test_steps_are_bounded_and_keep_their_numbers(steps: list[Step], limit: int) -> None:
    shown = bound_steps(steps, limit)
    assert sum(len(step.thought + step.action + step.observation) for _, step in shown) <= limit + 10
    numbers = [number for number, _ in shown]
    assert numbers == sorted(set(numbers))
    opens = bool(steps) and not (steps[0].thought + steps[0].action).strip()
    assert numbers[-1:] == ([len(steps) - opens] if steps else [])


def test_what_is_said_before_anything_is_done_has_no_number_of_an_action() -> None:
    steps = [Step(observation="A hall."), *(Step(action=f"go {n}", observation="A room.") for n in range(1, 41))]
    assert show_steps(steps[:3], 500) == "| A hall.\nAction 1: go 1\n| A room.\nAction 2: go 2\n| A room."
    shown = bound_steps(steps, 200)
    assert (shown[0], shown[-1]) == ((0, steps[0]), (40, steps[-1]))
    ((first, mark),) = [(number, step) for number, step in shown[1:] if not step.action]
    after = shown[shown.index((first, mark)) + 1][0]
    assert mark.observation == f"[… steps {first} to {after - 1} cut …]"
    assert first == len(shown[: shown.index((first, mark))])


def test_a_trajectory_is_shown_with_its_observations_marked() -> None:
    steps = [Step("I search.", "Search[Ada]", "# Task\nAda was born."), Step(action="Finish[1815]")]
    assert show_steps(steps, 500) == (
        "Thought 1: I search.\nAction 1: Search[Ada]\n| # Task\n| Ada was born.\nAction 2: Finish[1815]"
    )
