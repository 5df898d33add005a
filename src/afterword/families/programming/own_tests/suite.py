"""From tests to a suite: rows of data where a test is a call on literals, else code for a jail of its own.

A test is never compiled or run in this process, in the judge or beside the program.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite
from afterword.evaluators.function_tests.literals import NotLiteral, row_of
from afterword.evaluators.judge.program import Jailed, Program, Row
from afterword.families.programming.own_tests.plain import OwnTest, parse_plain


def suite_of(tests: Sequence[OwnTest], entry_point: str, ids: Sequence[str] | None = None) -> Suite:
    """The suite of these tests, with the checks `own:1`, `own:2` and so on, unless other ids are stated.

    Raises:
        InputError: there is no test, or one is not a plain assert on the entry point.
    """
    if not tests:
        raise InputError("expected at least one test, found none")
    rows: list[Row] = []
    jailed: list[Jailed] = []
    code = ["import math"]
    ids = tuple(f"own:{number}" for number in range(1, len(tests) + 1)) if ids is None else tuple(ids)
    for number, (check_id, test) in enumerate(zip(ids, tests, strict=True), start=1):
        node = parse_plain(test.text, entry_point)
        if node is None:
            raise InputError(f"expected a plain assert on {entry_point}, found {test.text[:200]!r}")
        try:
            rows.append(row_of(node, check_id, {entry_point: entry_point}, test.text.split("\n")))
        except NotLiteral:
            jailed.append(Jailed(check_id, test.text, f"own_{number}"))
            code.append(f"def own_{number}({entry_point}):\n    assert ({ast.unparse(node.test)})")
    program = Program(entry_point, ids, (entry_point,), rows=tuple(rows), jailed=tuple(jailed))
    text = "\n".join(test.text for test in tests)
    return Suite(entry_point, ids, program, text=text, companion="\n".join(code) + "\n" if jailed else "")
