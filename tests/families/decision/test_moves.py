"""How a reply becomes moves: labels, several moves at once, invented answers, and nothing at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.families.decision.moves import MAX_MOVE_CHARS, Move, read_moves


@pytest.mark.parametrize(
    "reply",
    [
        "go to desk 1",
        "> go to desk 1",
        "Action: go to desk 1",
        "Action 4: go to desk 1",
        "**Action:** go to desk 1",
        "`go to desk 1`",
        '"go to desk 1"',
        "```\ngo to desk 1\n```",
        "\n\n  go to desk 1  \n",
        "go to desk 1\r\n> take pen 1 from desk 1",
        "go to desk 1\n| You arrive at desk 1.\n> take pen 1 from desk 1",
        "<think>The pen may be there.</think>go to desk 1",
        "1. go to desk 1\n2. take pen 1 from desk 1",
        "Here is my next action:\ngo to desk 1",
        "Action:\n\ngo to desk 1",
        "OK.\n> go to desk 1",
    ],
)
def test_the_first_action_counts_however_it_is_wrapped(reply: str) -> None:
    assert read_moves(reply) == (Move("action", "go to desk 1"),)


@pytest.mark.parametrize(
    "reply", ["think: a pen", "> think: a pen", "Thought 2: a pen", "Thought: a pen", "think[a pen]"]
)
def test_a_thought_is_a_thought(reply: str) -> None:
    assert read_moves(reply) == (Move("thought", "a pen"),)


def test_an_action_after_a_thought_is_taken_with_it() -> None:
    assert read_moves("think: a pen\n> go to desk 1\n> look") == (
        Move("thought", "a pen"),
        Move("action", "go to desk 1"),
    )


@pytest.mark.parametrize(
    "reply", ["Thought: a pen Action: go to desk 1", "think: a pen  Action 2: go to desk 1\n> look"]
)
def test_an_action_in_the_line_of_its_thought_is_found(reply: str) -> None:
    assert read_moves(reply) == (Move("thought", "a pen"), Move("action", "go to desk 1"))


def test_what_follows_an_invented_answer_is_cut() -> None:
    assert read_moves("think: a pen\n| OK.\n> go to desk 1") == (Move("thought", "a pen"),)
    assert read_moves("Observation: You are rich.\ngo to desk 1") == ()


@pytest.mark.parametrize("reply", ["", "  \n ", "```\n```", ">", "think:", "| You win."])
def test_a_reply_without_a_move_gives_none(reply: str) -> None:
    assert read_moves(reply) == ()


def test_actions_in_brackets_stay_as_they_are() -> None:
    assert read_moves("search[red shoes, size 9]") == (Move("action", "search[red shoes, size 9]"),)


def test_an_action_that_begins_like_a_label_stays_whole() -> None:
    assert read_moves("think about it") == (Move("action", "think about it"),)
    assert read_moves("next") == (Move("action", "next"),)


@given(st.text(max_size=300))
def test_any_reply_gives_at_most_a_thought_and_an_action(reply: str) -> None:
    moves = read_moves(reply)
    assert [move.kind for move in moves] in ([], ["thought"], ["action"], ["thought", "action"])
    assert all(0 < len(move.text) <= MAX_MOVE_CHARS and "\n" not in move.text for move in moves)


def test_a_line_without_end_is_read_at_once() -> None:
    assert read_moves("*" * 1_000_000) == ()
    (move,) = read_moves("look " * 1_000_000)
    assert len(move.text) == MAX_MOVE_CHARS
