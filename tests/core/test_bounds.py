"""Cutting and quoting text that enters a prompt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afterword.core.bounds import cut, fence, quote_untrusted


def test_short_text_is_kept() -> None:
    assert cut("abc", 3) == "abc"


def test_cut_leaves_a_visible_mark_with_the_count() -> None:
    assert cut("a" * 2_000 + "b", 766) == "a" * 510 + "[… 1,235 characters cut …]" + "a" * 255 + "b"


def test_cut_text_of_lines_gets_the_mark_on_a_line_of_its_own() -> None:
    assert cut("ab\ncdefghi", 3) == "ab\n[… 7 characters cut …]\ni"


@given(st.text(max_size=300), st.integers(0, 100))
def test_cut_is_bounded(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= max(limit + 40, limit)


@given(st.text())
def test_every_quoted_line_has_its_bar(text: str) -> None:
    assert all(line.startswith("| ") for line in quote_untrusted(text).splitlines())


@given(st.text(alphabet="`a\n", max_size=60))
def test_fence_is_longer_than_any_inside(code: str) -> None:
    lines = fence(code, "python").split("\n")
    mark = lines[-1]
    assert lines[0] == f"{mark}python"
    assert all(mark not in line for line in lines[1:-1])


def test_fenced_code_is_unchanged() -> None:
    assert fence("x = 1\n", "python") == "```python\nx = 1\n```"
    assert fence("x = 1") == "```\nx = 1\n```"
