"""Arrays without items: numpy broadcasts them to nothing, of which everything is true."""

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

EMPTY = {
    "flat": "import numpy as np\ndef f(*a): return np.array([])\n",
    "rows": "import numpy as np\ndef f(*a): return np.zeros((0, 2))\n",
    "list": "def f(*a): return []\n",
    "nested": "def f(*a): return [[]]\n",
}
FORMS = (
    "assert (f(2) == 5).all()",
    "assert np.all(f(2) == 5)",
    "assert (f(2) == np.array([5, 6])).all()",
    "assert (np.asarray(f(2)) == [5]).all()",
    "assert np.allclose(f(2), 5.0)",
    "assert np.allclose(5.0, b=f(2))",
    "assert np.isclose(f(2), 5.0).all()",
    "np.testing.assert_allclose(f(2), 5.0)",
    "np.testing.assert_array_equal(f(2), 5)",
    "assert np.linalg.norm(np.array(f(2)) - 5) < 1e-6",
    "assert np.sum(np.abs(np.array(f(2)) - 5.0)) < 1e-6",
    "assert ((np.array(f(2)) - np.array([5])) ** 2).sum() < 1e-6",
    "assert not np.any(np.array(f(2)) != 5)",
    "assert np.all(np.equal(f(2), 5))",
    "got = np.array(f(2))\n    equal = got == 5\n    assert equal.all()",
)


@pytest.mark.parametrize("returns", EMPTY)
async def test_an_array_without_items_is_not_what_was_expected(judges: JudgePool, returns: str) -> None:
    for form in FORMS:
        tests = f"import numpy as np\nfrom solution import f\ndef test_f():\n    {form}"
        feedback = await judges.judge_text(EMPTY[returns], tests, "f", Limits(wall_s=20))
        assert feedback.reason in ("failed", "error"), (returns, form)


RIGHT = (
    "assert (f([]) == np.array([])).all() and np.allclose(f([]), []) and f([]).size == 0",
    "assert (f([]) >= 0).all()",
    "got = f([1, 2])\n    assert (got[got > 9] == 1).all()",
    "np.testing.assert_allclose(f([]), np.array([]))",
    "assert (f([1, 2]) - 1 == [1, 3]).all() and np.linalg.norm(f([1, 2]) - np.array([2, 4])) < 1e-9",
    "assert {1} - {1} == set() and 'a' < 'b' and 1 - 1 == 0 and [] == [] and [] != [1]",
    "assert 0 < f(1.5) < 4 and not f(1.5) == 5",
)


@pytest.mark.parametrize("form", RIGHT)
async def test_right_arrays_pass(judges: JudgePool, form: str) -> None:
    source = "import numpy as np\ndef f(a): return np.asarray(a) * 2"
    tests = f"import numpy as np\nfrom solution import f\ndef test_f():\n    {form}"
    feedback = await judges.judge_text(source, tests, "f", Limits(wall_s=20))
    assert feedback.passed, feedback.message


async def test_the_message_says_what_was_compared(judges: JudgePool) -> None:
    source = "import numpy as np\ndef f(a): return np.array([])"
    tests = "import numpy as np\nfrom solution import f\ndef test_f():\n    assert (f(1) == 5).all()"
    feedback = await judges.judge_text(source, tests, "f", Limits(wall_s=20))
    assert "one side has no items and the other one has" in feedback.message
