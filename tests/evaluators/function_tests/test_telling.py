"""What a suite tells the leak audit."""

from __future__ import annotations

from afterword.evaluators.function_tests import Suite
from afterword.evaluators.function_tests.telling import check_texts

TESTS = """
import pytest
from solution import half

def test_even():
    assert half(12345678) == 6172839
    assert half(2) == 1

class TestSigns:
    @pytest.mark.parametrize(("given", "wanted"), [(-12345, -6173), (1, 0)])
    def test_sign(self, given, wanted):
        assert half(given) == wanted

def test_text():
    with pytest.raises(TypeError):
        half("one hundred")
"""


def test_names_assertions_and_inputs_of_a_test_file_are_told() -> None:
    texts = check_texts(Suite.from_source(TESTS, entry_point="half"))
    assert {"test_even", "test_sign", "test_text"} <= set(texts)
    assert {"half(12345678) == 6172839", "half(12345678)", "half('one hundred')", "(-12345, -6173)"} <= set(texts)
    assert not {"half(2)", "(1, 0)"} & set(texts)


def test_cases_are_told_with_their_inputs() -> None:
    rows: list[dict[str, object]] = [
        {"args": [[3, 1, 2]], "expected": [1, 2, 3]},
        {"args": ["ninety-nine"], "raises": "TypeError"},
    ]
    assert check_texts(Suite.from_cases(rows, entry_point="f"))[-4:] == (
        "f([3, 1, 2]) == [1, 2, 3]",
        "f([3, 1, 2])",
        "f('ninety-nine') raises TypeError",
        "f('ninety-nine')",
    )


def test_humanevals_candidate_is_told_under_its_own_name() -> None:
    suite = Suite.from_humaneval("def check(candidate):\n    assert candidate([1, 2, 3, 4]) == 10\n", "total")
    assert "total([1, 2, 3, 4]) == 10" in check_texts(suite)


def test_a_very_large_suite_is_told_in_part() -> None:
    rows: list[dict[str, object]] = [{"args": [number * 1_000_000_007], "expected": 0} for number in range(5_000)]
    assert len(check_texts(Suite.from_cases(rows, entry_point="f"))) == 500
    text = "from solution import f\n" + "\n".join(
        f"def test_{number}(): assert f({number}) == 0" for number in range(900)
    )
    assert all(name.startswith("test_") for name in check_texts(Suite.from_source(text, entry_point="f")))
