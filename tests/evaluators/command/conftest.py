"""One sandbox for each test module."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from afterword.core.protocols import Sandbox
from afterword.sandbox import open_sandbox
from tests.evaluators.command.folders import PYTHON


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(python=PYTHON, workers=1) as opened:
        yield opened
