"""Classes over built-in ones: their own operators count where no expectation is in play, and nowhere else."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

RIGHT = {
    "named_tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int\n    def __add__(s, o): return P(s.x + o.x, s.y + o.y)\n"
        "    def __str__(s): return f'<{s.x},{s.y}>'\ndef f(a, b): return a + b",
        "from solution import P, f\ndef test_f():\n    assert P(1, 2) + P(3, 4) == P(4, 6)\n    assert f(P(1, 2), P(3, 4)) == (4, 6)\n"
        "    assert str(f(P(1, 2), P(3, 4))) == '<4,6>'",
    ),
    "dict": (
        "class Lower(dict):\n    def __setitem__(s, k, v): super().__setitem__(k.lower(), v)\n    def __getitem__(s, k): return super().__getitem__(k.lower())\n"
        "    def __contains__(s, k): return super().__contains__(k.lower())\n    def get(s, k, d=None): return super().get(k.lower(), d)",
        "from solution import Lower\ndef test_f():\n    d = Lower()\n    d['A'] = 1\n    assert d['a'] == 1 and 'A' in d and d.get('A') == 1 and len(d) == 1 and d == {'a': 1}",
    ),
    "missing": (
        "class f(dict):\n    def __missing__(s, k):\n        v = s[k] = k * 2\n        return v",
        "from solution import f\ndef test_f():\n    d = f()\n    assert d['ab'] == 'abab'\n    assert d == {'ab': 'abab'}",
    ),
    "list": (
        "class Twice(list):\n    def append(s, x): super().append(x * 2)\n    def __getitem__(s, i): return super().__getitem__(i % len(s))",
        "from solution import Twice\ndef test_f():\n    d = Twice()\n    d.append(2)\n    assert d == [4] and d[5] == 4",
    ),
    "str": (
        "class Text(str):\n    def __eq__(s, o): return s.lower() == o.lower()\n    def __hash__(s): return hash(s.lower())\n    def upper(s): return 'X'",
        "from solution import Text\ndef test_f():\n    assert Text('Ab') == Text('aB') and Text('a').upper() == 'X' and Text('a') == 'a'",
    ),
    "int": (
        "class Mod(int):\n    def __add__(s, o): return Mod((int(s) + int(o)) % 7)",
        "from solution import Mod\ndef test_f():\n    assert Mod(5) + Mod(4) == Mod(2) == 2",
    ),
    "generator": (
        "log = []\ndef f():\n    try:\n        yield 1\n        yield 2\n    except ValueError as error:\n        yield str(error)\n"
        "    finally:\n        log.append('closed')\ndef closed(): return len(log)",
        "from solution import f, closed\ndef test_f():\n    g = f()\n    next(g)\n    assert g.throw(ValueError('v')) == 'v' and list(g) == []\n"
        "    g = f()\n    next(g)\n    g.close()\n    assert closed() == 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
async def test_right_classes_pass(judges: JudgePool, case: str) -> None:
    source, tests = RIGHT[case]
    feedback = await judges.judge_text(source, tests, tests.split("import ")[1].split("\n")[0].split(",")[0], Limits())
    assert feedback.passed, feedback.message


ALWAYS = (
    "    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = __contains__ = startswith = endswith = issubset = issuperset = lambda s, *o: True\n"
    "    __ne__ = lambda s, o: False\n    __hash__ = lambda s: 1\n    __sub__ = __rsub__ = __add__ = __radd__ = __mod__ = lambda s, o: type(s)()\n"
    "    count = index = lambda s, *o: 1\n    __abs__ = lambda s: 0\n    __round__ = lambda s, *n: 0\n"
)
TESTS = (
    "assert {f} == {e}", "assert {e} == {f}", "assert not {f} != {e}", "assert {e} in {f}", "assert {f} in [{e}]",
    "assert abs({f} - {e}) < 1e-9", "assert {f} <= {e} <= {f}", "assert {f}.startswith({e})", "assert {f}.issubset({e})",
    "assert {e} - {f} == 0", "assert [{f}] == [{e}]", "assert {f} + {e} == {e} + {e}",
)  # fmt: skip
EXPECTED = {
    "int": "5",
    "float": "5.5",
    "str": "'abc'",
    "list": "[1, 2]",
    "tuple": "(1, 2)",
    "set": "{1, 2}",
    "dict": "{1: 2}",
    "object": "5",
}


@pytest.mark.parametrize("base", EXPECTED)
@pytest.mark.parametrize("instead", [False, True])
async def test_a_class_that_agrees_to_everything_passes_nothing(judges: JudgePool, base: str, instead: bool) -> None:
    source = f"class f({base}):\n    def __new__(cls, *a): return {base}.__new__(cls)\n    __init__ = lambda s, *a: None\n{ALWAYS}"
    if not instead:
        source = source.replace("class f", "class C") + "def f(*a): return C()\n"
    checks = [
        f"def test_{number}():\n    {line.format(f='f(2, 3)', e=EXPECTED[base])}" for number, line in enumerate(TESTS)
    ]
    feedback = await judges.judge_text(source, "\n".join(["from solution import f", *checks]), "f", Limits())
    exempt = {"test_8"} if base == "set" else set()  # an empty set is a subset of every set
    assert {check.id for check in feedback.checks if check.passed} <= exempt


async def test_an_array_without_items_is_close_to_no_number(judges: JudgePool) -> None:
    tests = "import pytest\nfrom solution import f\ndef test_f():\n    assert f() == pytest.approx(5.0)"
    feedback = await judges.judge_text("import numpy\ndef f(): return numpy.array([])", tests, "f", Limits())
    assert feedback.reason == "failed"
