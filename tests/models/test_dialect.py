"""What is asked, and how it is asked again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from afterword.models.dialect import Dialect, is_closed
from tests.models.doubles import ASK


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
        "'temperature' does not support 0.2 with this model",
        "messages: first message must be from the user",
        "",
    ],
)
def test_what_other_words_cannot_help_is_not_asked_again(said: str) -> None:
    request = replace(ASK, temperature=0.2, stop=("x",), schema={"type": "object"})
    assert Dialect().after_refusal(said, request) is None


def test_each_refusal_changes_one_thing_and_there_is_an_end() -> None:
    request = replace(ASK, stop=("x",), schema={"type": "object"})
    dialect: Dialect | None = Dialect()
    steps = 0
    while dialect is not None:
        steps += 1
        dialect = dialect.after_refusal("not supported: max_tokens max_completion_tokens 'stop' json_schema", request)
    assert steps == 4


CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "closed"),
    [
        (CLOSED, True),
        ({**CLOSED, "additionalProperties": True}, False),
        ({**CLOSED, "required": []}, False),
        ({"type": "object"}, False),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"anyOf": [CLOSED, {"type": "null"}]}, True),
        ({"type": "string"}, True),
    ],
)
def test_only_a_closed_schema_is_enforced_strictly(schema: dict[str, object], closed: bool) -> None:
    assert is_closed(schema) is closed
    form = Dialect().fields(replace(ASK, schema=schema))["response_format"]
    assert isinstance(form, dict)
    assert form["json_schema"]["strict"] is closed
