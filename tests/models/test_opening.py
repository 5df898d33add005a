"""From a name to a model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from afterword.core.messages import Price
from afterword.errors import InputError
from afterword.models import ModelOptions, default_model_name, open_model, open_models
from afterword.models.opening import split_name
from tests.models.doubles import ASK, options
from tests.models.server import Http, completion, serving

pytestmark = pytest.mark.anyio


def test_default_is_local_unless_the_environment_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_model_name() == "local"
    monkeypatch.setenv("AFTERWORD_MODEL", "openai:gpt-4o")
    assert default_model_name() == "openai:gpt-4o"
    monkeypatch.setenv("AFTERWORD_MODEL", " ")
    assert default_model_name() == "local"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("local", ("local", "")),
        ("local:a.gguf", ("local", "a.gguf")),
        ("openai:org/model:free", ("openai", "org/model:free")),
    ],
)
def test_names(name: str, parts: tuple[str, str]) -> None:
    assert split_name(name) == parts


@pytest.mark.parametrize("name", ["", "gpt-4o", "azure:gpt-4o", ":x", "Local", "model.gguf"])
async def test_an_unknown_provider_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InputError) as caught:
        async with open_model(name):
            pytest.fail("it opened")
    for known in ("openai:", "anthropic:", "local", "scripted:", "recorded:"):
        assert known in str(caught.value)


@pytest.mark.parametrize("name", ["openai:", "anthropic:", "scripted:", "recorded:", "local:"])
def test_a_name_without_its_second_half_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="after"):
        split_name(name)


async def test_local_without_an_installation_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))
    with pytest.raises(InputError, match="afterword model install"):
        async with open_model("local"):
            pytest.fail("it opened")


async def test_roles_with_the_same_model_share_its_limits() -> None:
    slow = Http(body=completion().body, drip_s=0.0005)
    async with serving(slow) as served, open_models() as models:
        settings = replace(options(served.url), concurrency=1)
        actor = await models.open("openai:m", options=settings, role="actor")
        reflector = await models.open("openai:m", options=settings, role="reflector")
        async with anyio.create_task_group() as group:
            group.start_soon(actor.complete, ASK)
            group.start_soon(reflector.complete, ASK)
    assert len(served.bodies) == 2
    assert served.most_at_once == 1


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: ModelOptions(timeout_s=0.0), "timeout_s"),
        (lambda: ModelOptions(timeout_s=float("nan")), "timeout_s"),
        (lambda: ModelOptions(max_tries=0), "max_tries"),
        (lambda: ModelOptions(concurrency=-1), "concurrency"),
        (lambda: ModelOptions(requests_per_minute=0), "requests_per_minute"),
        (lambda: ModelOptions(threads=0), "threads"),
        (lambda: ModelOptions(context_tokens=0), "context_tokens"),
        (lambda: ModelOptions(retry_after_cap_s=-1.0), "retry_after_cap_s"),
        (lambda: ModelOptions(base_url="localhost:8000"), "base URL"),
        (lambda: ModelOptions(base_url="http://"), "base URL"),
        (lambda: ModelOptions(base_url="http://[::1"), "base URL"),
        (lambda: ModelOptions(base_url="http://host:99999/v1"), "base URL"),
        (lambda: ModelOptions(price=Price(-1.0, 1.0)), "price"),
    ],
)
def test_options_that_make_no_sense_are_refused(make: Callable[[], ModelOptions], named: str) -> None:
    with pytest.raises(InputError, match=named):
        make()


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_BASE_URL"), ("anthropic", "ANTHROPIC_BASE_URL")])
async def test_a_broken_address_in_the_environment_is_refused(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "localhost")
    with pytest.raises(InputError, match="base URL"):
        async with open_model(f"{provider}:m", options=ModelOptions(api_key="k")):
            pytest.fail("it opened")


def test_a_key_is_not_in_the_text_of_the_options() -> None:
    assert "hush" not in repr(ModelOptions(api_key="hush"))


def test_importing_the_models_loads_no_sdk() -> None:
    heavy = {"openai", "anthropic", "pydantic", "httpx", "httpx2", "stamina", "genai_prices", "xllamacpp"}
    program = f"import sys, afterword.models; print(sorted({heavy!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
