"""The journal run of a command that asks models outside the loop: one that was interrupted is gone on with.

Such a run is known again by its settings, so the same command given again pays for nothing twice. `audit --causal` and
`exam` share this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from afterword.core.messages import ChatRequest

if TYPE_CHECKING:
    from afterword.journal import Journal, Run, RunSpec

Used = Mapping[tuple[str, str], list[ChatRequest]]
"""What was asked in a run, by role and model."""


async def taken_up(journal: Journal, spec: RunSpec) -> Run:
    """The latest run of the same settings that was interrupted and in which nothing differs, else a new one."""
    for summary in await journal.runs():
        if summary.state != "interrupted":
            continue
        before = await journal.spec(summary.id)
        if (dict(before.settings), before.seed) != (dict(spec.settings), spec.seed):
            continue
        if all(before.fingerprints.get(name) == value for name, value in spec.fingerprints.items()):
            return await journal.resume(summary.id)
    return await journal.start(spec)


async def used_before(journal: Journal, run: Run) -> Used:
    """What models were asked in a run before, oldest first: a script or a recording goes on behind it."""
    used: dict[tuple[str, str], list[ChatRequest]] = {}
    if not run.resumed:
        return used
    from pydantic import TypeAdapter

    adapter = TypeAdapter(tuple[str, ChatRequest])
    async for effect in journal.effects(run.id):
        if effect.kind == "Reply" and not effect.superseded and effect.request is not None:
            model, request = adapter.validate_python(effect.request)
            used.setdefault((effect.role, model), []).append(request)
    return used
