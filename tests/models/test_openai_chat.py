"""The OpenAI-compatible model against a real server that answers and misbehaves."""

from __future__ import annotations

import json
from dataclasses import replace

import anyio
import pytest

from afterword.core.messages import ChatRequest, Message, Price, Reply
from afterword.errors import (
    CallTimeout,
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
from afterword.models import ModelOptions, open_model
from tests.models.doubles import ASK, KEY, Notices, options
from tests.models.server import Http, Served, completion, error, serving

pytestmark = pytest.mark.anyio


async def ask(
    *answers: Http, request: ChatRequest = ASK, name: str = "openai:m", change: ModelOptions | None = None
) -> tuple[Reply, Served]:
    async with serving(*answers) as served:
        settings = options(served.url) if change is None else replace(change, base_url=served.url)
        async with open_model(name, options=settings) as model:
            return await model.complete(request), served


async def test_reply_has_text_usage_and_the_providers_model_name() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    reply, served = await ask(completion("hello", usage=usage))
    assert (reply.text, reply.finish, reply.model, reply.tries) == ("hello", "stop", "served-model", 1)
    used = reply.usage
    assert (used.calls, used.tokens_in, used.tokens_out, used.tokens_cached, used.tokens_reasoning) == (
        1,
        100,
        50,
        60,
        20,
    )
    assert used.cost_usd is None  # nobody knows what this server costs
    assert used.seconds > 0
    assert served.paths == ["/v1/chat/completions"]
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_unset_fields_are_left_out_of_the_request() -> None:
    _, served = await ask(completion())
    assert served.bodies == [
        {
            "model": "m",
            "max_tokens": 1024,
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
        }
    ]


async def test_set_fields_are_sent() -> None:
    schema = {"type": "object", "properties": {}}
    request = replace(ASK, temperature=0.0, stop=("END",), seed=7, schema=schema, max_tokens=5)
    _, served = await ask(completion(), request=request)
    body = served.bodies[0]
    assert (body["temperature"], body["stop"], body["seed"], body["max_tokens"]) == (0.0, ["END"], 7, 5)
    form = body["response_format"]
    assert isinstance(form, dict)
    assert form["json_schema"]["schema"] == schema


async def test_stated_price_gives_the_cost() -> None:
    price = Price(1.0, 10.0)
    reply, _ = await ask(completion(), change=replace(options("http://x"), price=price))
    assert reply.usage.cost_usd == pytest.approx((11 * 1.0 + 7 * 10.0) / 1e6)


async def test_missing_usage_is_counted_not_zero() -> None:
    reply, _ = await ask(completion(usage=None))
    assert reply.usage.tokens_in > 0
    assert reply.usage.tokens_out > 0


@pytest.mark.parametrize("reported", [10**30, -1, True, "7"])
async def test_a_usage_that_cannot_be_is_counted_instead(reported: object) -> None:
    reply, _ = await ask(completion(usage={"prompt_tokens": reported, "completion_tokens": reported}))
    assert 0 < reply.usage.tokens_in < 100
    assert 0 < reply.usage.tokens_out < 100


async def test_cut_reply_is_returned() -> None:
    reply, _ = await ask(completion("half", finish="length"))
    assert (reply.text, reply.finish) == ("half", "length")


async def test_null_content_is_an_empty_reply() -> None:
    reply, _ = await ask(completion(None, finish="length"))
    assert reply.text == ""


async def test_content_in_parts_is_joined() -> None:
    reply, _ = await ask(completion([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]))
    assert reply.text == "ab"


async def test_stops_beyond_what_the_server_takes_cut_the_reply_here() -> None:
    request = replace(ASK, stop=("1", "2", "3", "4", "5"))
    reply, served = await ask(completion("abc5def"), request=request)
    assert reply.text == "abc"
    assert served.bodies[0]["stop"] == ["1", "2", "3", "4"]


async def test_lone_surrogate_in_a_prompt_is_written_out() -> None:
    _, served = await ask(completion(), request=ChatRequest((Message("user", "a\ud800b"),)))
    assert served.bodies[0]["messages"] == [{"role": "user", "content": "a\\ud800b"}]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_passing_trouble_is_tried_again_and_seen(status: int) -> None:
    notices = Notices()
    change = replace(options("http://x"), on_retry=notices)
    reply, served = await ask(error(status, "busy"), error(status, "busy"), completion(), change=change)
    assert reply.tries == 3
    assert len(served.bodies) == 3
    assert notices.reasons == [str(status)] * 2


@pytest.mark.parametrize(
    ("headers", "asked_s"),
    [
        ((("Retry-After", "3"),), 3.0),
        ((("retry-after-ms", "250"),), 0.25),
        ((("Retry-After", "86400"),), 60.0),
        ((("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"),), 0.0),
        ((("Retry-After", "soon"),), None),
        ((), None),
    ],
)
async def test_retry_after_is_honoured_up_to_a_cap(headers: tuple[tuple[str, str], ...], asked_s: float | None) -> None:
    heard: list[float | None] = []

    def backoff(tried: int, retry_after_s: float | None) -> float:
        heard.append(retry_after_s)
        return 0.0

    change = replace(options("http://x"), backoff=backoff)
    await ask(error(429, "slow down", headers=headers), completion(), change=change)
    assert heard == [asked_s]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(429, "slow down"), RateLimited),
        (error(500, "oops"), ServerFault),
        (Http(502, b"<html><h1>Bad gateway</h1></html>", content_type="text/html"), ServerFault),
        (Http(body=completion().body, cut=True), ModelUnreachable),
        (Http(body=b'{"choices": ['), MalformedReply),
    ],
)
async def test_trouble_that_stays_is_a_fault_after_the_last_try(answer: Http, fault: type[ModelFault]) -> None:
    async with serving(answer) as served, open_model("openai:m", options=options(served.url)) as model:
        with pytest.raises(fault) as caught:
            await model.complete(ASK)
    assert len(served.bodies) == 5
    assert caught.value.model == "openai:m"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(401, "Incorrect API key provided"), MissingKey),
        (error(403, "Country not supported"), MissingKey),
        (error(429, "You exceeded your current quota", code="insufficient_quota"), QuotaExceeded),
        (error(402, "Insufficient credits"), QuotaExceeded),
        (error(404, "The model `m` does not exist", code="model_not_found"), UnknownModel),
        (Http(404, b'{"error": "model \'m\' not found"}'), UnknownModel),
        (Http(404, b"404 page not found", content_type="text/plain"), RequestRejected),
        (
            error(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
            ContextTooLong,
        ),
        (error(400, "flagged", code="content_filter"), ContentFiltered),
        (error(400, "Unknown parameter", type="invalid_request_error"), RequestRejected),
        (Http(422, b'{"detail": [{"msg": "field required"}]}'), RequestRejected),
        (Http(301, headers=(("Location", "/v1/chat/completions"),)), RequestRejected),
        (Http(307, headers=(("Location", "http://elsewhere.invalid/v1"),)), RequestRejected),
        (Http(body=b"[]"), MalformedReply),
        (Http(body=b"[" * 100_000), MalformedReply),
        (Http(body=b'{"choices": []}'), MalformedReply),
        (Http(body=b'{"choices": [{"message": {"content": 5}}]}'), MalformedReply),
        (Http(body=b"<html></html>", content_type="text/html"), MalformedReply),
        (Http(body=b" " * 20_000_000), MalformedReply),
        (completion("", finish="content_filter"), ContentFiltered),
        (Http(body=b'{"error": {"code": 403, "message": "flagged by moderation"}}'), ContentFiltered),
    ],
)
async def test_lasting_trouble_is_a_fault_at_once(answer: Http, fault: type[ModelFault]) -> None:
    async with serving(answer) as served, open_model("openai:m", options=options(served.url)) as model:
        with pytest.raises(fault) as caught:
            await model.complete(ASK)
    assert type(caught.value) is fault
    assert len(served.bodies) == 1
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


