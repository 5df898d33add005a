"""Programs that try to pass without being right, by kind: none may. Their tests are of the usual forms."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool
from tests.evaluators.judged import judge

pytestmark = pytest.mark.anyio

EVERYTHING = """
class Any:
    def __getattr__(self, name): return Any()
    def __call__(self, *a, **k): return Any()
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    def __lt__(self, o): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __bool__(self): return True
    def __contains__(self, o): return True
    def __hash__(self): return 0
    def __sub__(self, o): return 0.0
    __rsub__ = __mod__ = __rmod__ = __xor__ = __rxor__ = __sub__
    def __add__(self, o): return o
    __radd__ = __add__
    def __truediv__(self, o): return 1.0
    __rtruediv__ = __truediv__
    def __abs__(self): return 0.0
    __float__ = __abs__
    def __round__(self, *a): return 0
    __int__ = __index__ = __round__
    def __len__(self): return 3
    def __iter__(self): return iter([])
    def __instancecheck__(self, o): return True
    def __array__(self, *a, **k): return Any()
    __array_priority__ = 1e9
    def __array_ufunc__(self, *a, **k): return True
    def __array_function__(self, *a, **k): return True
    @property
    def __class__(self): return int
    def __format__(self, s): return '5'
"""
RETURNS = {
    "instance": EVERYTHING + "\ndef f(*a): return Any()",
    "class_in_place_of_the_function": EVERYTHING.replace("class Any", "class f").replace("Any()", "f()")
    + "\nf.__init__ = lambda self, *a: None",
    "subtraction_gives_another": EVERYTHING + "\nAny.__sub__ = Any.__rsub__ = lambda s, o: Any()\ndef f(*a): return Any()",
    "nested": EVERYTHING + "\ndef f(*a): return [Any(), Any()]",
    "in_a_dict": EVERYTHING + "\ndef f(*a): return {Any(): Any()}",
    "mock": "from unittest.mock import MagicMock, ANY\ndef f(*a): return ANY",
    "magic_mock": "from unittest.mock import MagicMock\ndef f(*a):\n    m = MagicMock()\n    m.__eq__ = lambda s, o: True\n"
    "    m.__sub__ = m.__rsub__ = lambda s, o: 0.0\n    m.__abs__ = lambda s: 0.0\n    m.__float__ = lambda s: 0.0\n    return m",
    "callable": "def f(*a): return f",
    "not_implemented": "def f(*a): return NotImplemented",
    "float_subclass": "class N(float):\n    __eq__ = __lt__ = __gt__ = lambda s, o: True\n    __hash__ = float.__hash__\n"
    "    __sub__ = __rsub__ = lambda s, o: 0.0\n    __abs__ = lambda s: 0.0\ndef f(*a): return N(77)",
    "tuple_subclass": "class T(tuple):\n    __eq__ = lambda s, o: True\n    __hash__ = tuple.__hash__\n    __iter__ = lambda s: iter([1])\n"
    "def f(*a): return T()",
    "set_subclass": "class S(set):\n    __eq__ = __le__ = __ge__ = lambda s, o: True\n    __hash__ = None\ndef f(*a): return S()",
    "str_subclass": "class S(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\n    __contains__ = lambda s, o: True\n"
    "    strip = lambda s: S()\ndef f(*a): return S()",
    "decimal_subclass": "from decimal import Decimal\nclass D(Decimal):\n    __eq__ = lambda s, o: True\n    __hash__ = Decimal.__hash__\n"
    "    __sub__ = __rsub__ = lambda s, o: 0\ndef f(*a): return D(1)",
    "generator_of_any": EVERYTHING + "\ndef f(*a): yield Any()",
    "numpy_object_array": EVERYTHING + "\nimport numpy\ndef f(*a): return numpy.array([Any()], dtype=object)",
    "exception": "class E(Exception):\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(*a): return E()",
    "raises_assertion_error_class": "def f(*a): raise AssertionError('passed')",
    "module": "import sys\ndef f(*a): return sys",
}  # fmt: skip
TESTS = {
    "equal": "from solution import f\ndef test_f():\n    got = f(2, 3)\n    assert got == 5",
    "literal": "from solution import f\nassert f(2, 3) == 5",
    "reversed": "from solution import f\nassert 5 == f(2, 3)",
    "tolerance": "from solution import f\ndef test_f():\n    assert abs(f(2, 3) - 5.0) < 1e-9",
    "literal_tolerance": "from solution import f\nassert abs(f(2, 3) - 5.0) < 1e-9",
    "reversed_tolerance": "from solution import f\ndef test_f():\n    assert abs(5.0 - f(2, 3)) <= 1e-9",
    "square": "from solution import f\ndef test_f():\n    assert (f(2, 3) - 5.0) ** 2 < 1e-9",
    "bracket": "from solution import f\ndef test_f():\n    assert 4.9 < f(2, 3) < 5.1",
    "isclose": "import math\nfrom solution import f\ndef test_f():\n    assert math.isclose(f(2, 3), 5.0)",
    "approx": "import pytest\nfrom solution import f\ndef test_f():\n    assert f(2, 3) == pytest.approx(5.0)",
    "approx_list": "import pytest\nfrom solution import f\ndef test_f():\n    assert f(2, 3) == pytest.approx([5.0, 6.0])",
    "list": "from solution import f\ndef test_f():\n    assert f(2, 3) == [5, 6]",
    "dict": "from solution import f\ndef test_f():\n    assert f(2, 3) == {'a': 5}",
    "items": "from solution import f\ndef test_f():\n    assert list(f(2, 3)) == [5, 6]",
    "member": "from solution import f\ndef test_f():\n    assert f(2, 3) in (5, 6)",
    "text": "from solution import f\ndef test_f():\n    assert str(f(2, 3)) == 'five'",
    "round": "from solution import f\ndef test_f():\n    assert round(f(2, 3), 2) == 5.13",
    "allclose": "import numpy as np\nfrom solution import f\ndef test_f():\n    assert np.allclose(f(2, 3), [5.0, 6.0])",
    "array_equal": "import numpy as np\nfrom solution import f\ndef test_f():\n    assert np.array_equal(f(2, 3), [5, 6])",
    "assert_equal": "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_f(self):\n"
    "        self.assertEqual(f(2, 3), 5)\n        self.assertAlmostEqual(f(2, 3), 5.0)",
    "is_instance": "from solution import f\ndef test_f():\n    assert isinstance(f(2, 3), int) and f(2, 3) == 5",
    "set": "from solution import f\ndef test_f():\n    assert {f(2, 3)} == {5}",
    "sum": "from solution import f\ndef test_f():\n    assert f(2, 3) + 1 == 6 and f(2, 3) % 2 == 1",
}  # fmt: skip


@pytest.mark.parametrize("returns", RETURNS)
async def test_no_object_passes_for_a_result(judges: JudgePool, returns: str) -> None:
    for name, tests in TESTS.items():
        if name == "member" and returns == "in_a_dict":
            continue
        feedback = await judges.judge_text(RETURNS[returns], tests, "f", Limits())
        assert not feedback.passed, f"{returns} passes {name}"
        assert feedback.reason in ("failed", "error", "tampered"), (name, feedback)


EXITS = {
    "os_exit": "import os\ndef f(a, b): os._exit(0)",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\ndef f(a, b): raise SystemExit",
    "kill_group": "import os, signal\ndef f(a, b): os.killpg(0, signal.SIGKILL)",
    "kill_all": "import os, signal\ndef f(a, b): os.kill(-1, signal.SIGKILL)",
    "abort": "import os\ndef f(a, b): os.abort()",
    "closes_all": "import os\ndef f(a, b): os.closerange(0, 256); return 5",
    "keyboard_interrupt": "def f(a, b): raise KeyboardInterrupt",
    "generator_exit": "def f(a, b): raise GeneratorExit",
    "stop_iteration": "def f(a, b): raise StopIteration(5)",
    "base_exception": "class E(BaseException): pass\ndef f(a, b): raise E",
    "fork_both_return": "import os\ndef f(a, b): os.fork(); return 1",
    "child_answers": "import os\ndef f(a, b):\n    if os.fork(): os._exit(0)\n    return 1",
    "stack_overflow": "import sys\nsys.setrecursionlimit(10**9)\ndef f(a, b):\n    return [f(a, b)]",
    "exit_at_import": "raise SystemExit(0)\ndef f(a, b): return 5",
    "unpicklable_error": "class E(Exception):\n    args = property(lambda s: 1/0)\ndef f(a, b): raise E()",
    "error_in_str": "class E(Exception):\n    def __str__(self): raise self\ndef f(a, b): raise E()",
    "error_with_cycle": "def f(a, b):\n    e = ValueError()\n    e.args = (e,)\n    raise e",
    "error_with_lie": "class ValueError(Exception): pass\ndef f(a, b): raise ValueError",
    "hash_bomb": "def f(a, b): return {(2**61 - 1) * i for i in range(1, 60000)}",
    "huge_integer": "def f(a, b): return 1 << (8 * 2**24)",
    "wide_nesting": "def f(a, b):\n    x = []\n    for _ in range(26): x = [x, x]\n    return x",
}  # fmt: skip


@pytest.mark.parametrize("way", EXITS)
async def test_no_way_out_of_a_call_passes(judges: JudgePool, way: str) -> None:
    tests = "from solution import f\ndef test_one():\n    assert f(2, 3) == 5\ndef test_two():\n    assert f(1, 1) == 2"
    feedback = await judges.judge_text(EXITS[way], tests, "f", Limits(wall_s=3))
    assert not feedback.passed
    assert feedback.checks_passed == 0
    after = await judge(judges, "def f(a, b): return a + b", tests)
    assert after.passed, "the next verdict must not suffer"


FORGERIES = {
    "names": "import sys\nw = sys.modules.get('jail.worker') or sys.modules.get('worker')\ndef f(a, b):\n    import gc\n"
    "    for o in gc.get_objects():\n        if type(o).__name__ == 'Worker':\n            o._encoded = lambda *a: [['arg', 0], []]\n    return 1",
    "patched_codec": "import gc\ndef f(a, b):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Worker':\n"
    "            o.encode = lambda *a: ['h', 99999999, 5]\n    return 1",
    "answers_twice": "import gc\ndef f(a, b):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Worker':\n"
    "            o.send([1, 'ok', 5, []]); o.send([2, 'ok', 5, []])\n    return 1",
    "fakes_callbacks": "import gc\ndef f(a, b):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Worker':\n"
    "            o.send([0, 'callback', 0, [], []])\n    return 1",
    "patches_builtins": "import builtins, json, struct, os\nbuiltins.type = builtins.isinstance = builtins.len = lambda *a: True\n"
    "def f(a, b): return 1",
    "patches_operators": "import operator\noperator.eq = lambda *a: True\ndef f(a, b): return 1",
    "changes_arguments": "def f(xs, ys):\n    xs.append(1)\n    return xs",
}  # fmt: skip


@pytest.mark.parametrize("way", FORGERIES)
async def test_no_forged_answer_passes(judges: JudgePool, way: str) -> None:
    tests = "from solution import f\ndef test_one():\n    assert f([4], [3]) == [5]\ndef test_two():\n    got = f([1], [1])\n    assert got == [7]"
    feedback = await judges.judge_text(FORGERIES[way], tests, "f", Limits(wall_s=3))
    assert not feedback.passed
    assert feedback.reason in ("failed", "error", "tampered", "timeout")


async def test_a_program_sees_neither_the_environment_nor_the_tests(
    judges: JudgePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERWORD_CANARY", "expected-5")
    source = """
        import gc, os, sys
        def f(a, b):
            wanted = int('42' * 3)
            if any('expected' in v for v in os.environ.values()): return wanted
            for o in gc.get_objects():
                if isinstance(o, (list, tuple)) and wanted in [x for x in o if isinstance(x, int)]: return wanted
            for name, module in list(sys.modules.items()):
                if 'judge' in name or name == 'tests': return wanted
            return 0
    """
    tests = "from solution import f\ndef test_f():\n    got = f(2, 3)\n    assert got == 424242"
    feedback = await judge(judges, source, tests)
    assert not feedback.passed
