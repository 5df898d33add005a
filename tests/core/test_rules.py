"""Rules of other tasks: where they stand in a prompt, and that nothing changes without them."""

from __future__ import annotations

import pytest

from afterword import ActContext, ChatRequest, Message, ReflectContext, Reflexion, Task
from afterword.core.rules import with_rules
from afterword.models.scripted import ScriptedModel

pytestmark = pytest.mark.anyio

RULES = "# Rules\n\n- Look at the unit first."


class Fixed:
    """The same rules for each task but one."""

    def text_for(self, task: Task) -> str:
        return "" if task.id == "own" else RULES


def agent(model: ScriptedModel, rules: Fixed | None) -> Reflexion:
    async def act(context: ActContext) -> str:
        asked = ChatRequest((Message("system", "You answer."), Message("user", context.task.instructions)))
        return (await context.effects.complete("actor", model, asked)).text

    async def reflect(context: ReflectContext) -> str:
        asked = ChatRequest((Message("system", "You reflect."), Message("user", "Why?")))
        return (await context.effects.complete("reflector", model, asked)).text

    return Reflexion(act, lambda context: context.trajectory.output == "right", reflect, max_trials=2, rules=rules)


async def test_rules_stand_in_the_system_prompt_of_the_actor_alone() -> None:
    model = ScriptedModel(["wrong", "a lesson", "right"])
    await agent(model, Fixed()).run(Task("other", "What?"))
    systems = [request.messages[0].content for request in model.requests]
    assert systems == [f"You answer.\n\n{RULES}", "You reflect.", f"You answer.\n\n{RULES}"]


@pytest.mark.parametrize("rules", [None, Fixed()], ids=["no rules", "none for this task"])
async def test_without_rules_every_prompt_is_what_it_was(rules: Fixed | None) -> None:
    model = ScriptedModel(["wrong", "a lesson", "right"])
    await agent(model, rules).run(Task("own", "What?"))
    assert [request.messages[0].content for request in model.requests] == ["You answer.", "You reflect.", "You answer."]


def test_a_request_without_a_system_message_gets_one() -> None:
    asked = ChatRequest((Message("user", "What?"),), max_tokens=7, temperature=0.5)
    ruled = with_rules(asked, RULES)
    assert ruled.messages == (Message("system", RULES), Message("user", "What?"))
    assert (ruled.max_tokens, ruled.temperature) == (7, 0.5)
    assert with_rules(asked, "") is asked