async def test_a_refusal_is_content_filtered() -> None:
    refused = {"choices": [{"message": {"content": None, "refusal": "I cannot"}, "finish_reason": "stop"}]}
    with pytest.raises(ContentFiltered, match="I cannot"):
        await ask(Http(body=json.dumps(refused).encode()))


async def test_an_error_status_with_a_huge_body_is_read_in_part() -> None:
    with pytest.raises(RequestRejected) as caught:
        await ask(Http(400, b"x" * 20_000_000, content_type="text/plain"))
    assert len(str(caught.value)) < 600


async def test_a_key_in_an_error_message_is_not_passed_on() -> None:
    with pytest.raises(MissingKey) as caught:
        await ask(error(401, f"Incorrect API key provided: {KEY} (Bearer {KEY})"))
    assert KEY not in str(caught.value)
    assert "OPENAI_API_KEY" in str(caught.value)


@pytest.mark.parametrize("answer", [Http(hang=True), Http(body=completion("x" * 500).body, drip_s=0.02)])
async def test_no_complete_answer_in_time_is_a_timeout_without_another_try(answer: Http) -> None:
    async with (
        serving(answer) as served,
        open_model("openai:m", options=replace(options(served.url), timeout_s=0.3)) as model,
    ):
        with pytest.raises(CallTimeout, match=r"within 0\.3 s"):
            await model.complete(ASK)
    assert len(served.bodies) == 1


async def test_a_server_on_this_machine_that_is_down_is_told_at_once() -> None:
    async with serving(completion()) as served:
        url = served.url
    notices = Notices()
    async with open_model("openai:m", options=replace(options(url), on_retry=notices)) as model:
        with pytest.raises(ModelUnreachable, match=r"127\.0\.0\.1.*connection refused"):
            await model.complete(ASK)
    assert notices.seen == []


