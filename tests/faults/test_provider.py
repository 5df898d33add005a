"""What a misbehaving provider does to the loop: tried again where that can help, then a fault, never a score."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace

import pytest

from afterword import ActContext, EvaluateContext, Outcome, ReflectContext, Reflexion
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import Model
from afterword.models import ModelOptions, open_model
from tests.faults.troubles import PROVIDERS, TROUBLES, Trouble
from tests.models.doubles import KEY, Notices, no_wait
from tests.models.server import Http, Served, completion, message, serving

pytestmark = pytest.mark.anyio
TRIES = 4


def address(served: Served, provider: str) -> str:
    return served.url if provider == "openai" else served.url.removesuffix("/v1")


def right(provider: str) -> Http:
    return completion("right") if provider == "openai" else message("right")


def settings(url: str, *, timeout_s: float = 20.0) -> ModelOptions:
    return ModelOptions(base_url=url, api_key=KEY, timeout_s=timeout_s, backoff=no_wait, max_tries=TRIES)


async def run(model: Model) -> Outcome:
    """A run whose actor, and whose reflector after a failure, asks the model."""

    async def act(context: ActContext) -> str:
        request = ChatRequest((Message("user", f"trial {context.number}"),))
        return (await context.effects.complete("actor", model, request)).text

    async def reflect(context: ReflectContext) -> str:
        request = ChatRequest((Message("user", f"lesson of trial {context.trial.number}"),))
        return (await context.effects.complete("reflector", model, request)).text

    def evaluate(context: EvaluateContext) -> bool:
        return context.trajectory.output == "right"

    return await Reflexion(act, evaluate, reflect).run("task")


async def run_against(
    *answers: Http, provider: str, timeout_s: float = 20.0, tls: ssl.SSLContext | None = None
) -> tuple[Outcome, Served, Notices]:
    pytest.importorskip(provider)
    notices = Notices()
    async with serving(*answers, tls=tls) as served:
        options = replace(settings(address(served, provider), timeout_s=timeout_s), on_retry=notices)
        async with open_model(f"{provider}:m", options=options) as model:
            return await run(model), served, notices


def patience(trouble: Trouble) -> float:
    return 0.5 if trouble.fault.__name__ == "CallTimeout" else 20.0


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_trouble_that_stays_is_recorded_and_never_scored(provider: str, trouble: Trouble) -> None:
    outcome, served, notices = await run_against(
        trouble.answer(provider), provider=provider, timeout_s=patience(trouble)
    )
    assert (outcome.status, outcome.stop_reason, outcome.trials) == ("faulted", None, ())
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.trial) == (trouble.fault.__name__, 1)
    assert len(served.bodies) == (TRIES if trouble.passes else 1)
    assert len(notices.seen) == len(served.bodies) - 1
    assert "\n" not in outcome.fault.message
    assert len(outcome.fault.message) < 600
    assert KEY not in outcome.fault.message + outcome.fault.traceback


@pytest.mark.parametrize("trouble", [one for one in TROUBLES if one.passes], ids=lambda trouble: trouble.name)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_trouble_that_passes_leaves_no_mark_on_the_verdict(provider: str, trouble: Trouble) -> None:
    bad = trouble.answer(provider)
    outcome, served, _ = await run_against(bad, bad, right(provider), provider=provider)
    assert (outcome.status, outcome.fault, len(outcome.trials)) == ("unverified", None, 1)
    assert len(served.bodies) == 3
    assert len({str(body) for body in served.bodies}) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_fault_in_a_lesson_keeps_the_judged_trial(provider: str) -> None:
    wrong = completion("wrong") if provider == "openai" else message("wrong")
    trouble = next(one for one in TROUBLES if one.name == "context too long")
    outcome, served, _ = await run_against(wrong, trouble.answer(provider), provider=provider)
    assert (outcome.status, len(outcome.trials), len(served.bodies)) == ("faulted", 1, 2)
    assert outcome.trials[0].feedback.passed is False
    assert outcome.fault is not None
    assert outcome.fault.kind == "ContextTooLong"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_certificate_that_nobody_trusts_is_told_at_once(provider: str, untrusted: ssl.SSLContext) -> None:
    outcome, served, notices = await run_against(right(provider), provider=provider, tls=untrusted)
    assert outcome.fault is not None
    assert outcome.fault.kind == "ModelUnreachable"
    assert "certificate" in outcome.fault.message
    assert (served.bodies, notices.seen) == ([], [])


async def test_secure_address_of_a_plain_server_is_told_at_once() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    notices = Notices()
    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        options = replace(settings(f"https://127.0.0.1:{port}/v1"), on_retry=notices)
        async with open_model("openai:m", options=options) as model:
            outcome = await run(model)
    assert outcome.fault is not None
    assert (outcome.fault.kind, notices.seen) == ("ModelUnreachable", [])
    assert "no secure connection" in outcome.fault.message


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70 + ".invalid", "ex ample"])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_name_without_a_host_is_a_fault_that_shows_it(provider: str, host: str) -> None:
    pytest.importorskip(provider)
    async with open_model(f"{provider}:m", options=settings(f"http://{host}/v1")) as model:
        outcome = await run(model)
    assert outcome.fault is not None
    assert outcome.fault.kind == "ModelUnreachable"
    assert host in outcome.fault.message
