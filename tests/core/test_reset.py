"""No reset, no Reflexion: what is refused before the run, and what is checked in each trial."""

from __future__ import annotations

from typing import ClassVar

import anyio
import pytest

from afterword import ActContext, Tool, Trajectory
from afterword.core.reset import refuse_unresettable, reset
from afterword.errors import ComponentFault, IrreversibleTool, NotResettable, ResetFault


class Talker:
    async def act(self, context: ActContext) -> Trajectory:
        return Trajectory("words")


class Clicker(Talker):
    tools: ClassVar[list[Tool]] = [Tool("click")]


class Player(Talker):
    environment = object()


class ResettingClicker(Clicker):
    def __init__(self, state: str | None = "fresh") -> None:
        self.state = state

    async def reset(self) -> str | None:
        return self.state


class Reader(Clicker):
    stateless = True


class Mailer(ResettingClicker):
    tools: ClassVar[list[Tool]] = [Tool("look"), Tool("send mail", irreversible=True)]


@pytest.mark.parametrize("actor", [Talker(), ResettingClicker(), Reader(), lambda context: "out"])
def test_an_actor_that_can_be_tried_again_is_taken(actor: object) -> None:
    refuse_unresettable(actor)


@pytest.mark.parametrize("actor", [Clicker(), Player()])
def test_an_actor_on_a_world_without_reset_is_refused(actor: Talker) -> None:
    with pytest.raises(NotResettable, match=type(actor).__name__):
        refuse_unresettable(actor)


def test_an_irreversible_tool_is_refused_even_with_a_reset() -> None:
    with pytest.raises(IrreversibleTool, match="'send mail'"):
        refuse_unresettable(Mailer())


def test_tools_of_another_library_are_taken_as_reversible() -> None:
    class Foreign:
        tools = ("search", print)
        stateless = True

    refuse_unresettable(Foreign())


def test_an_actor_without_a_world_has_no_fresh_state() -> None:
    assert anyio.run(reset, Talker(), None) is None


def test_the_fresh_state_is_returned_and_compared() -> None:
    actor = ResettingClicker("room 1")
    assert anyio.run(reset, actor, None) == "room 1"
    assert anyio.run(reset, actor, "room 1") == "room 1"
    with pytest.raises(ResetFault, match="'room 1', expected 'room 2'"):
        anyio.run(reset, actor, "room 2")


def test_a_reset_without_a_fingerprint_cannot_be_checked() -> None:
    with pytest.raises(ComponentFault, match="expected a result of str, found None"):
        anyio.run(reset, ResettingClicker(None), None)
