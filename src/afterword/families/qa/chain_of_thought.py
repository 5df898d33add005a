"""Chain of thought: one model call that reasons to an answer, from memory or from the paragraphs of the task."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from afterword.core.bounds import cut_end
from afterword.core.messages import ChatRequest, Message, Reply
from afterword.core.protocols import ActContext, Model
from afterword.core.records import Step, Trajectory
from afterword.core.thinking import strip_thinking
from afterword.families.qa.actions import read_move
from afterword.families.qa.prompting import (
    COT_EXAMPLES,
    PACKAGE,
    PromptBounds,
    cot_examples,
    example_prompt,
    question_prompt,
    request_of,
    step_text,
    with_lessons,
)
from afterword.families.qa.question import paragraphs_of
from afterword.templates import render

_ANSWER = re.compile(
    r"^[^\w\n]{0,6}(?:final )?answer[*_ ]{0,3}:[*_ ]{0,3}(?P<answer>\S.*)$", re.IGNORECASE | re.MULTILINE
)
_ANOTHER = re.compile(r"^[^\w\n]{0,6}question[*_ ]{0,3}\d{0,3}[*_]{0,3}\s?:", re.IGNORECASE | re.MULTILINE)
"""Models go on with a question of their own making."""
_MAX_KEPT_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class ChainOfThought:
    """Asks a model for a thought and the answer, once a trial."""

    model: Model
    temperature: float | None = 0.0
    """As in the paper's logs; None leaves it out, for models that refuse it."""
    max_tokens: int = 256
    examples: int = COT_EXAMPLES
    """How many worked examples stand before the question."""
    bounds: PromptBounds = field(default_factory=PromptBounds)

    async def act(self, context: ActContext) -> Trajectory:
        """The answer of the model's reply; `no_output` for a reply without one."""
        reply = await context.effects.complete("actor", self.model, self.request(context))
        return _read(reply, self.max_tokens)

    def request(self, context: ActContext) -> ChatRequest:
        """The request of a trial: what stays the same first, the lessons last."""
        beginning = _beginning(self.examples, self.bounds, shows=bool(paragraphs_of(context.task)))
        prompt = question_prompt(context.task, context.previous, self.bounds)
        messages = (*beginning, Message("user", with_lessons(prompt, context.lessons, self.bounds)))
        return request_of(context, messages, max_tokens=self.max_tokens, temperature=self.temperature)


@lru_cache(maxsize=16)
def _beginning(number: int, bounds: PromptBounds, *, shows: bool) -> tuple[Message, ...]:
    """What all requests begin with."""
    messages = [Message("system", render(PACKAGE, "cot_system.jinja", {"context": shows}))]
    for example in cot_examples(number):
        messages.append(Message("user", example_prompt(example, bounds, context=shows)))
        messages.append(Message("assistant", step_text(example.steps[0])))
    return tuple(messages)


def _read(reply: Reply, max_tokens: int) -> Trajectory:
    cut = reply.finish == "length"
    move = read_move(reply.text, cut=cut)
    if move.action is not None and move.action.name == "Finish":
        return Trajectory(move.action.argument, (Step(move.thought, str(move.action)),))
    text = strip_thinking(reply.text).strip()
    answers = list(_ANSWER.finditer(text))
    if answers and (another := _ANOTHER.search(text, answers[0].end())) is not None:
        text = text[: another.start()].rstrip()
        answers = [one for one in answers if one.end() <= len(text)]
        cut = False
    if answers and not (cut and answers[-1].end() == len(text)):
        answer = answers[-1]["answer"].strip().strip("*_` ")
        thought = " ".join(text[: answers[-1].start()].split())
        return Trajectory(answer, (Step(thought, f"Finish[{answer}]"),))
    steps = (Step(thought=cut_end(text, _MAX_KEPT_CHARS)),) if text else ()
    if not text:
        detail = "The reply was empty: write a thought and then Finish[answer]."
    elif cut:
        detail = (
            f"The reply was cut at {max_tokens} tokens before its answer: think in fewer words, then Finish[answer]."
        )
    else:
        detail = "The reply held no answer: its last line has to be Action: Finish[answer]."
    return Trajectory("", steps, "no_output", detail)
