"""What counts as a judgement, and what does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.evaluators.model_judge import read_judgement


@pytest.mark.parametrize(
    ("reply", "passed"),
    [
        ('{"reason": "all met", "verdict": "pass"}', True),
        ('{"reason": "no source", "verdict": "fail"}', False),
        ('```json\n{"reason": "x", "verdict": "pass"}\n```', True),
        ('<think>it could {"verdict": "fail"}</think>{"reason": "x", "verdict": "pass"}', True),
        ('Here it is:\n{"reason": "x", "verdict": "fail"}', False),
        ('{"reason": "x", "verdict": "PASS."}', True),
        ('{"reason": "x", "verdict": "does NOT pass"}', False),
        ('{"reason": "x", "verdict": "doesn\\u2019t pass"}', False),
        ('{"reason": "x", "verdict": "Failed"}', False),
        ('{"reason": "x", "verdict": "not passed"}', False),
        ('{"reason": "it does not crash and passes all points", "verdict": "pass"}', True),
        ('{"reason": "It has no errors, not one, so it passes.", "verdict": "pass"}', True),
        ('{"reason": "It does not exceed the limit so the attempt passes", "verdict": "pass"}', True),
        ('{"verdict": true}', True),
        ('{"verdict": false}', False),
        ("The attempt does NOT pass.", False),
        ("does not **pass**", False),
        ("FAIL", False),
    ],
)
def test_a_verdict_is_read(reply: str, passed: bool) -> None:
    judgement = read_judgement(reply)
    assert judgement is not None
    assert judgement.passed == passed


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "pass",
        "The attempt passes.",
        "verdict: pass",
        '{"verdict": "maybe"}',
        '{"verdict": "pass or fail"}',
        '{"verdict": 1}',
        '{"verdict": null}',
        '{"verdict": ["pass"]}',
        '{"passed": true}',
        '"pass"',
        '{"reason": "x", "verdict": "pass"',
        '{"verdict": "fail", "verdict": "pass"}',
        '{"verdict": "pass"} {"verdict": "fail"}',
        '{"reason": "so it does NOT pass", "verdict": "pass"}',
        '{"reason": "it does not in any way pass", "verdict": "pass"}',
        "It does not crash and passes.",
        'It does not pass. {"reason": "", "verdict": "pass"}',
        '{"outer": {"verdict": "pass"}}',
        '{"a":' * 5_000,
        "{" * 19_000,
        "x" * 30_000 + '{"verdict": "pass"}',
        '<think>{"verdict": "pass"}',
    ],
    ids=lambda reply: reply[:30],
)
def test_what_says_nothing_reliable_is_no_verdict(reply: str) -> None:
    assert read_judgement(reply) is None


@given(st.text(max_size=300))
def test_no_text_without_the_structure_passes(text: str) -> None:
    judgement = read_judgement(text)
    assert judgement is None or not judgement.passed or '"verdict"' in text


@given(st.text(max_size=100), st.booleans())
def test_what_a_judge_writes_as_asked_is_read(reason: str, passed: bool) -> None:
    judgement = read_judgement(json.dumps({"reason": reason, "verdict": "pass" if passed else "fail"}))
    assert judgement is not None
    assert judgement.passed == passed
