"""Values as bounded text, whatever they are."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.evaluators.judge.connection import Connection
from afterword.evaluators.judge.display import cut, difference, show, show_error

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(plain)
def test_short_values_read_as_python_writes_them(value: object) -> None:
    assert show(value) == repr(value)


@given(plain, st.integers(1, 30))
def test_a_text_is_never_longer_than_its_limit_and_a_mark(value: object, limit: int) -> None:
    text = show(value, limit)
    assert len(text) <= limit + len("[… cut …]")
    assert text == repr(value) or text.endswith("[… cut …]")


@pytest.mark.parametrize(
    "value",
    [[0] * 10**6, "x" * 10**7, {n: n for n in range(10**5)}, b"\0" * 10**6, 1 << 10**7, -(1 << 10**6)],
    ids=["list", "text", "dict", "bytes", "integer", "negative integer"],
)
def test_long_values_are_cut_without_being_built(value: object) -> None:
    assert len(show(value, 200)) < 220


@pytest.mark.parametrize("value", [set(), frozenset(), {1}, frozenset({1}), (1,), [], {}])
def test_empty_and_single_containers(value: object) -> None:
    assert show(value) == repr(value)


def test_deep_values_end() -> None:
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    assert len(show(deep)) < 2_100


class _NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError


def test_a_repr_that_raises_is_told() -> None:
    assert show([_NoRepr()]) == "[<_NoRepr object whose repr raises RuntimeError>]"


def test_a_cut_says_how_much_is_missing() -> None:
    assert cut("x" * 1_500, 100) == "x" * 100 + "[… 1,400 characters cut …]"
    assert cut("short", 100) == "short"


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ([1, 2, 3, 4, 5], [1, 2, 0, 4, 5], "first difference at index 2: 3 and 0"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4], "lengths differ: 5 and 4"),
        ("abcdefgh", "abcdxfgh", "first difference at index 4: 'e' and 'x'"),
        ({n: n for n in range(4)}, {**{n: n for n in range(4)}, 2: 9}, "they differ at key 2: 2 and 9"),
        ({n: n for n in range(5)}, {n: n for n in range(4)}, "only one side has the key 4"),
        ([1], [2], None),
        (1, 2, None),
    ],
)
def test_where_two_values_differ(left: object, right: object, found: str | None) -> None:
    assert difference(left, right) == found


def test_an_error_without_text_is_its_class() -> None:
    assert show_error(KeyError()) == "KeyError"
    assert show_error(ValueError("x" * 900)).endswith("[… 412 characters cut …]")


@given(plain)
def test_the_wire_gives_back_what_it_took(value: object) -> None:
    one, other = socket.socketpair()
    with one, other:
        connection = Connection(one)
        back = connection.received(connection.encode(value))
    assert back == value
    assert type(back) is type(value)
