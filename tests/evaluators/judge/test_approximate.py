"""`approx`, compared with pytest's own."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.evaluators.judge.approximate import Approx, close_data

numbers = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**6), 10**6) | st.booleans()
near = st.floats(-1e-5, 1e-5)


@given(expected=numbers, offset=near, rel=st.none() | st.floats(0, 1e-3), abs_=st.none() | st.floats(0, 1e-3))
def test_numbers_agree_with_pytest(expected: float, offset: float, rel: float | None, abs_: float | None) -> None:
    actual = expected + offset * (abs(expected) if math.isfinite(expected) else 1)
    ours = Approx(expected, rel=rel, abs=abs_)
    theirs = pytest.approx(expected, rel=rel, abs=abs_)
    assert (actual == ours) == (actual == theirs)


@given(expected=st.lists(numbers, max_size=4), actual=st.lists(numbers, max_size=4))
def test_sequences_agree_with_pytest(expected: list[float], actual: list[float]) -> None:
    assert (actual == Approx(expected)) == (actual == pytest.approx(expected))
    assert (tuple(expected) == Approx(expected)) == (tuple(expected) == pytest.approx(expected))


@given(expected=st.dictionaries(st.text(max_size=1), numbers, max_size=3), key=st.text(max_size=1))
def test_dicts_agree_with_pytest(expected: dict[str, float], key: str) -> None:
    actual = {**expected, key: 1.0}
    assert (actual == Approx(expected)) == (actual == pytest.approx(expected))


@pytest.mark.parametrize("nan_ok", [True, False])
def test_nan(nan_ok: bool) -> None:
    assert (math.nan == Approx(math.nan, nan_ok=nan_ok)) is nan_ok


@pytest.mark.parametrize(("rel", "abs_"), [(-1.0, None), (None, -1.0), (math.nan, None)])
def test_tolerances_must_not_be_negative(rel: float | None, abs_: float | None) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Approx(1, rel=rel, abs=abs_)


@pytest.mark.parametrize(
    ("actual", "expected", "tolerance", "same"),
    [
        ([1.0, {"a": 2.05}], [1.0, {"a": 2.0}], 0.1, True),
        ([1.0, {"a": 2.2}], [1.0, {"a": 2.0}], 0.1, False),
        ([1, 2], [1], 0.1, False),
        ({"a": 1}, {"b": 1}, 0.1, False),
        ("1", 1, 5.0, False),
        (True, 1.05, 0.1, False),
        (None, None, 0.0, True),
        (math.inf, 1.0, 1e300, False),
    ],
)
def test_data_within_a_tolerance(actual: object, expected: object, tolerance: float, same: bool) -> None:
    assert close_data(actual, expected, tolerance) is same
