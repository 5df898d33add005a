"""How the question family reflects: the thoughts, actions and observations of a trial and what the evaluator said.

The known answer is nowhere in it: a reflector learns that an answer was wrong and not what would have been right.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from afterword.core.bounds import cut, quote_untrusted
from afterword.core.protocols import Model, ReflectContext
from afterword.families.qa.prompting import PACKAGE
from afterword.families.qa.question import paragraphs_of
from afterword.reflectors import ANSWER_PROMPTS, Domain, Example, VerbalReflector, show_message, show_play

MAX_STEPS_CHARS = 4_000
MAX_PARAGRAPH_CHARS = 1_200
MAX_REPORT_CHARS = 600
_show_steps = show_play(MAX_STEPS_CHARS)


def answer_reflector(model: Model, temperature: float | None = 0.2, max_tokens: int = 300) -> VerbalReflector:
    """The reflector of the question family."""
    domain = Domain("answer", _examples(), _show_attempt, show_message(MAX_REPORT_CHARS), prompts=ANSWER_PROMPTS)
    return VerbalReflector(model, domain, temperature, max_tokens)


@cache
def _examples() -> tuple[Example, ...]:
    text = (resources.files(PACKAGE) / "prompts" / "reflection_examples.toml").read_text("utf-8")
    return tuple(Example(**values) for values in tomllib.loads(text)["example"])


def _show_attempt(context: ReflectContext) -> str:
    shown = [
        quote_untrusted("\n".join(filter(None, (title, cut(text, MAX_PARAGRAPH_CHARS)))))
        for title, text in paragraphs_of(context.task)
    ]
    given = ["The paragraphs that were given:", *shown] if shown else []
    return "\n\n".join([*given, _show_steps(context)])
