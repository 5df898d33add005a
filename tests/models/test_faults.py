"""What an error status means, in the words of different servers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.errors import (
    ContentFiltered,
    ContextTooLong,
    MissingKey,
    ModelFault,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServerFault,
    UnknownModel,
)
from afterword.models.faults import Endpoint, HttpFailure, classify, retry_after

THERE = Endpoint("openai:m", "OPENAI_API_KEY", "http://host/v1", ("secret-key-1234",))


@pytest.mark.parametrize(
    ("status", "body", "fault", "retry"),
    [
        (400, {"error": {"message": "prompt is too long: 9 tokens"}}, ContextTooLong, False),
        (
            400,
            {"error": {"type": "exceed_context_size_error", "code": 400, "message": "request"}},
            ContextTooLong,
            False,
        ),
        (400, {"object": "error", "message": "maximum context length is 4096"}, ContextTooLong, False),
        (400, {"error": {"message": "x is not a valid model ID"}}, UnknownModel, False),
        (404, {"detail": "The model `m` does not exist."}, UnknownModel, False),
        (404, {"error": {"type": "not_found_error", "message": "model: m"}}, UnknownModel, False),
        (404, {"detail": "Not Found"}, RequestRejected, False),
        (403, {"error": {"message": "flagged", "code": "content_policy_violation"}}, ContentFiltered, False),
        (403, {"error": {"message": "no access"}}, MissingKey, False),
        (429, {"error": {"message": "tokens per min: context length 8k"}}, RateLimited, True),
        (429, {"error": {"code": "billing_not_active", "message": "x"}}, QuotaExceeded, False),
        (500, {"error": {"message": "context length"}}, ServerFault, True),
        (504, "upstream timed out", ServerFault, True),
        (418, {"error": "teapot"}, RequestRejected, False),
        (418, None, RequestRejected, False),
        (418, [1, 2], RequestRejected, False),
    ],
)
def test_known_answers(status: int, body: object, fault: type[ModelFault], retry: bool) -> None:
    failed = classify(HttpFailure(status, {}, json.dumps(body).encode()), THERE, retry_after_cap_s=60)
    assert type(failed.fault) is fault
    assert failed.retry is retry


@given(st.integers(400, 599), st.binary(max_size=200))
def test_any_answer_gives_one_short_line_without_the_key(status: int, body: bytes) -> None:
    failed = classify(HttpFailure(status, {}, body + b" secret-key-1234"), THERE, retry_after_cap_s=60)
    text = str(failed.fault)
    assert text.isprintable()
    assert len(text) < 600
    assert "secret-key-1234" not in text


@pytest.mark.parametrize(
    "leak",
    [
        "sk-proj-abcdefgh12345",
        "Bearer abcdef.ghi-jk",
        "gsk_abcdefgh1234",
        "//user:pass@",
        "hf_abcdefghijkl",
        "AIzaSyA1234567890",
    ],
)
def test_whatever_looks_like_a_key_is_hidden(leak: str) -> None:
    shown = THERE.quote(f"it said //{leak} and more")
    assert "[key]" in shown
    assert leak not in shown


def test_ordinary_text_is_quoted_as_it_is() -> None:
    assert THERE.quote("the key-value store\nwas not found: skip") == "the key-value store was not found: skip"


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "-2"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e9"}, 60.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "tomorrow"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after(headers, cap_s=60.0) == wait_s


def test_retry_after_as_a_date_to_come() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    assert retry_after({"retry-after": then}, cap_s=60.0) == 60.0
    wait_s = retry_after({"retry-after": then}, cap_s=7200.0)
    assert wait_s is not None
    assert 3000 < wait_s <= 3600
