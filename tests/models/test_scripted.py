"""Prepared replies, in memory and from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from afterword.core.budget import request_bound
from afterword.core.messages import FREE, Reply
from afterword.core.records import Usage
from afterword.errors import InputError, RateLimited, RecordingMismatch
from afterword.models import ScriptedModel, open_models
from afterword.models.script_file import Script, load_script
from tests.models.doubles import ASK

pytestmark = pytest.mark.anyio


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel(["a", Reply("b", "length", Usage(calls=1, tokens_in=5, tokens_out=6), "x")])
    assert (await model.complete(ASK)).text == "a"
    second = await model.complete(replace(ASK, seed=1))
    assert (second.finish, second.usage.tokens_in, second.usage.tokens_out) == ("length", 5, 6)
    assert [request.seed for request in model.requests] == [None, 1]


async def test_a_fault_in_the_script_is_raised_in_its_turn() -> None:
    model = ScriptedModel(["a", RateLimited("busy", model="m"), "b"])
    assert (await model.complete(ASK)).text == "a"
    with pytest.raises(RateLimited):
        await model.complete(ASK)
    assert (await model.complete(ASK)).text == "b"


async def test_an_exhausted_script_says_how_many_replies_it_holds() -> None:
    model = ScriptedModel(["a"])
    await model.complete(ASK)
    with pytest.raises(RecordingMismatch, match="holds 1 reply, and call 2"):
        await model.complete(ASK)


async def test_estimated_usage_stays_within_what_a_budget_reserves() -> None:
    reply = await ScriptedModel(["word " * 5000]).complete(ASK)
    bound = request_bound(ASK, FREE)
    assert 0 < reply.usage.tokens_in <= bound.tokens_in
    assert 0 < reply.usage.tokens_out <= bound.tokens_out
    assert reply.usage.cost_usd == 0.0


async def test_each_role_gets_its_own_replies_and_those_for_any(tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(
        '{"text": "a1", "role": "actor"}\n'
        '{"text": "r1", "role": "reflector", "finish": "length", "usage": {"tokens_in": 3, "tokens_out": 4}}\n'
        "\n"
        '{"text": "both"}\n'
        '{"text": "a2", "role": "actor"}\n'
    )
    async with open_models() as models:
        actor = await models.open(f"scripted:{script}", role="actor")
        reflector = await models.open(f"scripted:{script}", role="reflector")
        assert [(await actor.complete(ASK)).text for _ in range(3)] == ["a1", "both", "a2"]
        first = await reflector.complete(ASK)
        assert (first.text, first.finish, first.usage.tokens_in, first.usage.tokens_out) == ("r1", "length", 3, 4)
        assert (await reflector.complete(ASK)).text == "both"
    assert actor.name == f"scripted:{script}"
    assert actor.price == FREE


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"text": "a"}\n{"txt": "b"}\n', 2),
        ('{"text": "a", "extra": 1}\n', 1),
        ('{"text": "a", "finish": "done"}\n', 1),
        ('{"text": 5}\n', 1),
        ('{"text": "a"\n', 1),
        ('"text"\n', 1),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: str, line: int) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(content)
    with pytest.raises(InputError) as caught:
        load_script(script)
    assert (caught.value.file, caught.value.line) == (script, line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "expected"), [(b"", "empty"), (b"\n\n", "empty"), (b"\xff\xfe", "UTF-8")])
def test_a_file_without_replies_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_bytes(content)
    with pytest.raises(InputError, match=expected):
        load_script(script)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_script(tmp_path / "none.jsonl")


def test_a_byte_order_mark_and_foreign_line_ends_do_no_harm(tmp_path: Path) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n{"text": "b"}\r\n')
    assert load_script(script).name.endswith("replies.jsonl")


def write_rows(file: Path, *rows: Mapping[str, object]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


async def test_a_script_by_task_gives_each_task_its_own_replies_in_the_order_of_the_file(tmp_path: Path) -> None:
    rows = (
        {"text": "a first", "task": "a"},
        {"text": "b first", "task": "b"},
        {"text": "for any"},
        {"text": "a last", "task": "a", "role": "actor"},
    )
    script = Script(write_rows(tmp_path / "s.jsonl", *rows))
    assert script.is_by_task
    model = script.model(role="actor", task="a")
    assert [(await model.complete(ASK)).text for _ in range(3)] == ["a first", "for any", "a last"]
    assert (await script.model(role="actor", task="b").complete(ASK)).text == "b first"
    assert (await script.model(role="actor", task="c").complete(ASK)).text == "for any"


async def test_a_script_goes_on_behind_the_replies_that_were_given_before(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "s.jsonl", {"text": "first"}, {"text": "second"})
    assert (await Script(file).model(skip=1).complete(ASK)).text == "second"
    assert not Script(file).is_by_task


def test_a_task_without_a_reply_is_named(tmp_path: Path) -> None:
    script = Script(write_rows(tmp_path / "s.jsonl", {"text": "first", "task": "a"}))
    with pytest.raises(InputError, match="no reply for the task 'b'"):
        script.model(task="b")
