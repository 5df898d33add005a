"""The small pieces: names of runs, differences of requests, results by position."""

from __future__ import annotations

from datetime import datetime

import pytest

from afterword.core.effects import canonical
from afterword.core.messages import Reply
from afterword.core.protocols import EffectKey
from afterword.core.records import Usage
from afterword.errors import InputError, RecordingMismatch
from afterword.journal import PositionalRecorder, RecordedRow
from afterword.journal.difference import first_difference
from afterword.journal.encoding import decode
from afterword.journal.ids import new_id

pytestmark = pytest.mark.anyio

MORNING = datetime(2026, 12, 1, 1, 56, 0).timestamp()


def test_names_sort_by_the_second_they_were_given() -> None:
    names = [new_id(MORNING + second) for second in range(180)]
    assert names == sorted(names)
    assert all(name.startswith("261201-0") for name in names)
    assert all(name.rpartition("-")[2].isalpha() for name in names)


@pytest.mark.parametrize(
    ("recorded", "asked", "told"),
    [
        ({"a": 1}, {"a": 2}, "a was '1', now '2'"),
        ({"a": 1}, {}, "a is gone"),
        ({}, {"a": 1}, "a is new"),
        (["x", "y"], ["x"], "it had 2 entries, now 1"),
        ({"a": [{"b": "same and x"}]}, {"a": [{"b": "same and y"}]}, "a[0].b differs at character 9: was 'x', now 'y'"),
        ("short", "shorter", "it differs at character 5: was '', now 'er'"),
        (None, "text", "it was 'None', now 'text'"),
    ],
)
def test_the_first_difference_is_named(recorded: object, asked: object, told: str) -> None:
    assert first_difference(recorded, asked) == told


def test_equal_values_have_equal_canonical_texts() -> None:
    assert canonical({"b": 1, "a": (1, 2)}) == canonical({"a": [1, 2], "b": 1}) == '[{"a":[1,2],"b":1}]'


def test_a_text_that_is_no_such_record_is_refused() -> None:
    with pytest.raises(InputError, match="the journal holds no Reply where one was expected"):
        decode('{"text": 1}', Reply)


async def by_position(recorder: PositionalRecorder, role: str, n: int, trial: int = 1) -> Reply:
    async def call() -> Reply:
        return Reply("live", "stop", Usage(), "m")

    return await recorder.effect(EffectKey("t", "any", 3, trial, role, n), "whatever", call, Reply)


async def test_the_nth_row_of_a_role_is_given_whatever_is_asked() -> None:
    rows = [RecordedRow("t", trial, "actor", Reply(text, "stop", Usage(), "m")) for trial, text in ((1, "a"), (1, "b"))]
    rows.append(RecordedRow("t", 2, "actor", {"text": "c", "finish": "stop", "usage": {}, "model": "m"}))
    recorder = PositionalRecorder(rows)
    texts = [(await by_position(recorder, "actor", n, trial)).text for n, trial in ((1, 1), (0, 1), (0, 2))]
    assert texts == ["b", "a", "c"]
    assert (await by_position(recorder, "clock", 0)).text == "live"
    with pytest.raises(RecordingMismatch, match="trial 1: the log holds 2 of actor, and one more was asked for"):
        await by_position(recorder, "actor", 2)


async def test_a_row_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="expected Reply, found 'text'"):
        await by_position(PositionalRecorder([RecordedRow("t", 1, "actor", "text")]), "actor", 0)
