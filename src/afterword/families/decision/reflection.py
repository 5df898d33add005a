"""How the decision family reflects: which action was wrong, which would have been right, what would have followed."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from afterword.core.protocols import Model
from afterword.reflectors import PLAY_PROMPTS, Domain, Example, VerbalReflector, show_message, show_play

MAX_PLAY_CHARS = 5_000
MAX_REPORT_CHARS = 600


def game_reflector(model: Model, temperature: float | None = 0.2, max_tokens: int = 300) -> VerbalReflector:
    """The reflector of the decision family."""
    domain = Domain(
        noun="play",
        examples=_examples(),
        show_attempt=show_play(MAX_PLAY_CHARS),
        show_report=show_message(MAX_REPORT_CHARS),
        prompts=PLAY_PROMPTS,
        localises=True,
    )
    return VerbalReflector(model, domain, temperature, max_tokens)


@cache
def _examples() -> tuple[Example, ...]:
    file = resources.files("afterword.families.decision") / "prompts" / "reflection_examples.toml"
    return tuple(Example(**values) for values in tomllib.loads(file.read_text("utf-8"))["example"])
