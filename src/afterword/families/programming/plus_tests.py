"""The plus tests of HumanEval+ and MBPP+ made fit for judging, without a change of what they ask.

They carry their inputs as literals of up to 800,000 characters, whose syntax trees would cost seconds to load for a
benchmark of which perhaps ten tasks are run.
"""

from __future__ import annotations

import re

from afterword.core.records import Limits
from afterword.evaluators.function_tests import Suite

PLUS_LIMITS = Limits(wall_s=30.0)
"""The plus tests make up to some thousand calls, some on large inputs."""
_LITERAL = re.compile(r"^([ \t]*(?:inputs|results) = )(\[.{2000,}\])$", re.MULTILINE)
_NEVER_ASSERTED = re.compile(r"(\n[ \t]+)(exact_match = exp == \(out is not None\)\n)(?!\s*assert)")


def plus_suite(test: str, entry_point: str) -> Suite:
    """The suite of a plus test: `check(candidate)` for HumanEval+, a loop at module level for MBPP+."""
    # Three published tests (MBPP 737, 787, 794) compare and forget to assert: they would accept any program.
    mended = _NEVER_ASSERTED.sub(r"\1\2    assert exact_match\n", test)
    short = _LITERAL.sub(lambda match: f"{match[1]}eval({match[2]!r})", mended)
    if re.search(r"^def check\(", short, re.MULTILINE):
        return Suite.from_humaneval(short, entry_point)
    return Suite.from_source(short, entry_point=entry_point)
