"""Thoughts are taken out of a reply; what only looks like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.thinking import strip_end_of_turn, strip_thinking


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("plain answer", "plain answer"),
        ("<think>hm</think>answer", "answer"),
        ("<THINKING>hm\nhm</THINKING>\nanswer", "\nanswer"),
        ("hm, the template opened it</think>answer", "answer"),
        ("before <think>hm</think> after", "before  after"),
        ("<think>one</think>a<think>two</think>b", "ab"),
        ("[THINK]hm[/THINK]answer", "answer"),
        ("<reasoning>hm</reasoning>answer", "answer"),
        ("<|channel|>analysis<|message|>hm<|channel|>final<|message|>answer", "answer"),
    ],
)
def test_thoughts_are_taken_out(reply: str, answer: str) -> None:
    assert strip_thinking(reply) == answer


@pytest.mark.parametrize("reply", ["<think>cut before the answer beg", "<think>", "<thought>hm <b>bold</b>"])
def test_thoughts_that_were_cut_leave_nothing(reply: str) -> None:
    assert strip_thinking(reply) == ""


@pytest.mark.parametrize(
    "reply",
    [
        'print("<think>")',
        "the tag `<think>` opens a thought",
        '```python\ndef tag():\n    """Gives <think>."""\n    return 1\n```',
        "```\nx = 1  # a <think> block\n```",
    ],
    ids=["string", "inline code", "docstring", "fenced block"],
)
def test_a_tag_inside_a_program_stays(reply: str) -> None:
    assert strip_thinking(reply).strip() != ""
    assert "think>" in strip_thinking(reply)


@pytest.mark.parametrize(
    ("reply", "bare"),
    [
        ("answer<|im_end|>", "answer"),
        ("answer</s>\n", "answer"),
        ("answer<|eot_id|><|endoftext|>", "answer"),
        ("answer\n", "answer\n"),
        ("a </s> b", "a </s> b"),
    ],
)
def test_special_tokens_at_the_end_are_taken_off(reply: str, bare: str) -> None:
    assert strip_end_of_turn(reply) == bare


@given(st.text(alphabet=st.characters(blacklist_characters="<[◁"), max_size=200))
def test_a_reply_without_tags_is_kept(reply: str) -> None:
    assert strip_thinking(reply) == reply


@given(st.lists(st.sampled_from(["<think>", "</think>", "x", "\n", "```", '"', "`", "</s>"]), max_size=12).map("".join))
def test_any_mixture_of_tags_is_read_and_never_grows(reply: str) -> None:
    assert len(strip_thinking(reply)) <= len(reply)
