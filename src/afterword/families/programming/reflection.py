"""How the programming family reflects: the program and its report, as a verbal reflector gets to see them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from afterword.core.bounds import cut, fence, quote_untrusted
from afterword.core.protocols import Model, ReflectContext
from afterword.families.programming.actor import entry_point_of, language_of, report_of
from afterword.reflectors.verbal import Domain, Example, VerbalReflector

MAX_CODE_CHARS = 6_000
MAX_REPORT_CHARS = 2_000
MAX_REPLY_CHARS = 800


def program_reflector(model: Model, temperature: float | None = 0.2, max_tokens: int = 400) -> VerbalReflector:
    """The reflector of the programming family."""
    domain = Domain("program", _examples(), _show_attempt, _show_report, _common_names)
    return VerbalReflector(model, domain, temperature, max_tokens)


@cache
def _examples() -> tuple[Example, ...]:
    text = (resources.files("afterword.families.programming") / "prompts" / "reflection_examples.toml").read_text(
        "utf-8"
    )
    return tuple(Example(**values) for values in tomllib.loads(text)["example"])


def _show_attempt(context: ReflectContext) -> str:
    trajectory = context.trial.trajectory
    if trajectory.output.strip():
        return fence(cut(trajectory.output, MAX_CODE_CHARS), language_of(context.task))
    reply = trajectory.steps[-1].action if trajectory.steps else ""
    if not reply.strip():
        return "There was no program: the reply was empty."
    return f"There was no program. The reply was:\n{quote_untrusted(cut(reply, MAX_REPLY_CHARS))}"


def _show_report(context: ReflectContext) -> str:
    return report_of(context.trial.feedback, MAX_REPORT_CHARS)


def _common_names(context: ReflectContext) -> frozenset[str]:
    return frozenset({entry_point_of(context.task), "solution", "return", "None", "True", "False"})
