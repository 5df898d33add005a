"""Dividing checks into visible and held-out ones."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.errors import InputError
from afterword.evaluators.function_tests import Suite, split


def numbered(count: int) -> Suite:
    return Suite.from_cases([{"expected": n} for n in range(count)], entry_point="f")


@given(count=st.integers(4, 40), share=st.floats(0.001, 0.999), seed=st.integers(0, 1000))
def test_every_check_is_on_one_side_and_both_sides_have_some(count: int, share: float, seed: int) -> None:
    suite = numbered(count)
    visible, held_out = split(suite, share, seed)
    assert visible.check_ids
    assert held_out.check_ids
    assert sorted([*visible.check_ids, *held_out.check_ids]) == sorted(suite.check_ids)
    assert (visible, held_out) == split(suite, share, seed)
    assert abs(len(held_out.check_ids) - share * count) <= 1


def test_another_seed_divides_otherwise() -> None:
    assert len({split(numbered(20), 0.3, seed)[1].check_ids for seed in range(10)}) > 5


def test_fewer_than_4_checks_are_refused() -> None:
    with pytest.raises(InputError, match="needs 4 checks or more, found 3"):
        split(numbered(3), 0.3, 0)


@pytest.mark.parametrize("share", [0, 1, -0.5, 2])
def test_a_share_outside_of_0_and_1_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        split(numbered(5), share, 0)


FOUR = "".join(f"def test_{n}():\n    assert f({n}, DATA) == {n}\n" for n in range(4))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DATA = []\n" + FOUR + "def test_x():\n    DATA.append(1)\n    assert f(1)\n", "DATA is changed by a test"),
        ("DATA = {}\n" + FOUR + "def test_x():\n    DATA['a'] = 1\n    assert f(1)\n", "DATA is changed by a test"),
        ("DATA = 1\n" + FOUR + "def test_x():\n    global DATA\n    DATA = 2\n    assert f(1)\n", "global DATA"),
        ("from solution import f\nDATA = f()\n" + FOUR, "DATA is used by several checks"),
        ("import pytest\nDATA = 1\n" + FOUR + "@pytest.fixture(scope='module')\ndef x(): return 1\n", "lives longer"),
        ("from solution import f\nDATA = 1\ns = f()\nassert s.a() == 1\nassert s.b() == 2\n" + FOUR, "s is used by several"),
    ],
)  # fmt: skip
def test_checks_that_share_state_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match="do not share state") as info:
        split(Suite.from_source(text, entry_point="f"), 0.3, 0)
    assert reason in info.value.message


@pytest.mark.parametrize(
    "text",
    [
        "DATA = [1]\n" + FOUR,
        "DATA = []\n" + FOUR + "def test_x():\n    DATA = []\n    DATA.append(1)\n    assert f(DATA)\n",
        "DATA = 1\n" + FOUR + "def test_x():\n    s = f()\n    s.append(1)\n    assert s\n",
    ],
)
def test_checks_that_stand_alone_are_divided(text: str) -> None:
    visible, held_out = split(Suite.from_source(text, entry_point="f"), 0.3, 0)
    assert len(visible.check_ids) > len(held_out.check_ids)