async def test_unknown_host_is_told_at_once() -> None:
    notices = Notices()
    settings = replace(options("http://no-such-host.invalid/v1"), on_retry=notices)
    async with open_model("openai:m", options=settings) as model:
        with pytest.raises(ModelUnreachable, match=r"no-such-host\.invalid.*is the server up"):
            await model.complete(ASK)


async def test_a_base_url_with_a_password_is_shown_without_it() -> None:
    async with open_model("openai:m", options=options("http://me:hush@no-such-host.invalid/v1")) as model:
        with pytest.raises(ModelUnreachable) as caught:
            await model.complete(ASK)
    assert "hush" not in str(caught.value)


async def test_missing_key_names_the_variable() -> None:
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        async with open_model("openai:gpt-4o"):
            pytest.fail("it opened without a key")


async def test_a_server_of_ones_own_needs_no_key() -> None:
    reply, _ = await ask(completion(), change=replace(options("http://x"), api_key=None))
    assert reply.text == "hello"


async def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(completion()) as served:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        async with open_model("openai:m") as model:
            await model.complete(ASK)
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_a_server_that_wants_the_newer_limit_name_gets_it_from_then_on() -> None:
    refusal = error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param="max_tokens",
    )
    async with serving(refusal, completion()) as served, open_model("openai:m", options=options(served.url)) as model:
        await model.complete(ASK)
        await model.complete(ASK)
    assert [sorted(body.keys() - {"model", "messages"}) for body in served.bodies] == [
        ["max_tokens"],
        ["max_completion_tokens"],
        ["max_completion_tokens"],
    ]


async def test_a_server_without_schemas_is_asked_without() -> None:
    request = replace(ASK, schema={"type": "object"})
    refusal = error(400, "response_format json_schema is not supported")
    async with serving(refusal, completion()) as served, open_model("openai:m", options=options(served.url)) as model:
        assert (await model.complete(request)).text == "hello"
    assert ["response_format" in body for body in served.bodies] == [True, False]


async def test_everything_that_is_refused_is_left_out_one_after_the_other() -> None:
    request = replace(ASK, schema={"type": "object"}, stop=("END",))
    refusals = [
        error(400, "Unsupported parameter: 'max_tokens'"),
        error(400, "Unsupported parameter: 'stop' is not supported with this model."),
        error(400, "json_schema is not supported"),
    ]
    reply, served = await ask(*refusals, completion("one END two"), request=request)
    assert (reply.text, reply.tries) == ("one ", 4)
    assert sorted(served.bodies[-1]) == ["max_completion_tokens", "messages", "model"]


async def test_calls_at_once_learn_the_same() -> None:
    refusal = error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    async with (
        serving(*[replace(refusal, only_with="max_tokens")] * 4, completion()) as served,
        open_model("openai:m", options=options(served.url)) as model,
        anyio.create_task_group() as group,
    ):
        for _ in range(2):
            group.start_soon(model.complete, ASK)
    names = [name for body in served.bodies for name in body if name.startswith("max")]
    assert names.count("max_completion_tokens") == 2
    assert names.count("max_tokens") in (1, 2)


async def test_a_refused_temperature_says_to_leave_it_out() -> None:
    refusal = error(400, "Unsupported value: 'temperature' does not support 0.2 with this model.")
    with pytest.raises(RequestRejected, match="leave the temperature out"):
        await ask(refusal, request=replace(ASK, temperature=0.2))


async def test_an_error_of_the_provider_behind_a_router_is_found_in_the_choice() -> None:
    choice = {
        "message": {"content": ""},
        "finish_reason": "error",
        "error": {"code": 400, "message": "prompt too long"},
    }
    with pytest.raises(ContextTooLong):
        await ask(completion(choices=[choice]))


async def test_an_adapted_request_counts_as_a_try() -> None:
    reply, _ = await ask(error(400, "Unrecognized field 'max_tokens'"), completion())
    assert reply.tries == 2


async def test_no_proxy_stands_before_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    reply, _ = await ask(completion())
    assert reply.text == "hello"


async def test_white_space_around_a_key_is_dropped() -> None:
    _, served = await ask(completion(), change=replace(options("http://x"), api_key=f" {KEY}\n"))
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["sk-ab\ncd-0123456789", "sk-\u2018quoted\u2019-0123456789"])
async def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(MissingKey, match="set OPENAI_API_KEY anew") as caught:
        await ask(completion(), change=replace(options("http://x"), api_key=key))
    assert "0123456789" not in str(caught.value)


async def test_lone_surrogate_in_a_reply_is_written_out() -> None:
    reply, _ = await ask(completion("a\ud800b"))
    assert reply.text == "a\\ud800b"


async def test_concurrency_limit_holds() -> None:
    slow = Http(body=completion("x" * 5).body, drip_s=0.0005)
    async with (
        serving(slow) as served,
        open_model("openai:m", options=replace(options(served.url), concurrency=2)) as model,
        anyio.create_task_group() as group,
    ):
        for _ in range(5):
            group.start_soon(model.complete, ASK)
    assert len(served.bodies) == 5
    assert served.most_at_once == 2
