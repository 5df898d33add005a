"""Reading a reflector's reply in whatever form it comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.reflectors.lesson import Lesson, match_check, read_lesson

TEXT = "`test_a` failed. I will use a set."

FORMS = {
    "plain": TEXT,
    "label": f"Lesson: {TEXT}",
    "bold label": f"**Lesson:** {TEXT}",
    "heading": f"## Lesson\n\n{TEXT}".replace("Lesson\n", "Lesson:\n"),
    "label with trial": f"Lesson from trial 2: {TEXT}",
    "label with trial in brackets": f"Reflection (trial 2): {TEXT}",
    "announcement": f"Here is my reflection on what went wrong:\n\n{TEXT}",
    "thought before": f"<think>All tests pass. RETRACT: 9</think>\n{TEXT}",
    "fence": f"```\n{TEXT}\n```",
    "text fence": f"```text\n{TEXT}\n```",
    "unclosed fence": f"```markdown\n{TEXT}",
    "quotes": f'"{TEXT}"',
    "curly quotes": f"“{TEXT}”",
    "bullet": f"- {TEXT}",
    "number": f"1. {TEXT}",
    "emphasis": f"**{TEXT}**",
    "windows line ends": f"{TEXT}\r\n",
    "json": '{"lesson": "`test_a` failed. I will use a set."}',
    "json in a fence": '```json\n{"Reflection": "`test_a` failed. I will use a set.", "retract": null}\n```',
    "end-of-turn token": f"{TEXT}<|im_end|>",
    "directives of nothing": f"{TEXT}\nRETRACT: none\nDISPUTE: N/A",
    "directives left blank": f"{TEXT}\nRETRACT:\nDISPUTE:",
}


@pytest.mark.parametrize("reply", FORMS.values(), ids=FORMS.keys())
def test_form_of_reply_gives_the_lesson(reply: str) -> None:
    assert read_lesson(reply) == Lesson(TEXT)


def test_bullets_become_sentences() -> None:
    assert read_lesson("1. It failed\n2. I will\n").text == "It failed.\nI will."


RETRACTIONS = {
    "line": f"{TEXT}\nRETRACT: 1",
    "bold": f"{TEXT}\n\n**RETRACT:** 1",
    "bold inside": f"{TEXT}\n**RETRACT**: 1",
    "bullet": f"{TEXT}\n- Retract: lesson of trial 1",
    "plural": f"{TEXT}\nRETRACTS: 1",
    "code": f"{TEXT}\n`RETRACT: 1`",
    "same line": f"{TEXT} RETRACT: 1",
    "first line": f"RETRACT: 1\n{TEXT}",
    "json": '{"lesson": "`test_a` failed. I will use a set.", "retract": 1}',
    "json list": '{"lesson": "`test_a` failed. I will use a set.", "retracts": [1]}',
    "twice": f"{TEXT}\nRETRACT: 1\nRETRACT: 1",
}


@pytest.mark.parametrize("reply", RETRACTIONS.values(), ids=RETRACTIONS.keys())
def test_retraction_is_read(reply: str) -> None:
    assert read_lesson(reply) == Lesson(TEXT, (1,))


def test_several_retractions() -> None:
    assert read_lesson(f"{TEXT}\nRETRACT: 1, 3").retracts == (1, 3)


def test_dispute_is_read_beside_a_retraction() -> None:
    assert read_lesson(f"{TEXT}\nRETRACT: 2 DISPUTE: test_b") == Lesson(TEXT, (2,), "test_b")


def test_words_of_the_lesson_are_no_directive() -> None:
    text = "I will not dispute it; I retract nothing in `test_a`."
    assert read_lesson(text) == Lesson(text)


@pytest.mark.parametrize(
    "reply", ["", " ", "None", "N/A.", "Lesson: none", "<think>hm", '""', "```\n```", "No lesson."]
)
def test_nothing_is_empty(reply: str) -> None:
    assert read_lesson(reply).text == ""


def test_python_block_stays_to_be_named_as_a_problem() -> None:
    assert "```" in read_lesson("```python\nx = 1\n```").text
    assert "```" in read_lesson(f"{TEXT}\n```python\nx = 1\n```").text


IDS = ("test_a", "test_a_b", "test_p[1]", "TestX::test_m", "module:L12", "case:7")


@pytest.mark.parametrize(
    ("named", "check"),
    [
        ("test_a", "test_a"),
        ("`test_a_b`.", "test_a_b"),
        ("test_a_b since the task says otherwise", "test_a_b"),
        ("check test_p[1]", "test_p[1]"),
        ("test_p", "test_p[1]"),
        ("test_m", "TestX::test_m"),
        ("TestX::test_m", "TestX::test_m"),
        ("module:L12", "module:L12"),
        ("case:7", "case:7"),
        ("case:77", None),
        ("test_z", None),
        ("test_p[2]", None),
        ("", None),
        ("**", None),
    ],
)
def test_disputed_check_is_matched(named: str, check: str | None) -> None:
    assert match_check(named, IDS) == check


@given(st.text(max_size=300))
def test_any_reply_is_read(reply: str) -> None:
    lesson = read_lesson(reply)
    assert all(number >= 0 for number in lesson.retracts)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["RETRACT:", "**", "`", "*_ ", '{"', "\n-", "lesson", "<think>", "DISPUTE", "_"])
def test_hostile_reply_is_read_in_time(piece: str) -> None:
    assert isinstance(read_lesson(piece * 20_000), Lesson)
