"""The embedded model: a GGUF file served by a child process on loopback, behind the chat interface of `openai_chat`.

The servers of a file are shared by all roles that use it. A crash or a time-out of one is a fault of that one
call; the next call starts it anew.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from afterword.core.messages import FREE, ChatRequest, Price, Reply
from afterword.errors import CallTimeout, InputError, MissingExtra, ModelUnreachable, ServerFault
from afterword.models.limits import RequestLimits
from afterword.models.openai_chat import open_openai
from afterword.models.options import ModelOptions, RetryNotice
from afterword.models.service import ServedModel
from afterword.models.weights import known_sha256, sha256_of

ENGINE = (sys.executable, "-P", "-m", "afterword.models.local_child")
"""The program of the child process: settings on its input, its address on its output."""
_START_S = 180.0
_SAMPLE_S = 0.25
_SIGNALS_OF_OTHERS = (-signal.SIGKILL, -signal.SIGTERM)
"""A process does not end itself by these; a crash has others."""
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def user_path(text: str) -> Path:
    """A path as a user writes it, made absolute so that roles which name the same file share its server."""
    return Path(text).expanduser().resolve()


def check_local(file: Path) -> None:
    """Refuses early what cannot be served.

    Raises:
        MissingExtra: the engine is not installed.
        InputError: the file is missing or not a GGUF file.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra("local", "xllamacpp")
    try:
        with file.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise InputError(f"the model cannot be read: {error.strerror or error}", file=file) from None
    if magic != b"GGUF":
        raise InputError(f"expected a GGUF file, found one that begins with {magic!r}", file=file)


@dataclass(frozen=True, slots=True)
class _Running:
    process: Process
    chat: ServedModel
    stack: AsyncExitStack


class _EndedByOthers(Exception):
    """The server was ended from outside, as by a system short of memory: the request has no part in it."""

    def __init__(self, fault: ServerFault, how: str) -> None:
        self.fault = fault
        self.how = how
        super().__init__(str(fault))


class LocalServer:
    """The child process that serves one file, started when it is first needed."""

    def __init__(
        self,
        file: Path,
        name: str,
        options: ModelOptions,
        *,
        engine: Sequence[str] = ENGINE,
        log_folder: Path | None = None,
    ) -> None:
        self.file = file
        self._engine = engine
        self._log_folder = log_folder
        self._name = name
        self._options = options
        self._turn = anyio.Lock()
        self._running: _Running | None = None
        self._log: Path | None = None
        self._faults = 0

    async def complete(self, request: ChatRequest) -> Reply:
        """Asks the server, which answers one request at a time; once more when somebody ended it meanwhile.

        Raises:
            ModelFault: it does not start, crashed, or took too long; the message names its log.
        """
        async with self._turn:
            try:
                return await self._ask(request)
            except _EndedByOthers as ended:
                if self._options.on_retry is not None:
                    self._options.on_retry(RetryNotice(self._name, 1, 2, ended.how, 0.0))
            try:
                return replace(await self._ask(request), tries=2)
            except _EndedByOthers as ended:
                raise ended.fault from ended

    async def _ask(self, request: ChatRequest) -> Reply:
        running = await self._ensure()
        try:
            return await running.chat.complete(request)
        except CallTimeout as error:
            await self._end(running)
            raise CallTimeout(f"{error} ({self._see_log()})", model=self._name) from error
        except (ModelUnreachable, ServerFault) as error:
            how = await _ending(running.process) or f"failed: {error}"
            by_others = running.process.returncode in _SIGNALS_OF_OTHERS
            await self._end(running)
            fault = ServerFault(
                f"the local model server {how}; {self._see_log()}; the next call starts it anew", model=self._name
            )
            if by_others:
                raise _EndedByOthers(fault, how) from error
            raise fault from error

    async def close(self) -> None:
        """Ends the process. The log is kept only when something went wrong."""
        with anyio.CancelScope(shield=True):
            if self._running is not None:
                await self._end(self._running)
        if self._log is not None and not self._faults:
            self._log.unlink(missing_ok=True)

    def _see_log(self) -> str:
        self._faults += 1
        return f"see {self._log}"

    async def _ensure(self) -> _Running:
        if self._running is not None and self._running.process.returncode is None:
            return self._running
        if self._running is not None:  # it died between two calls
            await self._end(self._running)
        async with AsyncExitStack() as stack:
            key = secrets.token_urlsafe(24)
            process = await self._start(stack)
            address = await self._settle(process, key)
            options = replace(
                self._options,
                base_url=f"{address}/v1",
                api_key=key,
                price=self._options.price or FREE,
                max_tries=1,  # a crash is told at once; who wants another try asks again
            )
            extra = {"cache_prompt": self._options.prompt_cache}
            limits = RequestLimits(concurrency=1)
            chat = await stack.enter_async_context(
                open_openai(self._name, self.file.name, options, limits, extra_body=extra)
            )
            self._running = _Running(process, chat, stack.pop_all())
        return self._running

    async def _start(self, stack: AsyncExitStack) -> Process:
        if self._log is None:
            descriptor, path = tempfile.mkstemp(prefix="afterword-local-", suffix=".log", dir=self._log_folder)
            os.close(descriptor)
            self._log = Path(path)
        environment = {name: value for name, value in os.environ.items() if not _SECRET_VARIABLE.search(name)}
        with self._log.open("ab") as log:
            process = await anyio.open_process(
                self._engine,
                stderr=log,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the parent, which ends the child in order
            )
        stack.push_async_callback(_kill, process)
        return process

    async def _settle(self, process: Process, key: str) -> str:
        """Hands over the settings and returns the address, once the model is loaded."""
        assert process.stdin is not None  # noqa: S101 -- pipes are anyio's default
        assert process.stdout is not None  # noqa: S101
        settings = {
            "parent": os.getpid(),
            "model": str(self.file),
            "key": key,
            "threads": self._options.threads or await idle_cores(),
            "context_tokens": self._options.context_tokens,
            "prompt_cache": self._options.prompt_cache,
        }
        said = "no answer"
        try:
            with anyio.fail_after(_START_S):
                await process.stdin.send(json.dumps(settings).encode() + b"\n")
                line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 65536)
            answer = json.loads(line)
            if "address" in answer:
                return str(answer["address"])
            said = str(answer.get("error"))
        except TimeoutError:
            said = f"the model was not loaded within {_START_S:g} s"
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            said = f"it {await _ending(process) or 'does not answer'}"
        raise ServerFault(
            f"the local model server does not start: {' '.join(said.split())}; {self._see_log()}", model=self._name
        )

    async def _end(self, running: _Running) -> None:
        self._running = None
        with anyio.CancelScope(shield=True):
            await running.stack.aclose()


