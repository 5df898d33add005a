"""Prompt templates: jinja2 files beside the code that uses them.

One small door for every family and reflector, so that all of them fail on an undefined name instead of leaving
a hole in a prompt. jinja2 is loaded with the first prompt, not with the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def render(package: str, name: str, values: Mapping[str, object]) -> str:
    """The template `name` in the `prompts` folder of `package`, filled in.

    Raises:
        jinja2.UndefinedError: the template uses a name that `values` lacks.
    """
    return _environment(package).get_template(name).render(values).strip("\n")


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "prompts"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - prompts are plain text
        trim_blocks=True,
        lstrip_blocks=True,
    )
