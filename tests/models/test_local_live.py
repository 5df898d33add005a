"""The embedded model itself. Run with: AFTERWORD_LIVE=1 pytest -m live tests/models"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from afterword.core.messages import ChatRequest, Message
from afterword.errors import ContextTooLong
from afterword.models import ModelOptions, open_model
from afterword.models.recording_file import load_recording, read_headers
from afterword.models.weights import SHA256

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.live,
    pytest.mark.skipif(not os.environ.get("AFTERWORD_LIVE"), reason="set AFTERWORD_LIVE=1 to run the local model"),
]
ASK = ChatRequest((Message("user", "Write a haiku about rain."),), temperature=0.0, max_tokens=40)


async def test_greedy_replies_repeat_and_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    async with open_model("local", record=file) as model:
        first, second = await model.complete(ASK), await model.complete(ASK)
    assert first.text == second.text != ""
    assert first.usage.cost_usd == 0.0
    assert (await load_recording(file).complete(ASK)).text == first.text
    assert read_headers(file)[0].model_extra == {"gguf": first.model, "gguf_sha256": SHA256}


async def test_a_schema_binds_the_reply() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    request = replace(ASK, messages=(Message("user", "Invent a person."),), schema=schema)
    async with open_model("local") as model:
        reply = await model.complete(request)
    assert sorted(json.loads(reply.text)) == ["age", "name"]


async def test_a_prompt_beyond_the_context_is_a_typed_fault() -> None:
    async with open_model("local", options=ModelOptions(context_tokens=512)) as model:
        with pytest.raises(ContextTooLong):
            await model.complete(replace(ASK, messages=(Message("user", "rain " * 2000),)))
        assert (await model.complete(replace(ASK, max_tokens=3))).finish == "length"
