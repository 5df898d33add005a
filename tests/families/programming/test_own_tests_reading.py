"""What becomes a test of a model's reply: plain asserts on the entry point and nothing else, whatever is tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.families.programming.own_tests import read_test, read_tests
from afterword.families.programming.own_tests.plain import MAX_CHARS, parse_plain

FENCED = """Here are the tests:

```python
# the empty list
assert total([]) == 0

# two lines
# of description
assert total([1, 2]) == 3, "adds"
assert total([5]) == 5  # a single number
```

I hope they help!
"""


def texts(reply: str, *, cut: bool = False) -> list[str]:
    return [test.text for test in read_tests(reply, "total", cut=cut)]


def test_fenced_block_with_descriptions() -> None:
    assert [(test.text, test.description) for test in read_tests(FENCED, "total")] == [
        ("assert total([]) == 0", "the empty list"),
        ("assert total([1, 2]) == 3", "two lines of description"),
        ("assert total([5]) == 5", "a single number"),
    ]


REPLIES = {
    "without a fence": "assert total([1]) == 1\nassert total([2]) == 2",
    "in test functions": "def test_one():\n    assert total([1]) == 1\n\ndef test_two():\n    assert total([2]) == 2\n",
    "in a list": "1. `assert total([1]) == 1` is one\n- assert total([2]) == 2\n",
    "quoted": "> assert total([1]) == 1\n> assert total([2]) == 2\n",
    "with windows line ends": "assert total([1]) == 1\r\nassert total([2]) == 2\r\n",
    "after thoughts": "<think>assert total([3]) == 9</think>\nassert total([1]) == 1\nassert total([2]) == 2",
    "among code": "x = 3\nassert total([1]) == 1\nprint(total(x))\nassert total([2]) == 2\nassert total(x) == 2",
    "in parentheses": "assert(total([1]) == 1)\nassert (total([2]) == 2)",
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
def test_tests_are_found(reply: str) -> None:
    assert texts(reply) == ["assert total([1]) == 1", "assert total([2]) == 2"]


def test_test_over_several_lines_becomes_one_line() -> None:
    assert texts("assert total([\n    1,\n    2,\n]) == 3\nassert total([4]) == 4") == [
        "assert total([1, 2]) == 3",
        "assert total([4]) == 4",
    ]


def test_name_of_the_test_function_is_the_description() -> None:
    (test,) = read_tests("def test_empty_list():\n    assert total([]) == 0\n", "total")
    assert test.description == "empty list"


def test_hash_in_a_string_is_no_comment() -> None:
    (test,) = read_tests("assert total('#1') == '#'  # hash", "total")
    assert (test.text, test.description) == ("assert total('#1') == '#'", "hash")


def test_test_at_the_cut_end_is_left_out() -> None:
    reply = "```python\nassert total([1]) == 1\nassert total([100]) == 10"
    assert texts(reply, cut=True) == ["assert total([1]) == 1"]
    assert len(texts(reply)) == 2


def test_line_end_inside_a_string_stays_a_part_of_it() -> None:
    assert texts("assert total('a\u2028b') == 2") == ["assert total('a\\u2028b') == 2"]


def test_bracket_that_is_never_closed_takes_nothing_along() -> None:
    assert texts("assert total([1, 2 == 3\nassert total([1]) == 1") == ["assert total([1]) == 1"]


PLAIN = [
    "assert total([1, 2]) == 3",
    "assert not total([])",
    "assert total([1]) is True",
    "assert sorted(total([2, 1])) == [1, 2]",
    "assert abs(total([0.5]) - 0.5) < 1e-6",
    "assert math.isclose(total([1]), 1.0)",
    "assert all(total([n]) == n for n in range(3))",
    "assert total(key=lambda v: -v) == 1",
    "assert total('f') == 't'",
    "assert total([1]).upper() == 'A'",
]
NOT_PLAIN = {
    "nothing of the program": "assert 1 + 1 == 2",
    "only its name": "assert callable(total)",
    "another function": "assert sum([1]) == 1",
    "a variable": "assert total(x) == 1",
    "a module": "assert os.system('true') or total([1])",
    "an import": "assert __import__('os') and total([1])",
    "a private attribute": "assert total.__globals__ and total([1])",
    "open": "assert open('/etc/passwd') and total([1])",
    "exec": "assert exec('x = 1') or total([1])",
    "always true": "assert (total([1]) == 2, 'wrong')",
    "a walrus": "assert (y := total([1])) == 1",
    "a shadowed name": "assert [total(1) for total in [len]]",
    "a formatted string": "assert total(f'{1}') == 1",
    "two statements": "assert total([1]) == 1; import os",
    "no assert": "total([1]) == 1",
    "no syntax": "assert total([1]) == ",
    "NUL": "assert total('\0') == 1",
    "half a character": "assert total('\ud800') == 1",
    "too long": f"assert total({'1' * MAX_CHARS}) == 1",
    "too deep": f"assert total({'[' * 30}{']' * 30}) == 1",
    "too many signs": f"assert total({'-' * 50}1) == 1",
    "too many attributes": f"assert total(1){'.a' * 80} == 1",
    "yield": "assert (yield total([1]))",
}


@pytest.mark.parametrize("text", PLAIN)
def test_plain_assert_is_kept_as_it_is(text: str) -> None:
    test = read_test(text, "total")
    assert test is not None
    assert test.text == text


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_anything_else_is_dropped(text: str) -> None:
    assert read_test(text, "total") is None


PARTS = [
    "(",
    "[",
    "{",
    "f(",
    "-",
    "not ",
    "lambda:",
    'f"{',
    "a if b else ",
    "**",
    "{a:",
    "a<",
    "a or ",
    "'''",
    "\\\n",
    "x.",
]


@pytest.mark.parametrize("part", PARTS)
def test_text_made_to_hurt_a_parser_does_not(part: str) -> None:
    for count in (1, 19, 21, 100, 400):
        for end in ("", ")", " 1", "\n"):
            text = f"assert total(1) == {part * count}"[: MAX_CHARS - 2] + end
            test = read_test(text, "total")  # to come back at all is what is tested
            assert test is None or test.text.startswith("assert total(1) == ")


@given(st.text(alphabet="assert total()[]{}'\"\\\n#`=,:1f-.*", max_size=300))
def test_no_reply_raises_and_what_is_kept_is_plain(text: str) -> None:
    for reply in (text, f"assert total({text}"):
        for test in read_tests(reply, "total"):
            assert parse_plain(test.text, "total") is not None
            assert "\n" not in test.text
            assert read_test(test.text, "total") is not None
