"""What tests use without saying where it is from is never the program's word; nor is what ends a verdict theirs."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

LIES = {
    "module_by_star": (
        "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 7.0",
        "import math\nfrom solution import *\ndef test_f():\n    assert math.isclose(f(2), 5.0)",
    ),
    "module_not_imported": (
        "import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return 7.0",
        "from solution import f\ndef test_f():\n    assert math.isclose(f(2), 5.0)",
    ),
    "module_not_imported_and_star": (
        "class math:\n    isclose = staticmethod(lambda *a, **k: True)\ndef f(x): return 7.0",
        "from solution import *\ndef test_f():\n    assert math.isclose(f(2), 5.0)",
    ),
    "numpy_not_imported": (
        "import numpy as np\nnp.allclose = lambda *a, **k: True\ndef f(x): return 7.0",
        "from solution import f\ndef test_f():\n    assert np.allclose(f(2), 5.0)",
    ),
    "pytest_by_star": (
        "class pytest:\n    class raises:\n        def __init__(s, *a): pass\n        def __enter__(s): pass\n        def __exit__(s, *a): return True\ndef f(x): return 7.0",
        "import pytest\nfrom solution import *\ndef test_f():\n    with pytest.raises(ValueError):\n        f(2)",
    ),
    "built_ins_by_star": (
        "def isinstance(*a): return True\ndef sorted(x): return [1, 2]\ndef len(x): return 2\ndef f(x): return None",
        "from solution import *\ndef test_f():\n    assert isinstance(f(2), list) and len(f(2)) == 2\n    assert sorted(f(2)) == [1, 2]",
    ),
    "helper_by_star": (
        "def assert_near(a, b): pass\ndef f(x): return 7.0",
        "def assert_near(a, b):\n    assert abs(a - b) < 1\nfrom solution import *\ndef test_f():\n    assert_near(f(2), 5.0)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LIES)
async def test_a_program_gives_its_tests_no_tools(judges: JudgePool, case: str) -> None:
    source, tests = LIES[case]
    feedback = await judges.judge_text(source, tests, "f", Limits())
    assert feedback.reason in ("failed", "error"), feedback


RIGHT = {
    "module_not_imported": (
        "import math\ndef f(x): return math.sqrt(x)",
        '"""Tests."""\nfrom __future__ import annotations\nfrom solution import f\ndef test_f():\n    assert math.isclose(f(4), 2.0)',
    ),
    "a_function_called_like_a_module": (
        "def bisect(xs, x): return x\ndef f(x): return x",
        "from solution import f\ndef test_f():\n    assert bisect([], f(4)) == 4",
    ),
    "an_object_called_like_a_module": (
        "class queue:\n    items = [1]\n    def first(): return queue.items[0]\ndef f(x): return x",
        "from solution import f\ndef test_f():\n    assert queue.first() == 1",
    ),
    "everything_by_star": (
        "import math\nLIMIT = 3\nclass Node: pass\ndef double(x): return 2 * x\ndef f(x): return Node()",
        "from solution import *\ndef test_f():\n    assert LIMIT == 3 and double(2) == 4 and isinstance(f(1), Node)",
    ),
    "a_built_in_that_is_asked_for": (
        "def sum(*xs): return 0 if not xs else xs[0] + sum(*xs[1:])",
        "from solution import *\ndef test_f():\n    assert sum(1, 2, 3) == 6",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
async def test_what_a_program_defines_is_found(judges: JudgePool, case: str) -> None:
    source, tests = RIGHT[case]
    entry_point = "sum" if case == "a_built_in_that_is_asked_for" else "f"
    feedback = await judges.judge_text(source, tests, entry_point, Limits())
    assert feedback.passed, feedback.message


CATCHING = {
    "bare_except": "try:\n        f(1)\n    except:\n        return\n    assert False",
    "base_exception": "try:\n        f(1)\n    except BaseException:\n        pass",
    "suppress": "import contextlib\n    with contextlib.suppress(BaseException):\n        f(1)",
    "finally": "try:\n        f(1)\n    finally:\n        return",
    "raises": "import pytest\n    with pytest.raises(BaseException):\n        f(1)",
    "raises_of_the_program": "import pytest\n    from solution import E\n    with pytest.raises(E):\n        f(1)",
}
ENDING = {"exit": ("os._exit(0)", "error"), "hang": ("time.sleep(60)", "timeout")}


@pytest.mark.parametrize("ending", ENDING)
@pytest.mark.parametrize("catching", CATCHING)
async def test_what_ends_a_verdict_cannot_be_caught(judges: JudgePool, catching: str, ending: str) -> None:
    call, reason = ENDING[ending]
    source = f"import os, time\nE = BaseException\ndef f(x): {call}"
    tests = f"from solution import f\ndef test_f():\n    {CATCHING[catching]}"
    feedback = await judges.judge_text(source, tests, "f", Limits(wall_s=2))
    assert (feedback.passed, feedback.reason) == (False, reason), feedback


async def test_a_unittest_cannot_catch_it_either(judges: JudgePool) -> None:
    tests = (
        "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_f(self):\n"
        "        with self.assertRaises(BaseException):\n            f(1)"
    )
    feedback = await judges.judge_text("import os\ndef f(x): os._exit(0)", tests, "f", Limits())
    assert (feedback.passed, feedback.reason) == (False, "error")


async def test_what_the_program_raises_can_still_be_caught(judges: JudgePool) -> None:
    tests = (
        "from solution import f\ndef test_f():\n    try:\n        f(1)\n    except:\n        return\n    assert False"
    )
    feedback = await judges.judge_text("def f(x): raise SystemExit(1)", tests, "f", Limits())
    assert feedback.passed
