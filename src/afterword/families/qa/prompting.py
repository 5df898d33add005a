"""What the prompts of the question family have in common: worked examples, the question, the last trial, the lessons.

What stays the same comes first and the lessons last, so that a server can keep the beginning of a prompt.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from afterword.core.bounds import cut, quote_untrusted, show_steps
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import ActContext
from afterword.core.records import Reflection, Step, Task, Trial
from afterword.errors import InputError
from afterword.families.qa.question import paragraphs_of
from afterword.templates import render

PACKAGE = "afterword.families.qa"
MAX_QUESTION_CHARS = 3_000


@dataclass(frozen=True, slots=True)
class PromptBounds:
    """How much of each part enters a prompt, in characters; what is cut leaves a visible mark."""

    paragraph: int = 2_500
    """Of each paragraph that is given."""
    observation: int = 1_200
    """Of each observation when it comes in."""
    steps: int = 6_000
    """Of the steps of the trial under way."""
    previous: int = 3_000
    """Of the last trial's steps."""
    report: int = 600
    """Of what the evaluator said of it."""
    lesson: int = 1_200
    """Of each lesson; the memory bounds their number."""


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A question worked through, with the steps that a model is to copy the form of."""

    question: str
    steps: tuple[Step, ...]
    paragraphs: tuple[tuple[str, str], ...] = ()


COT_EXAMPLES = 6
REACT_EXAMPLES = 2
"""As many as the paper shows."""


def cot_examples(number: int) -> tuple[WorkedExample, ...]:
    """The first `number` examples of chain of thought."""
    return _first(number, _examples()["cot"])


def react_examples(number: int) -> tuple[WorkedExample, ...]:
    """The first `number` examples of ReAct."""
    return _first(number, _examples()["react"])


def _first(number: int, examples: tuple[WorkedExample, ...]) -> tuple[WorkedExample, ...]:
    if not 0 <= number <= len(examples):
        raise InputError(f"there are 0 to {len(examples)} worked examples for this mode, found {number}")
    return examples[:number]


@cache
def _examples() -> dict[str, tuple[WorkedExample, ...]]:
    text = (resources.files(PACKAGE) / "prompts" / "examples.toml").read_text("utf-8")
    stated = tomllib.loads(text)
    cot = (
        WorkedExample(
            one["question"],
            (Step(one["thought"], f"Finish[{one['answer']}]"),),
            tuple((title, body) for title, body in one["paragraphs"]),
        )
        for one in stated["cot"]
    )
    react = (WorkedExample(one["question"], tuple(Step(*step) for step in one["steps"])) for one in stated["react"])
    return {"cot": tuple(cot), "react": tuple(react)}


def question_prompt(task: Task, previous: Trial | None, bounds: PromptBounds) -> str:
    """The question, with the paragraphs that the task shows and the last trial where the strategy does."""
    return _question(task.instructions, paragraphs_of(task), previous, bounds)


def example_prompt(example: WorkedExample, bounds: PromptBounds, *, context: bool) -> str:
    """The question of a worked example, as a real one would stand there."""
    return _question(example.question, example.paragraphs if context else (), None, bounds)


def _question(text: str, paragraphs: Sequence[tuple[str, str]], previous: Trial | None, bounds: PromptBounds) -> str:
    quoted = [
        quote_untrusted("\n".join(filter(None, (title, cut(body, bounds.paragraph))))) for title, body in paragraphs
    ]
    shown = None if previous is None else _previous(previous, bounds)
    values = {"paragraphs": quoted, "question": cut(text.strip(), MAX_QUESTION_CHARS), "previous": shown}
    return render(PACKAGE, "question.jinja", values)


def _previous(trial: Trial, bounds: PromptBounds) -> dict[str, object]:
    return {
        "number": trial.number,
        "steps": show_steps(trial.trajectory.steps, bounds.previous) or "Nothing was written.",
        "report": quote_untrusted(cut(trial.feedback.message.strip() or "It failed.", bounds.report)),
    }


def with_lessons(prompt: str, lessons: Sequence[Reflection], bounds: PromptBounds) -> str:
    """A prompt with the lessons behind it."""
    if not lessons:
        return prompt
    shown = [{"trial": one.trial, "text": " ".join(cut(one.text, bounds.lesson).split())} for one in lessons]
    return f"{prompt}\n\n{render(PACKAGE, 'lessons.jinja', {'lessons': shown})}"


def step_text(step: Step) -> str:
    """A step as a reply has it."""
    lines = [f"Thought: {step.thought}" if step.thought else "", f"Action: {step.action}" if step.action else ""]
    return "\n".join(filter(None, lines)) or "Action:"


def request_of(
    context: ActContext,
    messages: Sequence[Message],
    *,
    max_tokens: int,
    temperature: float | None,
    stop: tuple[str, ...] = (),
) -> ChatRequest:
    """The request; a sampling arm has a seed of its own in each trial, or a provider that honours it repeats itself."""
    seed = context.effects.random("actor").getrandbits(31) if temperature else None
    return ChatRequest(tuple(messages), max_tokens, temperature, stop, seed)
