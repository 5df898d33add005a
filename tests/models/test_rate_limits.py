"""Many calls at a time against a real server that refuses some of them for their rate."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from afterword.core.messages import Reply
from afterword.models import open_model
from tests.models.doubles import ASK, options
from tests.models.server import Http, Served, completion, error, serving

pytestmark = pytest.mark.anyio
CALLS = 24


@pytest.mark.parametrize("headers", [(), (("retry-after", "0.3"),)])
async def test_a_refused_burst_is_answered_in_the_end_with_fewer_at_a_time(
    headers: tuple[tuple[str, str], ...],
) -> None:
    soon_after: list[int] = []

    def plan(served: Served) -> Http:
        if len(served.bodies) <= 8:
            return replace(error(429, "slow down", headers=headers), wait_s=0.05)
        soon_after.append(served.under_way)
        return replace(completion("answer"), wait_s=0.02)

    replies: list[Reply] = []
    async with serving(plan=plan) as served:
        settings = replace(options(served.url), concurrency=8, backoff=lambda _tried, after_s: after_s or 0.0)
        async with open_model("openai:m", options=settings) as model:

            async def call() -> None:
                replies.append(await model.complete(ASK))

            async with anyio.create_task_group() as group:
                for _ in range(CALLS):
                    group.start_soon(call)
    assert [reply.text for reply in replies] == ["answer"] * CALLS
    assert len(served.bodies) == CALLS + 8
    assert sum(reply.tries for reply in replies) == CALLS + 8
    assert max(soon_after[:6]) <= 5
