"""A provider cannot fill the memory: a reply is read up to a bound, packed or not, and however often it comes."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest

from tests.models.server import Http, provider

_CLIENT = """
import resource, sys
import anyio
from afterword.core.messages import ChatRequest, Message
from afterword.errors import ModelFault
from afterword.models import ModelOptions, open_model

async def main():
    options = ModelOptions(base_url=sys.argv[1], api_key="sk-test-0123456789", max_tries=1)
    async with open_model("openai:m", options=options) as model:
        await ask(model)  # whatever is loaded at first use
        before_mb = peak_mb()
        for _ in range(3):
            await ask(model)
        print(int(peak_mb() - before_mb))

async def ask(model):
    try:
        await model.complete(ChatRequest((Message("user", "x"),)))
    except ModelFault:
        return
    raise AssertionError("it was taken")

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

anyio.run(main)
"""
_SMALL = Http(body=b"[]")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("status", [200, 500])
def test_peak_memory_of_a_huge_reply(status: int, packed: bool) -> None:
    body = gzip.compress(b" " * 150_000_000, 1) if packed else b" " * 20_000_000
    answer = Http(status, body, (("Content-Encoding", "gzip"),) if packed else ())
    with provider(_SMALL, answer) as served:
        done = subprocess.run(
            [sys.executable, "-c", _CLIENT, served.url], capture_output=True, text=True, check=True, timeout=60
        )
    assert int(done.stdout) < 60
    assert len(served.bodies) == 4
