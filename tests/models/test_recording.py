"""Calls are kept before they are used, and replayed only for the same requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.messages import FREE, ChatRequest, Message, Price, Reply
from afterword.core.records import Usage
from afterword.errors import InputError, RateLimited, RecordingMismatch
from afterword.models import (
    ModelOptions,
    RecordedModel,
    Recording,
    RecordingFile,
    ScriptedModel,
    open_model,
    open_models,
)
from afterword.models.options import Lookup
from afterword.models.recorded import RecordedCall, first_difference
from afterword.models.recording_file import load_recording, read_headers
from tests.models.doubles import ASK, KEY, options
from tests.models.server import completion, serving

pytestmark = pytest.mark.anyio
OTHER = ChatRequest((Message("system", "Be brief."), Message("user", "Say goodbye.")), temperature=0)


async def record(file: Path, *asked: ChatRequest, role: str | None = None) -> list[Reply]:
    """Records scripted replies "0", "1", … to the requests."""
    with RecordingFile(file) as recording:
        model = Recording(ScriptedModel([str(n) for n in range(len(asked))]), recording, role=role)
        return [await model.complete(request) for request in asked]


async def test_replayed_replies_equal_the_recorded_ones(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    schema = {"type": "object", "required": ["a", "b"]}
    asked = [replace(ASK, schema=schema, stop=("x",), seed=3), OTHER, replace(ASK, temperature=0.5)]
    replies = await record(file, *asked)
    async with open_model(f"recorded:{file}") as model:
        assert [await model.complete(request) for request in asked] == replies
        assert model.price == FREE
        assert model.name == f"recorded:{file}"


async def test_a_call_is_on_disk_when_its_reply_is_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with RecordingFile(file) as recording:
        model = Recording(ScriptedModel(["a", "b"]), recording)
        assert len(file.read_text().splitlines()) == 1
        await model.complete(ASK)
        assert len(file.read_text().splitlines()) == 2


async def test_header_says_what_when_and_with_which_version(tmp_path: Path) -> None:
    class Weighty(ScriptedModel):
        @property
        def description(self) -> Mapping[str, object]:
            return {"gguf_sha256": "abc"}

    with RecordingFile(tmp_path / "run.jsonl") as recording:
        Recording(Weighty(["a"]), recording, role="actor")
        Recording(Weighty(["a"]), recording, role="actor")
        Recording(Weighty(["a"]), recording, role="reflector")
    headers = read_headers(tmp_path / "run.jsonl")
    assert [header.role for header in headers] == ["actor", "reflector"]
    assert headers[0].model == "scripted:memory"
    assert headers[0].written.startswith("20")
    assert headers[0].model_extra == {"gguf_sha256": "abc"}


async def test_a_fault_is_not_recorded(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    with RecordingFile(file) as recording:
        model = Recording(ScriptedModel([RateLimited("busy", model="m"), "b"]), recording)
        with pytest.raises(RateLimited):
            await model.complete(ASK)
        await model.complete(ASK)
    assert [json.loads(line)["kind"] for line in file.read_text().splitlines()] == ["header", "call"]


async def test_roles_are_kept_apart_in_one_file(tmp_path: Path) -> None:
    script, file = tmp_path / "script.jsonl", tmp_path / "run.jsonl"
    script.write_text('{"text": "a", "role": "actor"}\n{"text": "r", "role": "reflector"}\n')
    async with open_models(record=file) as models:
        for role in ("actor", "reflector"):
            await (await models.open(f"scripted:{script}", role=role)).complete(ASK)
    async with open_models() as models:
        reflector = await models.open(f"recorded:{file}", role="reflector")
        assert (await reflector.complete(ASK)).text == "r"
        with pytest.raises(RecordingMismatch, match="holds 1 calls"):
            await reflector.complete(ASK)


async def test_a_differing_prompt_is_refused_and_named(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    await record(file, ASK)
    model = load_recording(file)
    with pytest.raises(RecordingMismatch, match=r"message 2 \(user\) differs at character 4: was 'hello\.'"):
        await model.complete(replace(OTHER, temperature=None))
    assert (await model.complete(ASK)).text == "0"  # a refused request uses nothing up


async def test_strict_finds_requests_in_another_order(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    await record(file, ASK, OTHER, ASK)
    model = load_recording(file)
    assert [(await model.complete(request)).text for request in (OTHER, ASK, ASK)] == ["1", "0", "2"]


async def test_positional_takes_calls_in_order_whatever_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    await record(file, ASK, ASK)
    async with open_model(f"recorded:{file}", options=ModelOptions(lookup="positional")) as model:
        assert [(await model.complete(OTHER)).text for _ in range(2)] == ["0", "1"]
        with pytest.raises(RecordingMismatch):
            await model.complete(OTHER)


@pytest.mark.parametrize("lookup", ["strict", "positional"])
async def test_calls_that_were_used_before_are_left_out(lookup: Lookup) -> None:
    calls = [RecordedCall(ASK, Reply(text, "stop", Usage(calls=1), "m")) for text in ("first", "second")]
    model = RecordedModel([*calls, RecordedCall(OTHER, Reply("other", "stop", Usage(calls=1), "m"))], lookup=lookup)
    model.skip([ASK])
    assert (await model.complete(ASK)).text == "second"
    assert (await model.complete(OTHER)).text == "other"


async def test_a_whole_temperature_and_its_float_are_the_same_request(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    await record(file, replace(ASK, temperature=0))
    assert (await load_recording(file).complete(replace(ASK, temperature=0.0))).text == "0"


async def test_a_lone_surrogate_in_a_prompt_is_recorded_and_found(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    asked = ChatRequest((Message("user", "a\ud800b"),))
    await record(file, asked)
    assert (await load_recording(file).complete(asked)).text == "0"


async def test_a_recording_cut_by_a_kill_is_readable_and_continued(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    await record(file, ASK, OTHER)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert (await load_recording(file).complete(ASK)).text == "0"
    await record(file, ASK)
    model = load_recording(file)
    assert [(await model.complete(ASK)).text for _ in range(2)] == ["0", "0"]
    with pytest.raises(RecordingMismatch):
        await model.complete(OTHER)


@pytest.mark.parametrize("content", ["print('hello')\n", '{"text": "a script"}\n', "\n"])
def test_another_kind_of_file_is_not_written_into(tmp_path: Path, content: str) -> None:
    file = tmp_path / "solution.py"
    file.write_text(content)
    with pytest.raises(InputError, match="something else"):
        RecordingFile(file)
    assert file.read_text() == content


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        RecordingFile(tmp_path / "file" / "run.jsonl")


async def test_a_changed_request_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    await record(file, ASK)
    file.write_text(file.read_text().replace("hello", "hallo"))
    with pytest.raises(InputError, match="changed"):
        load_recording(file)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "header line"),
        ('{"text": "a"}\n', "a line of a recording"),
        ('{"kind":"header","format":99,"written":"x","afterword":"x","model":"m"}\n', "format 1"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: str, expected: str) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(content)
    with pytest.raises(InputError, match=expected):
        load_recording(file)


async def test_no_key_is_written(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    async with (
        serving(completion()) as served,
        open_model("openai:m", options=replace(options(served.url), price=Price(1, 2)), record=file) as model,
    ):
        await model.complete(ASK)
    assert KEY not in file.read_text()
    assert load_recording(file).price == Price(1.0, 2.0)


def call(request: ChatRequest) -> RecordedCall:
    return RecordedCall(request, Reply("x", "stop", Usage(calls=1), "m"))


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (replace(ASK, temperature=0.5), "temperature was None, now 0.5"),
        (replace(ASK, max_tokens=5), "max_tokens was 1024, now 5"),
        (replace(ASK, stop=("x",)), "stop was"),
        (replace(ASK, seed=1), "seed was None"),
        (replace(ASK, schema={"type": "object"}), "schema was None"),
        (replace(ASK, messages=ASK.messages[:1]), "it had 2 messages, now 1"),
        (replace(ASK, messages=(Message("user", "Be brief."),)), "message 1 was from 'system', now 'user'"),
        (ASK, "it was asked fewer times then"),
    ],
)
def test_the_first_difference_is_named(asked: ChatRequest, named: str) -> None:
    assert named in first_difference(ASK, asked)


texts = st.text(max_size=20)
requests = st.builds(
    ChatRequest,
    st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), max_size=3).map(tuple),
    temperature=st.none() | st.floats(0, 2),
    stop=st.lists(texts, max_size=2).map(tuple),
    seed=st.none() | st.integers(-5, 5),
)


@given(st.lists(requests, max_size=5).flatmap(lambda asked: st.tuples(st.just(asked), st.permutations(asked))))
def test_every_recorded_request_is_found_once_in_any_order(orders: tuple[list[ChatRequest], list[ChatRequest]]) -> None:
    recorded, asked = orders

    async def main() -> None:
        model = RecordedModel([call(request) for request in recorded])
        for request in asked:
            await model.complete(request)
        with pytest.raises(RecordingMismatch):
            await model.complete(ASK)

    anyio.run(main)
