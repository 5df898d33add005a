"""Arguments of unusual kinds, and what tests ask of errors and dataclasses: right programs pass."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

RIGHT = {
    "text_file": (
        "import csv\ndef f(file): return list(csv.reader(file))",
        "import io\n    assert f(io.StringIO('a,b\\nc,d')) == [['a', 'b'], ['c', 'd']]",
    ),
    "file_that_is_read": (
        "import json\ndef f(file): return json.load(file)",
        "import io\n    assert f(io.StringIO('[1]')) == [1] and f(io.BytesIO(b'[2]')) == [2]",
    ),
    "file_that_is_written": (
        "def f(file):\n    file.write('a')\n    print('b', file=file)\n    return file.getvalue()",
        "import io\n    out = io.StringIO()\n    assert f(out) == 'ab\\n' == out.getvalue()",
    ),
    "signature_of_a_function": (
        "import inspect\ndef f(g): return [str(p) for p in inspect.signature(g).parameters.values()], g.__code__.co_argcount",
        "def g(a, b=1, *c, d, e=2, **k): pass\n    names, count = f(g)\n    assert [n.split('=')[0] for n in names] == ['a', 'b', '*c', 'd', 'e', '**k'] and count == 2",
    ),
    "curry": (
        "import inspect\ndef f(g):\n    n = len(inspect.signature(g).parameters)\n    def c(*a): return g(*a) if len(a) >= n else lambda *b: c(*a, *b)\n    return c",
        "assert f(lambda a, b, c: a + b + c)(1)(2)(3) == 6 == f(lambda a, b, c: a + b + c)(1, 2)(3)",
    ),
    "cause_of_an_error": (
        "def f(x):\n    try: return 1 / x\n    except ZeroDivisionError as error: raise ValueError('bad') from error",
        "import pytest\n    with pytest.raises(ValueError) as e:\n        f(0)\n    assert isinstance(e.value.__cause__, ZeroDivisionError) and e.value.__cause__.__cause__ is None",
    ),
    "causes_in_a_circle": (
        "def f(x):\n    a, b = ValueError('a'), TypeError('b')\n    a.__cause__, b.__cause__ = b, a\n    raise a",
        "import pytest\n    with pytest.raises(ValueError) as e:\n        f(0)\n    assert isinstance(e.value.__cause__, TypeError)",
    ),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass f:\n    x: int\n    y: int = 0\n    inner: object = None",
        "import dataclasses\n    assert dataclasses.asdict(f(1, 2, f(3))) == {'x': 1, 'y': 2, 'inner': {'x': 3, 'y': 0, 'inner': None}}\n"
        "    assert dataclasses.astuple(f(1, 2)) == (1, 2, None) and dataclasses.replace(f(1, 2), x=5) == f(5, 2)\n"
        "    assert [field.name for field in dataclasses.fields(f)] == ['x', 'y', 'inner'] and dataclasses.is_dataclass(f)",
    ),
    "no_dataclass": (
        "class f:\n    x = 1",
        "import dataclasses, pytest\n    assert not dataclasses.is_dataclass(f) and not dataclasses.is_dataclass(f())\n    with pytest.raises(TypeError):\n        dataclasses.asdict(f())",
    ),
    "function_that_is_taken_out_again": (
        "class f:\n    def __init__(self): self.handlers = []\n    def on(self, h): self.handlers.append(h)\n"
        "    def off(self, h): self.handlers.remove(h)\n    def fire(self): return [h(1) for h in self.handlers]",
        "def one(x): return 'one'\n    class T:\n        def two(self, x): return 'two'\n    t, b, log = T(), f(), []\n"
        "    b.on(one)\n    b.on(t.two)\n    b.on(log.append)\n    b.off(one)\n    assert b.fire() == ['two', None] and log == [1]\n"
        "    b.off(t.two)\n    b.off(log.append)\n    assert b.fire() == []",
    ),
    "default_factory": (
        "from collections import defaultdict\ndef f(): return defaultdict(int, a=1)",
        "d = f()\n    assert d['a'] == 1 and d['b'] == 0 and d == {'a': 1, 'b': 0}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
async def test_a_right_program_passes(judges: JudgePool, case: str) -> None:
    source, test = RIGHT[case]
    feedback = await judges.judge_text(source, f"from solution import f\ndef test_f():\n    {test}", "f", Limits())
    assert feedback.passed, feedback.message


async def test_a_file_of_the_tests_leads_nowhere_else(judges: JudgePool) -> None:
    source = """
def f(file):
    for name in ('__class__', '__init__', '__reduce_ex__', '__getstate__', '__dict__'):
        try:
            if getattr(getattr(file, name), '__self__', file) is not file: return 29
        except AttributeError: pass
    return 0
"""
    tests = "import io\nfrom solution import f\ndef test_f():\n    assert f(io.StringIO('29')) == 29"
    feedback = await judges.judge_text(source, tests, "f", Limits())
    assert feedback.reason == "failed", feedback.message
