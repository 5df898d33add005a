"""The local model's child process: shared, replaced after a crash or a time-out, and never left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from afterword.core.messages import FREE, ChatRequest, Message
from afterword.errors import CallTimeout, InputError, ModelFault, ServerFault
from afterword.models import ModelOptions, local, open_models
from afterword.models.local import LocalModel, LocalServer, LocalServers, check_local, idle_cores, side_by_side
from tests.models.doubles import ENGINE, Notices

pytestmark = pytest.mark.anyio


def say(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), temperature=0.0)


def gone(process: int) -> bool:
    """Whether a process has ended, within a few seconds."""
    for _ in range(500):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@asynccontextmanager
async def serving(file: Path, timeout_s: float = 20.0, threads: int | None = 1) -> AsyncIterator[LocalModel]:
    options = ModelOptions(timeout_s=timeout_s, threads=threads, concurrency=3)
    file.parent.joinpath("logs").mkdir(exist_ok=True)
    logs = file.parent / "logs"
    one = partial(LocalServer, file, "local", options, engine=ENGINE, log_folder=logs)
    servers = LocalServers([one() for _ in range(side_by_side(options))])
    try:
        yield LocalModel(servers, "local", options)
    finally:
        await servers.close()


async def process_of(model: LocalModel) -> int:
    return int(json.loads((await model.complete(say("who"))).text)["process"])


async def test_a_reply_is_free_and_names_the_file_not_its_path(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf") as model:
        reply = await model.complete(say("who"))
    assert (reply.usage.cost_usd, reply.model, model.price) == (0.0, "small.gguf", FREE)


async def test_settings_reach_the_child_and_keys_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush-12345678")
    async with serving(tmp_path / "small.gguf") as model:
        seen = json.loads((await model.complete(say("who"))).text)
    assert seen["settings"]["threads"] == 1
    assert seen["settings"]["context_tokens"] == 8192
    assert seen["body"]["cache_prompt"] is False
    assert "OPENAI_API_KEY" not in seen["env"]


async def test_one_process_answers_many_calls_and_ends_with_the_context(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf") as model:
        first, second = await process_of(model), await process_of(model)
        assert first == second
    assert gone(first)


@pytest.mark.parametrize(
    ("cores", "threads", "expected"), [(4, None, 1), (4, 4, 1), (4, 8, 1), (4, 2, 2), (4, 1, 3), (1, 1, 1)]
)
async def test_calls_at_once_have_a_process_each_where_the_cores_carry_their_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, threads: int | None, expected: int
) -> None:
    monkeypatch.setattr(local, "usable_cores", lambda: cores)
    async with serving(tmp_path / "small.gguf", threads=threads) as model:
        processes: list[int] = []

        async def ask() -> None:
            processes.append(await process_of(model))

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(ask)
    assert len(processes) == 6
    assert len(set(processes)) == expected
    assert all(map(gone, processes))


async def test_a_crash_is_a_fault_of_its_call_and_the_next_call_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf") as model:
        first = await process_of(model)
        with pytest.raises(ServerFault, match=r"SIGABRT.*\.log"):
            await model.complete(say("crash"))
        assert await process_of(model) != first


async def test_a_server_that_somebody_ended_is_replaced_and_asked_again(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf") as model:
        first = await process_of(model)
        os.kill(first, signal.SIGKILL)
        assert await process_of(model) != first


async def test_a_server_that_is_ended_every_time_is_a_fault_after_the_second(tmp_path: Path) -> None:
    notices = Notices()
    settings = ModelOptions(threads=1, timeout_s=20.0, on_retry=notices)
    file = tmp_path / "small.gguf"
    file.touch()
    server = LocalServer(file, "local", settings, engine=ENGINE, log_folder=tmp_path)
    try:
        with pytest.raises(ServerFault, match="SIGKILL"):
            await server.complete(say("killed"))
    finally:
        await server.close()
    assert notices.reasons == ["was ended by SIGKILL"]


async def test_a_timeout_ends_the_process_and_the_next_call_is_answered(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf", timeout_s=1.0) as model:
        first = await process_of(model)
        with pytest.raises(CallTimeout, match=r"\.log"):
            await model.complete(say("hang"))
        assert gone(first)
        assert await process_of(model) != first


async def test_others_that_wait_survive_the_timeout_of_one(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf", timeout_s=1.0) as model:
        ended: list[str] = []

        async def ask(text: str) -> None:
            try:
                await model.complete(say(text))
                ended.append("answered")
            except ModelFault as fault:
                ended.append(type(fault).__name__)

        async with anyio.create_task_group() as group:
            for text in ("hang", "who", "who"):
                group.start_soon(ask, text)
    assert sorted(ended) == ["CallTimeout", "answered", "answered"]


async def test_cancelling_a_call_leaves_the_server_usable_and_nothing_behind(tmp_path: Path) -> None:
    async with serving(tmp_path / "small.gguf") as model:
        first = await process_of(model)
        with anyio.move_on_after(0.2):
            await model.complete(say("hang"))
        again = await process_of(model)
    assert gone(first)
    assert gone(again)


@pytest.mark.parametrize(("name", "said"), [("refuse.gguf", "the file is no model"), ("die.gguf", "SIGABRT")])
async def test_a_server_that_does_not_start_says_why(tmp_path: Path, name: str, said: str) -> None:
    async with serving(tmp_path / name) as model:
        with pytest.raises(ServerFault, match=said) as caught:
            await model.complete(say("who"))
    assert "\n" not in str(caught.value)


async def test_the_log_is_kept_only_after_a_fault(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    async with serving(tmp_path / "small.gguf") as model:
        await process_of(model)
        assert len(list(logs.iterdir())) == 1
    assert list(logs.iterdir()) == []
    async with serving(tmp_path / "small.gguf") as model:
        with pytest.raises(ServerFault):
            await model.complete(say("crash"))
    assert len(list(logs.iterdir())) == 1


PARENT = """
import sys, anyio
from afterword.core.messages import ChatRequest, Message
from afterword.models import ModelOptions
from afterword.models.local import LocalServer
from pathlib import Path

