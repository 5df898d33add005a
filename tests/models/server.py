"""A real HTTP server on loopback that answers, or misbehaves, as told."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from anyio.from_thread import start_blocking_portal


@dataclass
class Served:
    """The requests that came in."""

    port: int = 0
    bodies: list[dict[str, object]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    under_way: int = 0
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True)
class Http:
    """An answer. It begins after `wait_s`, `drip_s` is the time between two bytes, `cut` resets the connection in the
    middle of the body, and `hang` never answers. With `only_with`, a request without that field gets the last answer
    instead.
    """

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    wait_s: float = 0.0
    drip_s: float = 0.0
    cut: bool = False
    hang: bool = False
    only_with: str = ""


def completion(text: object = "hello", *, finish: str = "stop", **extra: object) -> Http:
    """A well-formed chat completion."""
    choice: dict[str, object] = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    body: dict[str, object] = {
        "id": "x",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [choice],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    body.update(extra)
    return Http(body=json.dumps(body).encode())


def message(text: str = "hello", *, stop_reason: str = "end_turn", **extra: object) -> Http:
    """A well-formed answer of the messages interface."""
    body: dict[str, object] = {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }
    body.update(extra)
    return Http(body=json.dumps(body).encode())


def error(status: int, message: str, *, headers: tuple[tuple[str, str], ...] = (), **fields: object) -> Http:
    """An error in OpenAI's form."""
    return Http(status, json.dumps({"error": {"message": message, **fields}}).encode(), headers)


Plan = Callable[["Served"], Http]
"""Chooses the answer to the request that came in last."""


def in_order(*answers: Http) -> Plan:
    """Gives the answers in order, the last one for ever."""

    def choose(served: Served) -> Http:
        answer = answers[min(len(served.bodies), len(answers)) - 1]
        return answer if not answer.only_with or answer.only_with in served.bodies[-1] else answers[-1]

    return choose


@asynccontextmanager
async def serving(*answers: Http, plan: Plan | None = None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Served]:
    """Gives the answers in order, the last one for ever, or what the plan chooses."""
    served = Served(scheme="http" if tls is None else "https")
    chosen = plan or in_order(*answers)
    closing = asyncio.Event()
    handlers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers[task] = writer
        try:
            while await _serve_one(reader, writer, served, chosen, closing):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        closing.set()
        for writer in handlers.values():
            writer.transport.abort()
        await asyncio.gather(*handlers)


@contextmanager
def provider(*answers: Http, plan: Plan | None = None, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """`serving` in a thread of its own, beside a command under test."""
    server = serving(*answers, plan=plan, tls=tls)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(server) as served:
        yield served


async def _serve_one(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    served: Served,
    plan: Plan,
    closing: asyncio.Event,
) -> bool:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    served.paths.append(first.split()[1])
    served.headers.append(headers)
    served.bodies.append(json.loads(body) if body else {})
    answer = plan(served)
    served.under_way += 1
    served.most_at_once = max(served.most_at_once, served.under_way)
    try:
        return await _answer(writer, answer, closing)
    finally:
        served.under_way -= 1


async def _answer(writer: asyncio.StreamWriter, answer: Http, closing: asyncio.Event) -> bool:
    if answer.hang:
        await closing.wait()
        return False
    await asyncio.sleep(answer.wait_s)
    lines = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {len(answer.body)}"]
    if answer.content_type:
        lines.append(f"Content-Type: {answer.content_type}")
    lines += [f"{name}: {value}" for name, value in answer.headers]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    if answer.cut:
        writer.write(answer.body[: len(answer.body) // 2])
        await writer.drain()
        writer.transport.abort()
        return False
    if answer.drip_s:
        for byte in answer.body:
            writer.write(bytes([byte]))
            await writer.drain()
            try:
                await asyncio.wait_for(closing.wait(), answer.drip_s)
            except TimeoutError:
                continue
            return False
        return True
    writer.write(answer.body)
    await writer.drain()
    return True
