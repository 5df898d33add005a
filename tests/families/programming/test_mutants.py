"""Mutants: one small change each, none of them twice, none where no test could notice it."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.errors import InputError
from afterword.families.programming.mutants import MAX_CHARS, Mutant, mutants

ALL = 10_000


def changes(source: str) -> list[str]:
    return [mutant.description for mutant in mutants(source, seed=0, limit=ALL)]


@pytest.mark.parametrize(
    ("source", "description"),
    [
        ("def f(a, b): return a < b", "`a < b` → `a <= b`"),
        ("def f(a, b): return a < b", "`a < b` → `a >= b`"),
        ("def f(a, b): return a == b", "`a == b` → `a != b`"),
        ("def f(a, b): return a in b", "`a in b` → `a not in b`"),
        ("def f(a, b): return a < b < 3", "`a < b < 3` → `a < b <= 3`"),
        ("def f(a, b): return a + b", "`a + b` → `a - b`"),
        ("def f(a, b): return a // b", "`a // b` → `a * b`"),
        ("def f(a, b): return a and b", "`a and b` → `a or b`"),
        ("def f(a): return not a", "`not a` → `a`"),
        ("def f(a): return -a", "`-a` → `a`"),
        ("def f(a): return a[1:]", "`1:` → `2:`"),
        ("def f(a, b): return a[b:]", "`b` → `b + 1`"),
        ("def f(a):\n    if a.x: return 1\n    else: return 2", "`a.x` → `not a.x`"),
        ("def f(a):\n    if a < 0:\n        raise ValueError(a)\n    return a", "the guard `if a < 0` removed"),
        ("def f(a):\n    a.sort()\n    return a", "`a.sort()` removed"),
        ("def f(a):\n    a[0] = 1\n    return a", "`a[0] = 1` removed"),
        ("def f(a):\n    a += 2\n    return a", "`a += 2` removed"),
        ("def f(a):\n    a += 2\n    return a", "`a += 2` → `a -= 2`"),
        ("def f(a):\n    a += 2\n    return a", "`a += 2` → `a += 3`"),
        ("def f(a): return a", "`return a` → `return`"),
        ("def f(n): return list(range(n))", "`range(n)` → `range(n - 1)`"),
        ("def f(n): return list(range(0, n))", "`range(0, n)` → `range(1, n)`"),
        ("def f(a, b): return divmod(a, b)", "`divmod(a, b)` → `divmod(b, a)`"),
        ("def f(a): return max(a)", "`max(a)` → `min(a)`"),
        ("def f(a): return sorted(a)", "`sorted(a)` → `a`"),
        ("def f(a): return a.strip().split()", "`a.strip()` → `a`"),
        ("def f(a): return [x for x in a if x > 0]", "`x > 0` → `True`"),
        ("def f(a):\n    for x in a:\n        if x: continue\n        break", "`break` removed"),
        ("LIMIT = 5\ndef f(): return LIMIT", "`5` → `6`"),
        ("def f(a=True): return a", "`True` → `False`"),
        ("def f(): return ''", "`''` → `'x'`"),
        ("class A:\n    def m(self, a):\n        return a * 2", "`a * 2` → `a + 2`"),
    ],
)
def test_each_kind_of_change(source: str, description: str) -> None:
    assert description in changes(source)


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """What 1 + 1 is."""',
        "def f(a: 'int' = None) -> 'str': pass",
        "import a.b\nfrom c import d",
        "if __name__ == '__main__':\n    print(1 + 1)",
        "def f():\n    raise ValueError('less than 1')",
        "@cache(1)\ndef f(): pass",
        "def f():\n    print('x', 1)",
        "while True:\n    pass",
        "def f(): return None",
        "x = f'{a!r:>10}'",
    ],
)
def test_what_no_test_can_notice_is_left_alone(source: str) -> None:
    assert changes(source) == []


def test_adding_texts_is_not_turned_into_subtracting_them() -> None:
    assert "`'a' + b` → `'a' - b`" not in changes("def f(b): return 'a' + b")


SOURCE = """
def classify(n, low=0, high=10):
    if n < low or n > high:
        raise ValueError(n)
    total = 0
    for i in range(low, n + 1):
        if i % 2 == 0 and i != 4:
            total += i
    return total, [x for x in range(n) if x]
