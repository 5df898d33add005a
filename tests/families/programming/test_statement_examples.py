"""Statements as people paste them: their examples become checks, or are refused with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite
from afterword.evaluators.judge.program import Row
from afterword.families.programming.examples_in_statement import examples_suite

NOWHERE = Path("task.toml")


def rows(statement: str, entry_point: str = "f", signature: str | None = None) -> tuple[Row, ...]:
    return suite_of(statement, entry_point, signature).program.rows


def suite_of(statement: str, entry_point: str = "f", signature: str | None = None) -> Suite:
    suite = examples_suite(statement, entry_point, signature, NOWHERE)
    assert suite is not None
    return suite


TWO_SUM = """\
Given an array of integers `nums` and an integer `target`, return indices of the two numbers.
The input is never empty. Output format does not matter.

Example 1:

Input: nums = [2,7,11,15], target = 9
Output: [0,1]
Explanation: Because nums[0] + nums[1] == 9, we return [0, 1].

Example 2:

Input: nums = [3,2,4], target = 6
Output: [1,2]

Constraints:

2 <= nums.length <= 10^4
"""


def test_blocks_of_input_and_output_become_cases() -> None:
    assert suite_of(TWO_SUM).check_ids == ("case:1", "case:2")
    first, second = rows(TWO_SUM)
    assert (first.args, first.expected) == (([2, 7, 11, 15], 9), [0, 1])
    assert (second.args, second.expected) == (([3, 2, 4], 6), [1, 2])


@pytest.mark.parametrize(
    ("block", "args", "expected"),
    [
        ('**Input:** s = "ab"\n**Output:** true', ["ab"], True),
        ("> Input: root = [1,null,2]\n> Output: null", [[1, None, 2]], None),
        ("Input:\nx = -1, y = 2.5\nOutput:\n[]", [-1, 2.5], []),
        ('Input: s = "a" Output: 3', ["a"], 3),
        ("Input: grid = [\n  [1, 2],\n  [3, 4]\n]\nOutput: 10", [[[1, 2], [3, 4]]], 10),
        ("`Input: s = \u201ca, b = c\u201d`\n`Output: \u22121`", ["a, b = c"], -1),
        ("Input\nn = 1\nOutput\n2\nExplanation\nOne and one.", [1], 2),
    ],
)
def test_blocks_in_the_forms_they_are_pasted_in(block: str, args: list[object], expected: object) -> None:
    (row,) = rows(f"Do it.\n\nExample:\n{block}\n\nMore text.")
    assert (list(row.args), row.expected) == (args, expected)


def test_arguments_are_in_the_order_of_the_signature() -> None:
    statement = "Input: k = 2, nums = [1]\nOutput: 0"
    (row,) = rows(statement, signature="def f(nums: list[int], k: int = 3) -> int:")
    assert row.args == ([1], 2)


def test_floats_of_a_block_may_differ_a_little() -> None:
    (row,) = rows("Input: x = 2.0, n = -2\nOutput: 0.25000")
    assert (row.expected, row.tolerance) == (0.25, 1e-5)


def test_a_session_becomes_cases() -> None:
    statement = """Adds.

    >>> f(1, 2)
    3
    >>> f([1, 2],
    ...   key="x")
    {'x': [1, 2]}
    >>> f("")
    Traceback (most recent call last):
        ...
    ValueError: empty
    """
    one, two, three = rows(statement)
    assert (one.args, one.expected) == ((1, 2), 3)
    assert (two.args, two.kwargs, two.expected) == (([1, 2],), {"key": "x"}, {"x": [1, 2]})
    assert (three.args, three.how, three.expected) == (("",), "raises", "ValueError")


def test_a_session_with_more_than_calls_becomes_tests() -> None:
    suite = suite_of(">>> sorted(f([3]))\n[1, 2]\n>>> f((1, 2))\n(2, 1)\n>>> f(0)\nTraceback:\nmod.KeyError: 0\n")
    assert suite.check_ids == ("test_example_1", "test_example_2", "test_example_3")
    assert "assert sorted(f([3])) == [1, 2]" in suite.text
    assert "assert f((1, 2)) == (2, 1)" in suite.text
    assert "with pytest.raises(KeyError):\n        f(0)" in suite.text


def test_lines_of_a_session_that_do_not_use_the_program_are_left() -> None:
    (row,) = rows(">>> import math\n>>> 1 + 1\n2\n>>> f(1)\n1\n")
    assert row.args == (1,)


LEETCODE = "class Solution:\n    def twoSum(self, nums: List[int], target: int) -> List[int]:"


def test_the_method_of_a_solution_class_is_called() -> None:
    suite = suite_of(TWO_SUM, "Solution", LEETCODE)
    assert suite.check_ids == ("test_example_1", "test_example_2")
    assert "assert Solution().twoSum([2, 7, 11, 15], 9) == [0, 1]" in suite.text


def test_floats_of_a_method_are_approximate() -> None:
    suite = suite_of("Input: x = 1\nOutput: 0.5", "Solution", "class Solution:\n    def half(self, x):")
    assert "== pytest.approx(0.5, abs=1e-05)" in suite.text


@pytest.mark.parametrize(
    "statement",
    [
        "No examples here.",
        "Input: an integer n.\nOutput: its square.",
        "Input and output: as in the file.",
        "Output: [1, 2]\n",
        "Input: n = 5\n\nand nothing else",
        ">>> print(1)\n1",
        ">>> f(1)\n",
    ],
)
def test_prose_is_no_example(statement: str) -> None:
    assert examples_suite(statement, "f", None, NOWHERE) is None


@pytest.mark.parametrize(
    ("statement", "line", "said"),
    [
        ("a\nInput: nums = [1,2]\nOutput: 2, nums = [1,2,_]", 2, "is no plain value"),
        ("a\nb\nInput: n = five\nOutput: 5", 3, "'five' is no plain value"),
        ("Input: n = 5, 6\nOutput: 5", 1, "no plain value"),
        ('Input: s = "abc\nOutput: 5', 1, "no plain value"),
        ("Input: s = 1\nOutput: impossible", 1, "'impossible' is no plain value"),
        (f"Input: s = {'[' * 50}{']' * 50}\nOutput: 1", 1, "nested too deeply"),
        (f"Input: s = {'9' * 30_000}\nOutput: 1", 1, "too long"),
        (">>> f(1)\n<object at 0x1>", 1, "no plain value"),
        ("x\n>>> f(1)\nTraceback (most recent call last):\n  ...", 2, "does not end with an exception"),
    ],
)
def test_an_example_that_cannot_be_read_is_refused_with_its_line(
    tmp_path: Path, statement: str, line: int, said: str
) -> None:
    file = tmp_path / "task.toml"
    file.write_text(f'id = "x"\ninstructions = """\n{statement}"""\n')
    with pytest.raises(InputError) as refused:
        examples_suite(statement, "f", None, file)
    assert said in str(refused.value)
    assert refused.value.line == line + 2


def test_trees_and_lists_of_nodes_are_refused() -> None:
    signature = "class Solution:\n    def depth(self, root: Optional[TreeNode]) -> int:"
    with pytest.raises(InputError, match="TreeNode objects"):
        examples_suite("Input: root = [1]\nOutput: 1", "Solution", signature, NOWHERE)
