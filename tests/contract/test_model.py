"""What every model must do: answer with usage, leave the request alone, return a cut reply, raise typed faults."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from afterword import Model
from afterword.core.messages import ChatRequest, Finish, Message, Reply
from afterword.core.records import Usage
from afterword.errors import ModelFault, RecordingMismatch, ServerFault
from afterword.models import ModelOptions, RecordedModel, Recording, RecordingFile, ScriptedModel, open_model
from afterword.models.local import LocalModel, LocalServer, LocalServers
from afterword.models.recorded import RecordedCall
from tests.models.doubles import ENGINE, options
from tests.models.server import completion, error, message, serving

pytestmark = pytest.mark.anyio
ASK = ChatRequest((Message("system", "Be brief."), Message("user", "Say hello.")), temperature=0.0, seed=1)


@dataclass(frozen=True)
class Answer:
    """What the model under test is to do with a call."""

    text: str = "hello"
    finish: Finish = "stop"
    fails: bool = False


Opener = Callable[[list[Answer], Path], AbstractAsyncContextManager[Model]]


def reply_of(answer: Answer) -> Reply:
    return Reply(answer.text, answer.finish, Usage(calls=1, tokens_in=5, tokens_out=3), "m")


def script_of(answers: list[Answer]) -> list[str | Reply | ModelFault]:
    return [ServerFault("it broke", model="m") if answer.fails else reply_of(answer) for answer in answers]


@asynccontextmanager
async def scripted(answers: list[Answer], folder: Path) -> AsyncIterator[Model]:
    yield ScriptedModel(script_of(answers))


@asynccontextmanager
async def recording(answers: list[Answer], folder: Path) -> AsyncIterator[Model]:
    with RecordingFile(folder / "run.jsonl") as file:
        yield Recording(ScriptedModel(script_of(answers)), file)


@asynccontextmanager
async def recorded(answers: list[Answer], folder: Path) -> AsyncIterator[Model]:
    yield RecordedModel([RecordedCall(ASK, reply_of(answer)) for answer in answers if not answer.fails])


@asynccontextmanager
async def openai(answers: list[Answer], folder: Path) -> AsyncIterator[Model]:
    served = [error(400, "it broke") if a.fails else completion(a.text, finish=a.finish) for a in answers]
    async with serving(*served) as there, open_model("openai:m", options=options(there.url)) as model:
        yield model


@asynccontextmanager
async def anthropic(answers: list[Answer], folder: Path) -> AsyncIterator[Model]:
    pytest.importorskip("anthropic")
    reasons = {"stop": "end_turn", "length": "max_tokens"}
    served = [error(400, "it broke") if a.fails else message(a.text, stop_reason=reasons[a.finish]) for a in answers]
    async with serving(*served) as there:
        url = there.url.removesuffix("/v1")
        async with open_model("anthropic:m", options=options(url)) as model:
            yield model


@asynccontextmanager
async def local(answers: list[Answer], folder: Path) -> AsyncIterator[Model]:
    plan = [{"content": a.text, "finish_reason": a.finish, "fails": a.fails} for a in answers]
    (folder / "plan.gguf").write_text(json.dumps(plan))
    settings = ModelOptions(threads=1)
    servers = LocalServers([LocalServer(folder / "plan.gguf", "local", settings, engine=ENGINE, log_folder=folder)])
    try:
        yield LocalModel(servers, "local", settings)
    finally:
        await servers.close()


every_model = pytest.mark.parametrize("open_with", [scripted, recording, recorded, openai, anthropic, local])


@every_model
async def test_a_reply_has_text_and_usage(open_with: Opener, tmp_path: Path) -> None:
    async with open_with([Answer("one"), Answer("two")], tmp_path) as model:
        first, second = await model.complete(ASK), await model.complete(ASK)
    assert (first.text, second.text) == ("one", "two")
    for reply in (first, second):
        assert reply.finish == "stop"
        assert reply.model
        assert reply.tries == 1
        assert reply.usage.calls == 1
        assert reply.usage.tokens_in > 0
        assert reply.usage.tokens_out > 0
        assert reply.usage.seconds >= 0


@every_model
async def test_the_name_says_which_provider(open_with: Opener, tmp_path: Path) -> None:
    async with open_with([Answer()], tmp_path) as model:
        assert model.name.partition(":")[0] in ("openai", "anthropic", "local", "scripted", "recorded")


@every_model
async def test_an_unknown_price_gives_an_unknown_cost_and_a_known_one_a_number(
    open_with: Opener, tmp_path: Path
) -> None:
    async with open_with([Answer()], tmp_path) as model:
        reply = await model.complete(ASK)
        if model.price is not None:
            assert reply.usage.cost_usd == 0.0  # the ones here that have a price are free
        elif open_with is not recorded:  # which hands on what was recorded
            assert reply.usage.cost_usd is None


@every_model
async def test_the_request_is_not_changed(open_with: Opener, tmp_path: Path) -> None:
    request = replace(ASK, schema={"type": "object", "properties": {"a": {"type": "string"}}})
    before = deepcopy(request)
    async with open_with([Answer()], tmp_path) as model:
        try:
            await model.complete(request)
        except RecordingMismatch:
            assert open_with is recorded  # it refuses what it does not hold
    assert request == before


@every_model
async def test_a_cut_reply_is_returned_as_such(open_with: Opener, tmp_path: Path) -> None:
    async with open_with([Answer("half a", "length")], tmp_path) as model:
        reply = await model.complete(ASK)
    assert (reply.text, reply.finish) == ("half a", "length")


@every_model
async def test_an_empty_reply_is_returned(open_with: Opener, tmp_path: Path) -> None:
    async with open_with([Answer("")], tmp_path) as model:
        assert (await model.complete(ASK)).text == ""


@every_model
async def test_a_failed_call_raises_one_line_and_the_next_is_answered(open_with: Opener, tmp_path: Path) -> None:
    async with open_with([Answer(fails=True), Answer("after")], tmp_path) as model:
        if open_with is not recorded:  # a fault is not recorded, so there is none to replay
            with pytest.raises(ModelFault) as caught:
                await model.complete(ASK)
            assert "\n" not in str(caught.value)
            assert caught.value.model
        assert (await model.complete(ASK)).text == "after"


@every_model
async def test_calls_at_once_are_all_answered(open_with: Opener, tmp_path: Path) -> None:
    texts = [str(n) for n in range(6)]
    seen: list[str] = []
    async with open_with([Answer(text) for text in texts], tmp_path) as model:

        async def ask() -> None:
            seen.append((await model.complete(ASK)).text)

        async with anyio.create_task_group() as group:
            for _ in texts:
                group.start_soon(ask)
    assert sorted(seen) == texts


@every_model
async def test_a_cancelled_call_leaves_the_model_usable(open_with: Opener, tmp_path: Path) -> None:
    async with open_with([Answer("a"), Answer("a")], tmp_path) as model:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await model.complete(ASK)
        assert (await model.complete(ASK)).text == "a"