"""


def test_a_mutant_differs_in_one_place_and_names_its_line() -> None:
    lines = ast.unparse(ast.parse(SOURCE)).split("\n")
    for mutant in mutants(SOURCE, seed=0, limit=ALL):
        other = mutant.source.rstrip("\n").split("\n")
        common = min(len(lines), len(other))
        first = next((at for at in range(common) if lines[at] != other[at]), common)
        assert first == mutant.line - 2, mutant  # the source begins with an empty line


def test_no_mutant_comes_twice_and_none_equals_the_program() -> None:
    found = mutants(SOURCE, seed=0, limit=ALL)
    forms = {ast.dump(ast.parse(mutant.source)) for mutant in found}
    assert len(forms) == len(found) > 30
    assert ast.dump(ast.parse(SOURCE)) not in forms


def test_the_seed_chooses_and_the_same_seed_chooses_alike() -> None:
    one, again, other = (mutants(SOURCE, seed=seed, limit=8) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert len(one) == len(other) == 8


def test_every_kind_gets_its_turn_before_a_table_of_constants() -> None:
    table = "T = [" + ", ".join(str(number) for number in range(300)) + "]\n"
    found = mutants(table + "def f(a): return a < 3 and T[a] + 1", seed=0, limit=6)
    assert any(re.search("and|or", mutant.description) for mutant in found)
    assert any("<=" in mutant.description or ">=" in mutant.description for mutant in found)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_there_are_no_more_than_asked_for(limit: int) -> None:
    assert len(mutants(SOURCE, seed=0, limit=limit)) == limit


def test_mutants_are_in_the_order_of_their_lines() -> None:
    lines = [mutant.line for mutant in mutants(SOURCE, seed=3, limit=12)]
    assert lines == sorted(lines)


def test_a_mutant_is_a_plain_record() -> None:
    assert mutants("x = True", seed=0, limit=1) == (Mutant("x = False\n", 1, "`True` → `False`"),)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:\n", "does not compile"),
        ("x = 1\ny = (\n", "does not compile"),
        ("\0", "does not compile"),
        ("x = " + "1" * 5_000, "does not compile"),
        ("#" * (MAX_CHARS + 1), "at most 50,000 characters"),
        ("(" * 200 + ")" * 200, "nested more than"),
        ("x = " + "-" * 500 + "1", "nested more than"),
        ("x = " + "not " * 500 + "1", "nested more than"),
        ("x = " + "lambda: " * 500 + "1", "nested more than"),
        ("1+" * 20_000 + "1", "does not compile|nested"),
        ("x" + ".a" * 20_000, "does not compile|nested"),
        ("f" + "()" * 20_000, "does not compile|nested"),
        ("x = " + "a if b else " * 4_000 + "c", "does not compile|nested"),
        ("if a: pass\n" + "elif a: pass\n" * 3_000, "does not compile|nested"),
        ("x = " + "+".join(["1"] * 400), "nested"),
    ],
)
def test_hostile_text_is_refused(source: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        mutants(source, seed=0, limit=3)


def test_a_syntax_error_has_its_line() -> None:
    with pytest.raises(InputError) as caught:
        mutants("x = 1\ny = = 2\n", seed=0, limit=1)
    assert caught.value.line == 2


def test_a_long_chain_of_comparisons_is_changed_in_bounded_time() -> None:
    assert len(mutants("x = " + "a < " * 5_000 + "b", seed=0, limit=5)) == 5


@given(st.text(alphabet="ab01 +-*<>=()[]:,.\n\t'\"ifdefreturnlambda", max_size=80))
def test_any_text_gives_mutants_that_compile_or_is_refused(source: str) -> None:
    try:
        found = mutants(source, seed=0, limit=10)
    except InputError:
        return
    for mutant in found:
        assert isinstance(ast.parse(mutant.source), ast.Module)
