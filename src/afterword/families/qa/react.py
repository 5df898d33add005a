"""ReAct over an article store: a thought and an action a step, until Finish or the step limit (paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from afterword.core.bounds import bound_steps, cut, quote_untrusted
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import ActContext, Model
from afterword.core.records import Step, Trajectory
from afterword.families.qa.actions import Action, Move, read_move
from afterword.families.qa.articles import ArticleStore, Observation
from afterword.families.qa.prompting import (
    PACKAGE,
    REACT_EXAMPLES,
    PromptBounds,
    example_prompt,
    question_prompt,
    react_examples,
    request_of,
    step_text,
    with_lessons,
)
from afterword.templates import render

ARTICLES = "articles"
"""The role under which look-ups are recorded."""
_LAST = "This is your last step: write Finish[answer]."
_NO_PAGE = "No article is open: Search[title] first, then Lookup[word]."


@dataclass(slots=True)
class _Reading:
    """Which page is open in a trial, and how far a look-up has come."""

    page: str = ""
    word: str = ""
    number: int = 0

    def search(self, found: Observation) -> None:
        self.page, self.word, self.number = found.page, "", 0

    def lookup(self, word: str) -> None:
        same = word.casefold() == self.word.casefold()
        self.word, self.number = word, self.number + 1 if same else 1


@dataclass(frozen=True, slots=True)
class ReActActor:
    """Asks a model step by step, and looks up what it asks for. The articles never change, so there is no reset."""

    model: Model
    articles: ArticleStore
    temperature: float | None = 0.0
    """As in the paper's logs; None leaves it out, for models that refuse it."""
    max_steps: int = 6
    """As in the paper's logs; a step that cannot be read counts."""
    max_tokens: int = 160
    """Of one step."""
    examples: int = REACT_EXAMPLES
    """How many worked examples stand before the question."""
    bounds: PromptBounds = field(default_factory=PromptBounds)

    async def act(self, context: ActContext) -> Trajectory:
        """The steps and the answer; `step_limit` without one when the steps are used up."""
        steps: list[Step] = []
        reading = _Reading()
        while len(steps) < self.max_steps:
            reply = await context.effects.complete("actor", self.model, self.request(context, steps))
            move = read_move(reply.text, cut=reply.finish == "length")
            if move.action is not None and move.action.name == "Finish":
                steps.append(Step(move.thought, str(move.action)))
                return Trajectory(move.action.argument, tuple(steps))
            steps.append(await self._take(move, reading, context))
        return Trajectory("", tuple(steps), "step_limit")

    async def _take(self, move: Move, reading: _Reading, context: ActContext) -> Step:
        if move.action is None:
            return Step(move.thought, move.raw, f"Invalid step. {move.problem}")
        observed = await self._observe(move.action, reading, context)
        return Step(move.thought, str(move.action), cut(observed, self.bounds.observation))

    async def _observe(self, action: Action, reading: _Reading, context: ActContext) -> str:
        articles, word = self.articles, action.argument
        if action.name == "Search":
            found = await context.effects.effect(
                ARTICLES, (articles.name, "search", word), lambda: articles.search(word), Observation
            )
            reading.search(found)
            return found.text
        if not reading.page:
            return _NO_PAGE
        reading.lookup(word)
        page, number = reading.page, reading.number
        found = await context.effects.effect(
            ARTICLES,
            (articles.name, "lookup", page, word, number),
            lambda: articles.lookup(page, word, number),
            Observation,
        )
        return found.text

    def request(self, context: ActContext, steps: Sequence[Step] = ()) -> ChatRequest:
        """The request for the next step: what stays the same first, then the steps so far, the lessons last."""
        question = question_prompt(context.task, context.previous, self.bounds)
        talk = _talk(question, bound_steps(steps, self.bounds.steps))
        last = talk.pop().content
        if len(steps) + 1 == self.max_steps:
            last = f"{last}\n\n{_LAST}"
        beginning = _beginning(self.max_steps, self.examples, self.bounds)
        messages = (*beginning, *talk, Message("user", with_lessons(last, context.lessons, self.bounds)))
        return request_of(
            context, messages, max_tokens=self.max_tokens, temperature=self.temperature, stop=("\nObservation",)
        )


@lru_cache(maxsize=16)
def _beginning(max_steps: int, number: int, bounds: PromptBounds) -> tuple[Message, ...]:
    """What all requests begin with."""
    messages = [Message("system", render(PACKAGE, "react_system.jinja", {"max_steps": max_steps}))]
    for example in react_examples(number):
        messages += _talk(example_prompt(example, bounds, context=False), enumerate(example.steps, 1))
    return tuple(messages)


def _talk(question: str, steps: Iterable[tuple[int, Step]]) -> list[Message]:
    """A question and its steps as turns; the last one is the user's, unless it is an example that finished."""
    messages = [Message("user", question)]
    for number, step in steps:
        if not step.thought and not step.action:  # the mark of steps that were cut
            messages[-1] = replace(messages[-1], content=f"{messages[-1].content}\n\n{step.observation}")
            continue
        messages.append(Message("assistant", step_text(step)))
        if step.observation:
            values = {"number": number, "text": quote_untrusted(step.observation)}
            messages.append(Message("user", render(PACKAGE, "observation.jinja", values)))
    return messages
