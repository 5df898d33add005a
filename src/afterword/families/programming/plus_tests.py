"""The plus tests of HumanEval+ and MBPP+ made fit for judging, without a change of what they ask.

They carry their inputs as literals of up to 800,000 characters, whose syntax trees would cost seconds to load for a
benchmark of which perhaps ten tasks are run.
"""

from __future__ import annotations

import re

from afterword.core.records import Limits
from afterword.evaluators.function_tests import Suite

PLUS_LIMITS = Limits(wall_s=60.0, memory_mb=4096)
"""Some plus tests make a thousand calls on large inputs: HumanEval/139 computes for 22 s in one plain process."""
_LITERAL = re.compile(r"^([ \t]*(?:inputs|results) = )(\[.{2000,}\])$", re.MULTILINE)
_NEVER_ASSERTED = re.compile(r"(\n[ \t]+)(exact_match = exp == \(out is not None\)\n)(?!\s*assert)")
_TOO_LARGE = {"combinations_colors": re.compile(r", \[\[[^\[\],]*(?:,[^\[\],]*){3,}\], 7[67]\]")}
"""Inputs of MBPP 255 with up to 1.7 million results (892 MB), which is more than may leave a jail; the others stay."""


def plus_suite(test: str, entry_point: str) -> Suite:
    """The suite of a plus test: `check(candidate)` for HumanEval+, a loop at module level for MBPP+."""
    # Three published tests (MBPP 737, 787, 794) compare and forget to assert: they would accept any program.
    mended = _NEVER_ASSERTED.sub(r"\1\2    assert exact_match\n", test)
    bounded = _TOO_LARGE[entry_point].sub("", mended) if entry_point in _TOO_LARGE else mended
    short = _LITERAL.sub(lambda match: f"{match[1]}eval({match[2]!r})", bounded)
    if re.search(r"^def check\(", short, re.MULTILINE):
        return Suite.from_humaneval(short, entry_point)
    # The import tells the program's `sum` (MBPP 126) from the built-in one.
    return Suite.from_source(f"from solution import {entry_point}\n{short}", entry_point=entry_point)
