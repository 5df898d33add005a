"""Structured output against a JSON Schema and a pydantic model: right values, each wrong one, hostile ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from afterword.core.records import Feedback
from afterword.errors import InputError
from afterword.evaluators.schema import JsonBounds, JsonSchema, PydanticSchema
from afterword.evaluators.schema.reading import Unreadable, path_of, read_json
from tests.evaluators.contexts import context_of

pytestmark = pytest.mark.anyio

ORDER: dict[str, object] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "items": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
    },
    "required": ["id", "items"],
    "additionalProperties": False,
}


class Line(BaseModel):
    name: str


class Order(BaseModel):
    id: Annotated[int, Field(ge=1)]
    items: Annotated[list[Line], Field(min_length=1)]

    @field_validator("items")
    @classmethod
    def no_bribes(cls, lines: list[Line]) -> list[Line]:
        if any(line.name == "crash" for line in lines):
            raise RuntimeError("a bug in the user's validator")
        return lines


async def judged(output: str, evaluator: JsonSchema | PydanticSchema) -> Feedback:
    return await evaluator.evaluate(context_of(output))


EVALUATORS = (JsonSchema(ORDER), PydanticSchema(Order))


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=["json_schema", "pydantic"])
class TestBoth:
    async def test_a_valid_value_passes_every_check(self, evaluator: JsonSchema | PydanticSchema) -> None:
        feedback = await judged('{"id": 7, "items": [{"name": "tea"}]}', evaluator)
        assert (feedback.passed, feedback.score, feedback.trust) == (True, 1.0, "exact")
        assert [(check.id, check.passed) for check in feedback.checks] == [("json", True), ("$", True)]

    async def test_each_violated_path_is_a_check_of_its_own(self, evaluator: JsonSchema | PydanticSchema) -> None:
        feedback = await judged('{"id": 0, "items": [{"name": "tea"}, {"name": 3}, {}]}', evaluator)
        assert set(feedback.failed_ids) == {"$.id", "$.items[1].name", "$.items[2].name"}
        assert feedback.score == 1 / 4
        assert all(check.message for check in feedback.checks if not check.passed)
        assert all(path in feedback.message for path in feedback.failed_ids)

    async def test_the_score_rises_as_violations_go(self, evaluator: JsonSchema | PydanticSchema) -> None:
        outputs = ("no json", "{}", '{"id": 1}', '{"id": 1, "items": [{"name": "tea"}]}')
        scores = [(await judged(output, evaluator)).score for output in outputs]
        assert scores == sorted(set(scores))
        assert (scores[0], scores[-1]) == (0.0, 1.0)

    @pytest.mark.parametrize(
        ("output", "said"),
        [
            ("", "empty"),
            ('{"id": NaN, "items": []}', "NaN is not JSON"),
            ('{"id": -Infinity}', "-Infinity is not JSON"),
            ('{"id": 1e999}', "too large"),
            ('{"id": 1, "id": 2}', "'id' stands twice"),
            ('{"id": ' + "9" * 5_000 + "}", "5,000 digits"),
            ("[" * 100_000, "nested more than 64"),
            ('{"a":' * 30_000, "nested more than 64"),
            ('"' + "x" * 200_000 + '"', "at most 200,000"),
            (r'"\ud800"', "surrogate"),
            ('"\ud800"', "surrogate"),
            ('```json\n{"id": 1}\n```', "without a fence"),
            ('{"id": 1} and some prose', "Extra data"),
            ("\0", "line 1, column 1"),
        ],
        ids=lambda value: value[:12] if isinstance(value, str) else None,
    )
    async def test_what_is_no_plain_json_fails_and_says_why(
        self, evaluator: JsonSchema | PydanticSchema, output: str, said: str
    ) -> None:
        feedback = await judged(output, evaluator)
        assert (feedback.passed, feedback.score, feedback.reason) == (False, 0.0, "not_json")
        assert feedback.failed_ids == ("json",)
        assert said in feedback.message
        assert len(feedback.message) < 400

    async def test_brackets_inside_strings_are_no_depth(self, evaluator: JsonSchema | PydanticSchema) -> None:
        name = "[{" * 200 + r"\""
        assert (await judged(f'{{"id": 1, "items": [{{"name": "{name}"}}]}}', evaluator)).passed

    async def test_thousands_of_violations_are_told_up_to_a_bound(self, evaluator: JsonSchema | PydanticSchema) -> None:
        feedback = await judged(json.dumps({"id": 1, "items": [{}] * 5_000}), evaluator)
        assert len(feedback.failed_ids) == JsonBounds().violations
        assert "more than these 20" in feedback.message
        assert len(feedback.message) < 8_000

    async def test_hostile_keys_and_values_stay_short_and_printable(
        self, evaluator: JsonSchema | PydanticSchema
    ) -> None:
        value = {"id": "\x1b[2J" * 5_000, "items": [{"name": ["\u202e" * 5_000]}], "k\n" * 900: 1}
        feedback = await judged(json.dumps(value), evaluator)
        assert not feedback.passed
        assert len(feedback.message) < 3_000


def test_a_fingerprint_changes_with_what_decides() -> None:
    assert JsonSchema(ORDER).fingerprint == JsonSchema(dict(ORDER)).fingerprint
    assert JsonSchema(ORDER).fingerprint != JsonSchema({**ORDER, "required": []}).fingerprint
    assert PydanticSchema(Order).fingerprint == PydanticSchema(Order).fingerprint
    assert PydanticSchema(Order).fingerprint != PydanticSchema(Line).fingerprint


async def test_unknown_keys_are_told_where_the_schema_forbids_them() -> None:
    feedback = await judged('{"id": 1, "items": [{"name": "a"}], "tip": 3}', JsonSchema(ORDER))
    assert feedback.failed_ids == ("$",)
    assert "'tip'" in feedback.message


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "objekt"}, "not a JSON Schema: at $.type"),
        ({"properties": {"a": {"minimum": "3"}}}, "at $.properties.a.minimum"),
    ],
)
def test_a_schema_that_is_none_is_refused_with_its_place(schema: Mapping[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        JsonSchema(schema)
    assert said in str(refused.value)


@pytest.mark.parametrize("reference", ["https://example.org/order.json", "#/$defs/missing"])
async def test_a_reference_to_elsewhere_is_refused_and_nothing_is_fetched(reference: str) -> None:
    with pytest.raises(InputError, match="put it under"):
        await judged("{}", JsonSchema({"$ref": reference}))


async def test_a_reference_within_the_schema_is_followed() -> None:
    tree: dict[str, object] = {
        "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "integer"}}}
        },
        "$ref": "#/$defs/node",
    }
    assert (await judged('{"value": 1, "next": {"value": 2}}', JsonSchema(tree))).passed
    assert (await judged('{"value": 1, "next": {"value": "two"}}', JsonSchema(tree))).failed_ids == ("$.next.value",)


async def test_the_deepest_value_that_is_read_can_be_checked_against_a_schema_that_refers_to_itself() -> None:
    tree: dict[str, object] = {
        "$defs": {"node": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/node"}}]}},
        "$ref": "#/$defs/node",
    }
    assert (await judged("[" * 64 + "1" + "]" * 64, JsonSchema(tree))).passed
    assert not (await judged("[" * 64 + "true" + "]" * 64, JsonSchema(tree))).passed


async def test_a_schema_that_refers_to_itself_without_end_is_its_own_fault() -> None:
    with pytest.raises(InputError, match="refers to itself without end"):
        await judged("1", JsonSchema({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}))


async def test_a_regular_expression_that_never_ends_fails_the_output_in_time() -> None:
    pattern = {"type": "string", "pattern": "^(a+)+$"}
    assert (await judged('"aaaa"', JsonSchema(pattern, timeout_s=0.2))).passed  # less than the process takes to start
    feedback = await judged(json.dumps("a" * 60 + "!"), JsonSchema(pattern, timeout_s=0.2))
    assert (feedback.passed, feedback.reason) == (False, "timeout")


async def test_a_bug_in_a_users_validator_is_not_a_verdict() -> None:
    with pytest.raises(RuntimeError, match="a bug in the user's validator"):
        await judged('{"id": 1, "items": [{"name": "crash"}]}', PydanticSchema(Order))


async def test_plain_types_can_be_validated() -> None:
    assert (await judged("[1, 2]", PydanticSchema(list[int]))).passed


def test_paths_quote_what_is_no_name() -> None:
    assert path_of(["a", 3, "b c", "x" * 200]) == f'$.a[3]["b c"]["{"x" * 80}…"]'.replace("…", "\\u2026")


@given(st.text(max_size=200))
def test_no_text_makes_the_reader_raise_anything_else(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read_json(text, JsonBounds(depth=5))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_what_json_writes_is_read_back(value: object) -> None:
    assert read_json(json.dumps(value), JsonBounds()) == value
