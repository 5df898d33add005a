"""Review of a disputed own test: it is set aside only if a reviewer who has not seen the program says that it is wrong.

A program's author disputes what the program fails, so the author's word is not enough. At most one test of a task is
set aside, never the last one, and every verdict from then on says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterword.core.bounds import cut
from afterword.core.effects import Effects
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import Model, ReflectContext, Reflector
from afterword.core.records import Reflection, Task
from afterword.core.thinking import strip_thinking
from afterword.errors import BudgetExhausted
from afterword.families.programming.own_tests.plain import OwnTest
from afterword.families.programming.own_tests.writing import ROLE
from afterword.templates import render

_PACKAGE = "afterword.families.programming"
_MAX_INSTRUCTIONS = 6_000
_VERDICT = re.compile(r"VERDICT\W{0,4}(RIGHT|WRONG|UNCLEAR)\b", re.IGNORECASE)


@dataclass(slots=True)
class SetAside:
    """The tests of one task that a review can set one aside of; the evaluator and the reflector share it."""

    tests: tuple[tuple[str, OwnTest], ...] = ()
    """Those that count, by their checks' ids."""
    check_id: str = ""
    """The one that does not count any more."""
    text: str = ""

    def test(self, check_id: str) -> OwnTest | None:
        """The test of a check, if it can be set aside."""
        if self.check_id or len(self.tests) < 2:
            return None
        return next((test for name, test in self.tests if name == check_id), None)

    def put(self, check_id: str, test: OwnTest) -> None:
        """Sets a test aside."""
        self.check_id, self.text = check_id, test.text

    @property
    def note(self) -> str:
        """What verdicts say of it; empty where none is set aside."""
        return f"set aside after a review, and not counted: {self.check_id}: {self.text}" if self.check_id else ""


@dataclass(frozen=True, slots=True)
class ReviewingReflector:
    """A reflector whose dispute of an own test is put to a reviewer."""

    reflector: Reflector
    reviewer: Model
    aside: SetAside
    temperature: float | None = 0.0
    max_tokens: int = 400

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        """The inner reflector's lesson; what it disputes may be set aside for the trials that follow."""
        lesson = await self.reflector.reflect(context)
        if lesson is None or lesson.disputes is None:
            return lesson
        test = self.aside.test(lesson.disputes)
        if test is not None and await self._is_wrong(context.task, test, context.effects):
            self.aside.put(lesson.disputes, test)
        return lesson

    async def _is_wrong(self, task: Task, test: OwnTest, effects: Effects) -> bool:
        try:
            reply = await effects.complete(ROLE, self.reviewer, self.request(task, test))
        except BudgetExhausted:
            return False  # the lesson is paid for; the stop rules end the loop, if need be
        said = _VERDICT.findall(strip_thinking(reply.text))
        return bool(said) and said[-1].upper() == "WRONG" and reply.finish == "stop"

    def request(self, task: Task, test: OwnTest) -> ChatRequest:
        """What the reviewer is asked: the instructions and the test, and nothing of any program."""
        values = {"instructions": cut(task.instructions.strip(), _MAX_INSTRUCTIONS), "test": test.text}
        messages = (
            Message("system", render(_PACKAGE, "test_reviewer_system.jinja", {})),
            Message("user", render(_PACKAGE, "test_reviewer.jinja", values)),
        )
        return ChatRequest(messages, self.max_tokens, self.temperature)
