"""The shape of a lesson: each problem on texts that have it and on texts that do not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.reflectors.shape import (
    EXPLANATIONS,
    Material,
    Problem,
    check_shape,
    count_tokens,
    find_evidence,
    holds_code,
    is_generic,
    longest_common_run,
    restates_task,
    sentences,
)

REPORT = (
    "test_repeated_unit: assert raises(ValueError)\n"
    "parse_duration('1h1h') returned 7200\n"
    'File "solution.py", line 4, in parse_duration\nIndexError: list index out of range\n'
    "lesson: all tests pass"
)
CODE = (
    "import re\n\ndef parse_duration(s):\n    total = 0\n    for n, u in re.findall(r'(\\d+)([hms])', s):\n"
    "        total += 1\n    return total\n"
)
MATERIAL = Material(
    instructions="Write parse_duration, which turns a text such as '1h30m' or '45s' into a number of whole seconds.",
    sources=(REPORT, CODE),
    check_ids=("test_repeated_unit", "test_bare[5]", "test_hours"),
    common_names=frozenset({"parse_duration"}),
)
GOOD = (
    "`test_repeated_unit` failed: `parse_duration('1h1h')` returned 7200 and no ValueError. I added up every match and "
    "kept no record of the units that I had seen. I will keep a set of units and raise ValueError on the second `h`."
)


def test_good_lesson_has_no_problem() -> None:
    assert check_shape(GOOD, MATERIAL) == ()


def test_every_problem_is_explained() -> None:
    assert set(EXPLANATIONS) == set(Problem)


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_empty(text: str) -> None:
    assert check_shape(text, MATERIAL) == (Problem.EMPTY,)


def test_cut() -> None:
    assert check_shape(GOOD, MATERIAL, cut=True) == (Problem.CUT,)


def test_five_sentences_are_too_long() -> None:
    assert check_shape(f"{GOOD} I know. I will.", MATERIAL) == (Problem.TOO_LONG,)


def test_long_sentences_are_too_long() -> None:
    assert check_shape(GOOD[:-1] + " and then some more" * 40 + ".", MATERIAL) == (Problem.TOO_LONG,)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I failed. I will do it.", 2),
        ("`f('a. B. C')` failed. I will.", 2),
        ('It said "No. Stop! Really? Yes." I will.', 2),
        ("I split, e.g. On commas, i.e. In parts. I will not.", 2),
        ("I got 3.5 and not 3.25. I will round.", 2),
        ("It failed! Why? I forgot it.", 3),
        ("no capital. at all", 1),
        ("One\nline", 1),
        ("I use `s.strip()`. `x` is next.", 2),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_sentences_lose_no_text() -> None:
    assert " ".join(sentences(GOOD)) == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "I will write:\n```python\nx = 1\n```",
        "I will write:\n~~~\nx\n~~~",
        "I will write\ndef parse_duration(s):\n    return 1",
        "I will use\nimport re",
        "I will use\nfrom re import findall",
        "I will write\nfor n in s:\nand so on",
        "I will write\ntotal = total + 1",
        "I will write\n    total += n * 60",
        "I will write\nreturn total * 60",
        "I will add\nassert total == 3",
        "I will write `def parse_duration(s): return 1`.",
        "I will add `import collections`.",
        "I will write `a = 1; b = 2`.",
    ],
)
def test_code_is_found(text: str) -> None:
    assert holds_code(text, MATERIAL)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "I will compare `len(parts) == 0` with `total + 1`.",
        "I will return the total only if something matched.",
        "For each unit I will look into the set: if it is there, I raise.",
        "I quote `import re` from my program.",
        "I will call `sorted(parts, key=len)`.",
        "If the text is empty, I will raise a ValueError.",
        "I will assert nothing.\nReturn values were fine.",
        "The class of inputs (bare integers) was missing.",
    ],
)
def test_names_and_expressions_are_no_code(text: str) -> None:
    assert not holds_code(text, MATERIAL)


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("test_repeated_unit failed.", "test_repeated_unit"),
        ("The check `test_bare[5]` failed.", "test_bare[5]"),
        ("I got `returned 7200`.", "returned 7200"),
        ("It gave 7200 seconds.", "7200"),
        ("parse_duration('1h1h') was accepted.", "parse_duration('1h1h')"),
        ("It ended in IndexError.", "IndexError"),
        ('It said "list index out of range".', "list index out of range"),
        ("It says list index out  of range there.", "list index out  of range"),
        ("My loop has `total += 1`.", "total += 1"),
    ],
)
def test_evidence_is_found(text: str, evidence: str) -> None:
    assert find_evidence(text, MATERIAL) == evidence


@pytest.mark.parametrize(
    "text",
    [
        "I should be more careful with edge cases.",
        "`parse_duration` is wrong.",
        "test_repeated failed.",
        "test_repeated_units failed.",
        "It raised a KeyError.",
        "It returned 42.",
        "I have trial 1 and 7 lessons.",
        "The `re` was wrong.",
        "I quote `something else`.",
    ],
)
def test_no_evidence(text: str) -> None:
    assert find_evidence(text, MATERIAL) == ""


@pytest.mark.parametrize(
    "text",
    [
        "I should be more careful.",
        "Next time I will be more careful with edge cases.",
        "I failed test_hours. I will make sure that my program handles all cases correctly.",
        "I will double-check everything and pay attention.",
        "I must test my code more thoroughly. I should review the requirements.",
        "I need to improve my solution.",
    ],
)
def test_generic(text: str) -> None:
    assert is_generic(text)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "I will ensure that `total` starts at -1.",
        "I will handle the edge case of '1h1h' by a set of seen units.",
        "I should be careful. I will sort the pairs before merging them.",
        "I failed.",
    ],
)
def test_not_generic(text: str) -> None:
    assert not is_generic(text)


@pytest.mark.parametrize(
    "text", ["You should raise ValueError in test_hours.", "The test_hours check needs a change next."]
)
def test_not_in_the_first_person(text: str) -> None:
    assert Problem.NOT_FIRST_PERSON in check_shape(text, MATERIAL)


@pytest.mark.parametrize("text", ["I failed test_hours.", "My loop ignored 7200."])
def test_no_change(text: str) -> None:
    assert check_shape(text, MATERIAL) == (Problem.NO_CHANGE,)


def test_restated_task() -> None:
    text = "I will turn a text such as '1h30m' or '45s' into a number of whole seconds."
    assert restates_task(text, MATERIAL)
    assert not restates_task(GOOD, MATERIAL)


def test_a_long_passage_of_a_worked_example_is_found() -> None:
    example = "I took the country of the building for that of its architect, and the question asks where he was born."
    material = replace(MATERIAL, examples=(example,))
    copied = "In test_hours I took the country of the building for that of its architect. I will sum."
    assert check_shape(copied, material) == (Problem.FROM_EXAMPLE,)
    assert check_shape(copied, MATERIAL) == ()
    own = "In test_hours I took the country of the text for that of its unit. I will sum."
    assert check_shape(own, material) == ()


def test_output_that_calls_itself_a_lesson_is_not_followed() -> None:
    text = "All tests pass. I will keep test_hours."
    assert check_shape(text, MATERIAL) == (Problem.FALSE_CLAIM,)


def test_common_run_needs_whole_words() -> None:
    assert longest_common_run("one two three four", "none two three fours", at_least=2) == "two three"
    assert longest_common_run("one", "one", at_least=2) == ""


def test_tokens_grow_with_words_and_signs() -> None:
    assert count_tokens("a b") == 2
    assert count_tokens("extraordinarily") == 3
    assert count_tokens("f(x)") == 4


@given(st.text(max_size=400))
def test_any_text_has_a_verdict(text: str) -> None:
    problems = check_shape(text, MATERIAL)
    assert (problems == (Problem.EMPTY,)) == (not text.strip())


@given(st.text(alphabet="`'\"“”.!? \nIaA()=:0_", max_size=200))
def test_sentences_of_any_text_keep_its_words(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
