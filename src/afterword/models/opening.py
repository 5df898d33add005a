"""From a name like `openai:gpt-4o` to an open model, and what the models of one run share.

Roles that use the same model share its limits, a local server is started once, and all of them record into
one file.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from afterword.core.messages import FREE, ChatRequest, Price
from afterword.core.protocols import Model
from afterword.errors import InputError
from afterword.models.limits import RequestLimits
from afterword.models.options import ModelOptions

if TYPE_CHECKING:
    from afterword.models.local import LocalServers
    from afterword.models.recording import RecordingFile
    from afterword.models.script_file import Script

PROVIDERS = ("openai", "anthropic", "local", "scripted", "recorded")
_DEFAULTS = ModelOptions()


def default_model_name() -> str:
    """What `AFTERWORD_MODEL` says, else `local`."""
    return os.environ.get("AFTERWORD_MODEL", "").strip() or "local"


def split_name(name: str) -> tuple[str, str]:
    """Provider and the rest of a model's name.

    Raises:
        InputError: there is no such provider, or nothing after the colon.
    """
    provider, _, rest = name.partition(":")
    if provider not in PROVIDERS:
        known = ", ".join(f"{known}:NAME" for known in ("openai", "anthropic"))
        raise InputError(
            f"expected a model as {known}, local, local:PATH.gguf, scripted:FILE or recorded:FILE, found {name!r}"
        )
    if not rest and name != "local":
        raise InputError(f"expected a name or a file after {provider + ':'!r}, found {name!r}")
    return provider, rest


@asynccontextmanager
async def open_models(*, record: Path | None = None) -> AsyncIterator[Models]:
    """The models of one run; all are closed at the end. With `record`, every call is kept in that file."""
    async with AsyncExitStack() as stack:
        yield Models(stack, record)


@asynccontextmanager
async def open_model(
    name: str, *, options: ModelOptions = _DEFAULTS, role: str | None = None, record: Path | None = None
) -> AsyncIterator[Model]:
    """One model by its name. Several of one run are better opened by `open_models`, which lets them share.

    Raises:
        InputError: the name, a file or an option is wrong, or an extra is not installed.
        ModelFault: there is no key, or the local server does not start.
    """
    async with open_models(record=record) as models:
        yield await models.open(name, options=options, role=role)


class Models:
    """Opens models that share what can be shared."""

    def __init__(self, stack: AsyncExitStack, record: Path | None) -> None:
        self._stack = stack
        self._record = record
        self._recording: RecordingFile | None = None
        self._scripts: dict[str, Script] = {}
        self._servers: dict[tuple[Path, int | None, int, bool], LocalServers] = {}
        self._limits: dict[tuple[str, str | None, int, int | None], RequestLimits] = {}

    async def open(
        self,
        name: str,
        *,
        options: ModelOptions = _DEFAULTS,
        role: str | None = None,
        task: str | None = None,
        used: Sequence[ChatRequest] = (),
    ) -> Model:
        """A model for one role; `role` and `task` pick the replies of a script or a recording.

        `used` are requests that it answered before, in the run that is resumed: a script or a recording, which has
        each reply once, goes on behind them.

        Raises:
            InputError: the name, a file or an option is wrong, or an extra is not installed.
            ModelFault: there is no key, or the local server does not start.
        """
        provider, rest = split_name(name)
        model: Model
        if provider == "scripted":
            model = self.script(name).model(role=role, task=task, skip=len(used))
        elif provider == "recorded":
            from afterword.models.recording_file import load_recording

            model = load_recording(Path(rest), role=role, lookup=options.lookup)
            model.skip(used)
        else:
            model = await self._open(provider, name, rest, options)
        if self._record is None:
            return model
        from afterword.models.recording import Recording, RecordingFile

        if self._recording is None:
            self._recording = self._stack.enter_context(RecordingFile(self._record))
        return Recording(model, self._recording, role=role)

    def script(self, name: str) -> Script:
        """The script of a name like `scripted:FILE`, read once.

        Raises:
            InputError: the file cannot be read, or a line is wrong.
        """
        from afterword.models.script_file import Script

        if name not in self._scripts:
            self._scripts[name] = Script(Path(split_name(name)[1]))
        return self._scripts[name]

    async def _open(self, provider: str, name: str, rest: str, options: ModelOptions) -> Model:
        if provider == "anthropic":
            from afterword.models.anthropic_messages import open_anthropic

            return await self._stack.enter_async_context(
                open_anthropic(name, rest, options, self._limits_of(name, options))
            )
        if provider == "local":
            return await self._open_local(name, rest, options)
        from afterword.models.openai_chat import open_openai

        return await self._stack.enter_async_context(open_openai(name, rest, options, self._limits_of(name, options)))

    async def _open_local(self, name: str, rest: str, options: ModelOptions) -> Model:
        from afterword.models.local import LocalModel, open_servers, user_path
        from afterword.models.weights import installed_embedded

        file = user_path(rest) if rest else installed_embedded()
        key = (file, options.threads, options.context_tokens, options.prompt_cache)
        if key not in self._servers:
            self._servers[key] = await self._stack.enter_async_context(open_servers(file, name, options))
        return LocalModel(self._servers[key], name, options)

    def _limits_of(self, name: str, options: ModelOptions) -> RequestLimits:
        key = (name, options.base_url, options.concurrency, options.requests_per_minute)
        if key not in self._limits:
            self._limits[key] = RequestLimits(
                concurrency=options.concurrency, requests_per_minute=options.requests_per_minute
            )
        return self._limits[key]


def price_bound(name: str, options: ModelOptions) -> Price | None:
    """The most that a model costs, without opening it; None when the price is unknown.

    Raises:
        InputError: there is no such provider.
    """
    provider, model = split_name(name)
    if provider not in ("openai", "anthropic"):
        return FREE
    from afterword.models.prices import Pricing

    # The price of a name is known at its own provider only; elsewhere the address tells, or the user.
    address = options.base_url or os.environ.get(f"{provider.upper()}_BASE_URL", "").strip() or None
    return Pricing(model, provider if address is None else None, address, options.price).bound()
