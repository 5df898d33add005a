"""No reset, no Reflexion: every trial starts from the same state, and this is checked.

An actor that acts on a world must be able to put it back; before each trial the loop does so and compares
the fingerprint of the fresh state with the first one.
"""

from __future__ import annotations

from collections.abc import Sequence

from afterword.core.faults import guard
from afterword.core.protocols import Actor, Resettable, Tool
from afterword.errors import IrreversibleTool, NotResettable, ResetFault


def refuse_unresettable(actor: object) -> None:
    """Checks, before anything is spent, that an actor can be tried again.

    Raises:
        IrreversibleTool: one of its `tools` cannot be undone.
        NotResettable: it has `tools` or an `environment`, no reset, and is not declared stateless.
    """
    tools: Sequence[Tool] = getattr(actor, "tools", ())
    for tool in tools:
        if getattr(tool, "irreversible", False):  # other libraries' tools know no such mark
            raise IrreversibleTool(
                f"the tool {tool.name!r} is irreversible and would be used again in every trial; "
                "take it out of the loop and use it once on the outcome"
            )
    acts_on_a_world = bool(tools) or getattr(actor, "environment", None) is not None
    if acts_on_a_world and not isinstance(actor, Resettable) and not getattr(actor, "stateless", False):
        raise NotResettable(
            f"{type(actor).__name__} acts on a world and has no reset; give it `async def reset(self) -> str` that "
            "puts the world back and returns its fingerprint, or `stateless = True` if its tools change nothing"
        )


async def reset(actor: Actor, fresh_state: str | None) -> str | None:
    """Puts the actor's world back; returns the fingerprint of its fresh state, None where there is no world.

    Raises:
        ResetFault: the state is not the one that the first trial started from.
        ComponentFault: the reset raised, or gave no fingerprint to check.
    """
    if not hasattr(actor, "reset"):  # what isinstance with the protocol asks, in a hundredth of its time
        return None
    state: str = await guard("reset", str, actor.reset)
    if fresh_state is not None and state != fresh_state:
        raise ResetFault(
            f"the reset left another state than the first trial had (fingerprint {state!r}, expected "
            f"{fresh_state!r}); without equal starts no lesson can be judged: repair the actor's reset"
        )
    return state
