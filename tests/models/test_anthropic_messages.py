"""The Anthropic model against a real server that answers and misbehaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from afterword.core.messages import ChatRequest, Message, Price, Reply
from afterword.errors import (
    ContentFiltered,
    ContextTooLong,
    MalformedReply,
    MissingKey,
    ModelFault,
    ModelUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServerFault,
    UnknownModel,
)
from afterword.models import open_model
from tests.models.doubles import ASK, KEY, Notices, options
from tests.models.server import Http, Served, message, serving

pytest.importorskip("anthropic")
pytestmark = pytest.mark.anyio


def refusal(status: int, kind: str, text: str) -> Http:
    """An error in Anthropic's form."""
    body = f'{{"type": "error", "error": {{"type": "{kind}", "message": "{text}"}}}}'
    return Http(status, body.encode())


async def ask(*answers: Http, request: ChatRequest = ASK) -> tuple[Reply, Served]:
    async with serving(*answers) as served:
        url = served.url.removesuffix("/v1")
        async with open_model("anthropic:m", options=options(url)) as model:
            return await model.complete(request), served


async def test_system_stands_apart_and_is_cached() -> None:
    reply, served = await ask(message("hello"))
    assert (reply.text, reply.finish, reply.model) == ("hello", "stop", "served-model")
    assert served.paths == ["/v1/messages"]
    headers = served.headers[0]  # where the key stands depends on the version of the SDK
    assert KEY in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer "))
    assert served.bodies == [
        {
            "model": "m",
            "max_tokens": 1024,
            "messages": [{"role": "user", "content": "Say hello."}],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        }
    ]


async def test_cached_and_written_tokens_count_as_prompt() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 30,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    reply, _ = await ask(message(usage=usage))
    used = reply.usage
    assert (used.tokens_in, used.tokens_cached, used.tokens_out, used.tokens_reasoning) == (100, 60, 5, 2)


async def test_set_fields_are_sent_and_blank_stops_cut_here() -> None:
    request = replace(ASK, temperature=0.5, stop=("\n", "END"), seed=3, schema={"type": "object"})
    reply, served = await ask(message("one\ntwo"), request=request)
    body = served.bodies[0]
    assert (body["temperature"], body["stop_sequences"]) == (0.5, ["END"])
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": {"type": "object"}}}
    assert "seed" not in body
    assert reply.text == "one"


@pytest.mark.parametrize(
    ("stop_reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
    ],
)
async def test_stop_reasons(stop_reason: str, finish: str) -> None:
    reply, _ = await ask(message(stop_reason=stop_reason))
    assert reply.finish == finish


async def test_refusal_is_content_filtered() -> None:
    with pytest.raises(ContentFiltered):
        await ask(message(stop_reason="refusal"))


async def test_thinking_blocks_are_no_text() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    reply, _ = await ask(message(content=blocks))
    assert reply.text == "ab"


async def test_overload_is_tried_again() -> None:
    notices = Notices()
    async with serving(refusal(529, "overloaded_error", "Overloaded"), message()) as served:
        settings = replace(options(served.url.removesuffix("/v1")), on_retry=notices)
        async with open_model("anthropic:m", options=settings) as model:
            reply = await model.complete(ASK)
    assert reply.tries == 2
    assert notices.reasons == ["529"]


@pytest.mark.parametrize(
    ("answer", "fault", "tries"),
    [
        (refusal(529, "overloaded_error", "Overloaded"), ServerFault, 5),
        (refusal(429, "rate_limit_error", "slow down"), RateLimited, 5),
        (Http(body=message().body, cut=True), ModelUnreachable, 5),
        (refusal(401, "authentication_error", "invalid x-api-key"), MissingKey, 1),
        (refusal(404, "not_found_error", "model: m"), UnknownModel, 1),
        (refusal(400, "invalid_request_error", "Your credit balance is too low"), QuotaExceeded, 1),
        (refusal(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000"), ContextTooLong, 1),
        (refusal(413, "request_too_large", "Request exceeds the maximum size"), ContextTooLong, 1),
        (refusal(400, "invalid_request_error", "messages: first message must be user"), RequestRejected, 1),
        (Http(body=b'{"content": "text"}'), MalformedReply, 1),
        (Http(body=b"nonsense"), MalformedReply, 5),
        (Http(308, headers=(("Location", "http://elsewhere.invalid"),)), RequestRejected, 1),
        (Http(body=b" " * 20_000_000), MalformedReply, 1),
    ],
)
async def test_faults(answer: Http, fault: type[ModelFault], tries: int) -> None:
    async with (
        serving(answer) as served,
        open_model("anthropic:m", options=options(served.url.removesuffix("/v1"))) as model,
    ):
        with pytest.raises(fault) as caught:
            await model.complete(ASK)
    assert type(caught.value) is fault
    assert len(served.bodies) == tries
    assert KEY not in str(caught.value)


async def test_a_model_without_schemas_is_asked_without() -> None:
    refused = refusal(400, "invalid_request_error", "output_config: not supported by this model")
    _, served = await ask(refused, message(), request=replace(ASK, schema={"type": "object"}))
    assert ["output_config" in body for body in served.bodies] == [True, False]


async def test_missing_key_names_the_variable() -> None:
    with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
        async with open_model("anthropic:claude-sonnet-4-5"):
            pytest.fail("it opened without a key")


async def test_auth_token_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-0123456789")
    async with serving(message()) as served:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", served.url.removesuffix("/v1"))
        async with open_model("anthropic:m") as model:
            await model.complete(ASK)
    assert served.headers[0]["authorization"] == "Bearer token-0123456789"


async def test_messages_of_the_assistant_keep_their_role() -> None:
    request = ChatRequest((Message("user", "a"), Message("assistant", "b"), Message("user", "c")))
    _, served = await ask(message(), request=request)
    assert served.bodies[0]["messages"] == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    assert "system" not in served.bodies[0]


async def test_price_stated_by_the_user_wins() -> None:
    async with serving(message()) as served:
        settings = replace(options(served.url.removesuffix("/v1")), price=Price(1.0, 2.0))
        async with open_model("anthropic:m", options=settings) as model:
            assert model.price == Price(1.0, 2.0)
            reply = await model.complete(ASK)
    assert reply.usage.cost_usd == pytest.approx((11 * 1.0 + 7 * 2.0) / 1e6)
