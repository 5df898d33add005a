"""What a suite says of its checks, for the audit that looks for held-out text in prompts: names, assertions, inputs.

Apart from the suite, since judging never needs it, and since it has to be bounded: tests of some benchmarks take a
second to parse.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from afterword.core.bounds import cut_end
from afterword.errors import BadTests
from afterword.evaluators.function_tests.source import parse, walk
from afterword.evaluators.function_tests.suite import Suite

_MAX_TEXTS = 500
_MAX_TEXT_CHARS = 400
_MAX_SOURCE_CHARS = 20_000
_LEAST_INPUT_CHARS = 8
"""A shorter input, such as `[]` or `-1`, anybody tries by himself."""
_CANDIDATE = "candidate"
"""What HumanEval's tests call the program."""


def check_texts(suite: Suite) -> tuple[str, ...]:
    """Texts that would give the suite's checks away; of a very large one only a part."""
    texts = [*_names(suite), *_of_rows(suite)]
    if len(suite.text) <= _MAX_SOURCE_CHARS:
        texts += _of_source(suite)
    return tuple(dict.fromkeys(text for text in texts if len(text) <= _MAX_TEXT_CHARS))[:_MAX_TEXTS]


def _names(suite: Suite) -> Iterator[str]:
    for check_id in suite.check_ids:
        yield check_id
        yield check_id.partition("[")[0].rpartition("::")[2]


def _of_rows(suite: Suite) -> Iterator[str]:
    for row in suite.program.rows[:_MAX_TEXTS]:
        text = _named(suite, row.text.removeprefix("assert "))
        yield text
        call = text.partition(" == ")[0].partition(" raises ")[0]
        if call.startswith(f"{suite.entry_point}(") and len(call) - len(suite.entry_point) - 2 >= _LEAST_INPUT_CHARS:
            yield call


def _of_source(suite: Suite) -> Iterator[str]:
    try:
        tree = parse(suite.text, suite.file)
    except BadTests:
        return  # such a suite judges nothing either
    called = {suite.entry_point, _CANDIDATE}
    for node in walk(tree):
        if isinstance(node, ast.Assert):
            yield _as_of(suite, node.test)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in called:
            arguments = ", ".join(map(ast.unparse, [*node.args, *(keyword.value for keyword in node.keywords)]))
            if len(arguments) >= _LEAST_INPUT_CHARS:
                yield _as_of(suite, node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize") and len(node.args) > 1:
            rows = getattr(node.args[1], "elts", [])
            yield from (text for row in rows if len(text := ast.unparse(row)) >= _LEAST_INPUT_CHARS)


def _as_of(suite: Suite, node: ast.expr) -> str:
    return _named(suite, cut_end(ast.unparse(node), _MAX_TEXT_CHARS + 1))


def _named(suite: Suite, text: str) -> str:
    """A text of the tests, with the program under its own name."""
    return text.replace(f"{_CANDIDATE}(", f"{suite.entry_point}(")