class LocalServers:
    """The servers of one file.

    Each answers one request at a time, since replies would otherwise depend on what is asked beside them.
    """

    def __init__(self, servers: Sequence[LocalServer]) -> None:
        self.file = servers[0].file
        self._all = tuple(servers)
        self._idle = [*servers]
        self._slots = anyio.Semaphore(len(servers))

    async def complete(self, request: ChatRequest) -> Reply:
        """Asks the server that was idle last, or the first that becomes idle.

        Raises:
            ModelFault: as that of `LocalServer.complete`.
        """
        async with self._slots:
            server = self._idle.pop()
            try:
                return await server.complete(request)
            finally:
                self._idle.append(server)

    async def close(self) -> None:
        """Ends their processes."""
        for server in self._all:
            await server.close()


class LocalModel:
    """A `Model` over shared local servers."""

    def __init__(self, servers: LocalServers, name: str, options: ModelOptions) -> None:
        self.servers = servers
        """Shared by the roles that use the same file."""
        self._name = name
        self._options = options

    @property
    def name(self) -> str:
        """`local` or `local:PATH`."""
        return self._name

    @property
    def price(self) -> Price | None:
        """Nothing, unless stated."""
        return self._options.price or FREE

    @property
    def description(self) -> Mapping[str, object]:
        """What a recording says besides the name: the file and its hash."""
        file = self.servers.file
        sha256 = known_sha256(file)
        if sha256 is None:
            sha256 = sha256_of(file)
        return {"gguf": file.name, "gguf_sha256": sha256}

    async def complete(self, request: ChatRequest) -> Reply:
        """Asks the model.

        Raises:
            ModelFault: no usable answer; a crashed server is started anew by the next call.
        """
        reply = await self.servers.complete(request)
        return replace(reply, model=self.servers.file.name)


@asynccontextmanager
async def open_servers(file: Path, name: str, options: ModelOptions) -> AsyncIterator[LocalServers]:
    """Servers for a file, started when they are needed, which end with the context.

    Raises:
        MissingExtra: the engine is not installed.
        InputError: the file is missing or not a GGUF file.
    """
    check_local(file)
    servers = LocalServers([LocalServer(file, name, options) for _ in range(side_by_side(options))])
    try:
        yield servers
    finally:
        await servers.close()


def side_by_side(options: ModelOptions) -> int:
    """How many servers a file has: one, or where the threads of each are stated as many as the cores carry."""
    return 1 if options.threads is None else max(1, min(options.concurrency, usable_cores() // options.threads))


async def idle_cores() -> int:
    """How many cores are idle just now, at least 1: more threads than that slow each other down."""
    usable = usable_cores()
    before = _cpu_times()
    if before is None:
        return usable
    await anyio.sleep(_SAMPLE_S)
    after = _cpu_times()
    if after is None or after[1] <= before[1]:
        return usable
    idle = (after[0] - before[0]) / (after[1] - before[1]) * (os.cpu_count() or 1)
    return max(1, min(usable, round(idle)))


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_times() -> tuple[int, int] | None:
    """Idle and all clock ticks of the machine; None where the system does not tell."""
    try:
        with Path("/proc/stat").open(encoding="ascii") as stream:
            ticks = [int(field) for field in stream.readline().split()[1:9]]
    except (OSError, ValueError):
        return None
    return ticks[3] + ticks[4], sum(ticks)


async def _kill(process: Process) -> None:
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            process.kill()
        await process.wait()
        await process.aclose()


async def _ending(process: Process) -> str:
    """How the process ended; empty if it did not."""
    with anyio.move_on_after(2.0):
        await process.wait()
    code = process.returncode
    if code is None:
        return ""
    if code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"ended with exit code {code}"