async def main():
    server = LocalServer(
        Path("small.gguf"), "local", ModelOptions(threads=1), engine=sys.argv[1:], log_folder=Path.cwd()
    )
    print((await server.complete(ChatRequest((Message("user", "who"),)))).text, flush=True)
    await anyio.sleep(60)

anyio.run(main)
"""


def test_the_child_dies_with_a_killed_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, *ENGINE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as parent:
        assert parent.stdout is not None
        child = int(json.loads(parent.stdout.readline())["process"])
        os.kill(child, 0)
        parent.kill()
    assert gone(child)


async def test_roles_that_name_the_same_file_share_its_server(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    async with open_models() as models:
        one = await models.open(f"local:{file}", role="actor")
        other = await models.open(f"local:{tmp_path}/../{tmp_path.name}/small.gguf", role="reflector")
        different = await models.open(f"local:{file}", options=replace(ModelOptions(), threads=1))
    assert isinstance(one, LocalModel)
    assert isinstance(other, LocalModel)
    assert isinstance(different, LocalModel)
    assert one.servers is other.servers
    assert one.servers is not different.servers


def test_what_is_no_gguf_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="GGUF"):
        check_local(tmp_path / "a.gguf")
    with pytest.raises(InputError, match="cannot be read"):
        check_local(tmp_path / "none.gguf")


async def test_a_recording_would_tell_the_hash_of_the_weights(tmp_path: Path) -> None:
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    async with serving(tmp_path / "small.gguf") as model:
        assert model.description == {
            "gguf": "small.gguf",
            "gguf_sha256": "b83633aa785344791618f2fddf131b010ea04912a60430760b070bad293f65bd",
        }


async def test_idle_cores_are_at_least_one_and_at_most_all() -> None:
    assert 1 <= await idle_cores() <= (os.cpu_count() or 1)
