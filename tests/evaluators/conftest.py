"""One pool of judges for each test module, over the best sandbox of this host."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from afterword.evaluators.function_tests import JudgePool
from afterword.sandbox import open_sandbox


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def judges() -> AsyncIterator[JudgePool]:
    async with open_sandbox(workers=2, allow_weak=True) as sandbox, JudgePool(sandbox, workers=2) as pool:
        yield pool
