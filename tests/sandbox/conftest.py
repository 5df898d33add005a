"""The levels that promise to keep a hostile program in, as far as this host has them."""

from __future__ import annotations

import anyio
import pytest

from afterword.sandbox import STRONG, Level, probe

_WORKING = [report.level for report in anyio.run(probe) if report.works]


@pytest.fixture(params=STRONG)
def level(request: pytest.FixtureRequest) -> Level:
    if request.param not in _WORKING:
        pytest.skip(f"{request.param} does not work on this host")
    chosen: Level = request.param
    return chosen
