"""What a reply of a ReAct actor is taken to mean, in all the forms that models write."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.families.qa import Action, read_move

READ = {
    "as asked": ("Thought: I look it up.\nAction: Search[Paris]", "Search[Paris]"),
    "numbered": ("Thought 3: I look it up.\nAction 3: Lookup[river]", "Lookup[river]"),
    "a full stop behind": ("Thought: x.\nAction: Finish[Paris].", "Finish[Paris]"),
    "lower case": ("thought: x\naction: search[Paris]", "Search[Paris]"),
    "two words": ("Action: Look up[river]", "Lookup[river]"),
    "no label": ("I know it now. Finish[Paris]", "Finish[Paris]"),
    "one line": ("Thought: I need it. Action: Search[Paris]", "Search[Paris]"),
    "bold": ("**Thought:** I need it.\n**Action:** `Search[Paris]`", "Search[Paris]"),
    "bullets": ("- Thought: x\n- Action: Search[Paris]", "Search[Paris]"),
    "space before the bracket": ("Action: Search [Paris]", "Search[Paris]"),
    "quoted title": ('Action: Search["Paris"]', "Search[Paris]"),
    "curly quotes": ("Action: Lookup[“river”]", "Lookup[river]"),
    "quotes in an answer stay": ('Action: Finish["Heroes"]', 'Finish["Heroes"]'),
    "nested brackets": ("Action: Search[A [b] c [d [e]]]", "Search[A [b] c [d [e]]]"),
    "too many closing brackets": ("Action: Search[Paris]]", "Search[Paris]"),
    "an unclosed bracket inside": ("Action: Finish[a [b]", "Finish[a [b]"),
    "no closing bracket": ("Action: Finish[Paris\n", "Finish[Paris]"),
    "an argument over two lines": ("Action: Finish[\nParis\n]", "Finish[Paris]"),
    "full width brackets": ("Action\uff1a Search\uff3b東京\uff3d", "Search[東京]"),
    "words before the action": ("Action: I will Search[Paris] now", "Search[Paris]"),
    "an action inside the thought": ("Thought: then Finish[Lyon] or so.\nAction: Search[Paris]", "Search[Paris]"),
    "Windows line ends": ("Thought: x\r\nAction: Search[Paris]\r\n", "Search[Paris]"),
    "a reasoning block": ("<think>Action: Finish[Lyon]</think>\nAction: Search[Paris]", "Search[Paris]"),
}


@pytest.mark.parametrize(("reply", "action"), READ.values(), ids=READ)
def test_an_action_is_read_in_every_form(reply: str, action: str) -> None:
    move = read_move(reply)
    assert str(move.action) == action
    assert not move.problem


def test_of_several_actions_the_first_counts() -> None:
    move = read_move("Action 1: Search[Paris]\nObservation 1: a city\nThought 2: so\nAction 2: Finish[Paris]")
    assert move.action == Action("Search", "Paris")
    assert read_move("Action: Search[A] Finish[B]").action == Action("Search", "A")
    assert read_move("Search[A]\nLookup[B]\nFinish[C]").action == Action("Search", "A")


def test_an_invented_observation_and_all_behind_it_are_cut() -> None:
    move = read_move("Thought: I look.\nObservation: Paris is in France.\nAction: Finish[France]")
    assert move.action is None
    assert "observation" in move.problem
    assert "France" not in move.thought + move.raw


def test_an_action_cut_by_an_invented_observation_is_whole() -> None:
    assert read_move("Action: Search[Paris]\nObservation: a ci", cut=True).action == Action("Search", "Paris")


INVALID = {
    "nothing": ("", "empty"),
    "space": (" \n ", "empty"),
    "a thought alone": ("Thought: I wonder.", "no action"),
    "another action": ("Action: Compare[A and B]", "no action Compare"),
    "no brackets": ("Action: Search Paris", "no brackets"),
    "round brackets": ("Action: Search(Paris)", "no brackets"),
    "an empty argument": ("Action: Search[]", "Search[] is empty"),
    "an argument of space": ("Action: Lookup[  ]", "Lookup[] is empty"),
    "an argument that cannot be seen": ("Action: Search[\u200b\x00]", "Search[] is empty"),
    "an answer of a full stop": ("Action: Finish[.]", "Finish[] is empty"),
    "a label alone": ("Thought: x\nAction:", "no action"),
}


@pytest.mark.parametrize(("reply", "problem"), INVALID.values(), ids=INVALID)
def test_what_cannot_be_read_is_told_with_the_forms_that_can(reply: str, problem: str) -> None:
    move = read_move(reply)
    assert move.action is None
    assert problem in move.problem
    assert "Finish[answer]" in move.problem


def test_a_reply_that_was_cut_inside_its_argument_is_no_action() -> None:
    move = read_move("Thought: x\nAction: Finish[Gesellschaft mit be", cut=True)
    assert move.action is None
    assert "cut" in move.problem


def test_the_thought_is_one_line_without_its_label() -> None:
    move = read_move("Thought 2: I know\n  the city.\nAction 2: Finish[Paris]")
    assert move.thought == "I know the city."


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        ("Thought: I know it Action: Finish[Paris]", "I know it"),
        ("```\nThought: I know it\nAction: Finish[Paris]\n```", "I know it"),
        ("Act: Finish[Paris]", ""),
        ("1. Finish[Paris]\n2. Search[Paris]", ""),
        ("Thought: there are 3. Finish[3]", "there are 3."),
    ],
)
def test_a_label_a_fence_or_a_number_is_no_part_of_the_thought(reply: str, thought: str) -> None:
    move = read_move(reply)
    assert move.action is not None
    assert move.thought == thought


@given(st.text(alphabet="Action: Sech[]\n`*'\"Thougt1.Fi", max_size=80), st.booleans())
def test_nothing_makes_the_reading_fail(reply: str, cut: bool) -> None:
    move = read_move(reply, cut=cut)
    assert (move.action is None) == bool(move.problem)


@pytest.mark.parametrize("unit", ["[", "Action: ", "Search[", "Observation", "\n", "a[", "thought:\n"])
def test_a_huge_reply_is_read_in_linear_time(unit: str) -> None:
    def seconds(times: int) -> float:
        started = time.process_time()
        read_move(unit * times)
        return time.process_time() - started

    seconds(1_000)
    assert seconds(20_000) < 2.0


def test_an_argument_of_quotes_without_end_is_read_at_once() -> None:
    move = read_move("Action: Search[" + "'" * 1_000_000 + "]")
    assert move.action is None
    assert move.problem.startswith("Search[] is empty.")
