"""The lines of a test file that say what is expected."""

from __future__ import annotations

import pytest

from afterword.evaluators.assertion_lines import assertion_lines


@pytest.mark.parametrize(
    "line",
    [
        "assert half(4) == 2",
        "self.assertEqual(half(4), 2)",
        "assert_eq!(half(4), 2);",
        "assert!(half(4) == 2);",
        "assert.strictEqual(half(4), 2);",
        "expect(half(4)).toBe(2);",
        "half(4).should.equal(2)",
    ],
)
def test_an_expectation_is_found_in_any_language(line: str) -> None:
    assert assertion_lines(f"import x\n\n    {line}\nfn main() {{}}\n") == (line,)


def test_other_lines_and_endless_ones_are_left_out() -> None:
    assert assertion_lines("x = half(4)\n" + "assert " + "x" * 1_000) == ()
    assert len(assertion_lines("assert x\n" * 9_000)) == 500
