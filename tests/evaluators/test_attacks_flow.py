"""Programs that steer the tests' own control flow: a runner's exceptions, exits that swallow, iterations cut short."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

UNITTEST = """
import unittest
from solution import f

class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(2, 3), 5)

    def test_b(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(f(i, 3), i + 3)
"""
STEERING = {
    "stops_the_test": "from unittest.case import _ShouldStop\ndef f(a, b): raise _ShouldStop",
    "subclass": "from unittest.case import _ShouldStop\nclass E(_ShouldStop): pass\ndef f(a, b): raise E",
    "skips": "import unittest\ndef f(a, b): raise unittest.SkipTest('later')",
    "lies_about_its_module": "class _ShouldStop(Exception): pass\n_ShouldStop.__module__ = 'unittest.case'\n"
    "def f(a, b): raise _ShouldStop",
}


@pytest.mark.parametrize("way", STEERING)
async def test_exceptions_that_steer_unittest_are_errors_like_others(judges: JudgePool, way: str) -> None:
    feedback = await judges.judge_text(STEERING[way], UNITTEST, "f", Limits())
    assert (feedback.passed, feedback.reason, feedback.checks_passed) == (False, "error", 0)


SWALLOWS = """
class C:
    value = 0
    missing = property(lambda self: 1 / 0)
    uncrossable = property(lambda self: deep())
    def __enter__(self): return self
    def __exit__(self, *error): return True
    async def __aenter__(self): return self
    async def __aexit__(self, *error): return True
def deep():
    found = []
    for _ in range(500): found = [found]
    return found
def f(*given): return C()
class g(C):
    def __enter__(self): return None
"""
BODIES = {
    "assertion": "with f() as it:\n        assert it.value == 5",
    "raises_in_the_program": "with f() as it:\n        assert it.missing == 5",
    "cannot_cross": "with f() as it:\n        assert it.uncrossable == 5",
    "not_what_it_should_be": "with g() as it:\n        assert it.value == 5",
    "no_operator": "with f() as it:\n        assert it - 5 < 1",
    "division": "with f() as it:\n        assert 10 / it.value == 2",
    "fails_by_hand": "with f() as it:\n        if it.value != 5: raise AssertionError('wrong')",
    "exit_stack": "with contextlib.ExitStack() as stack:\n        assert stack.enter_context(f()).value == 5",
    "asynchronous": "async def main():\n        async with f() as it:\n            assert it.value == 5\n"
    "    asyncio.run(main())",
}


@pytest.mark.parametrize("body", BODIES)
async def test_an_exit_cannot_swallow_a_check(judges: JudgePool, body: str) -> None:
    tests = f"import asyncio, contextlib\nfrom solution import f, g\ndef test_f():\n    {BODIES[body]}\n"
    feedback = await judges.judge_text(SWALLOWS, tests, "f", Limits())
    assert not feedback.passed
    assert feedback.reason in ("failed", "error")


async def test_an_exit_is_told_nothing_that_a_failed_assertion_holds(judges: JudgePool) -> None:
    source = (
        "seen = []\nclass f:\n    def __enter__(self): return 1\n    def __exit__(self, *error): seen.append(str(error))\n"
        "def told(): return ''.join(seen)"
    )
    tests = (
        "from solution import f, told\ndef test_f():\n    with f() as it:\n        assert it == 7341\n"
        "def test_told():\n    assert 'AssertionError' in told() and '7341' not in told()"
    )
    feedback = await judges.judge_text(source, tests, "f", Limits())
    assert [check.passed for check in feedback.checks] == [False, True]


ENDS_EARLY = {
    "map": "assert all(map(lambda pair: f(pair[0]) == pair[1], [(1, 2), (3, 4)]))",
    "zip": "assert all(a == b for a, b in zip(map(f, [1, 2]), [3, 4]))",
    "iter": "assert list(iter(lambda: f(1), 5)) == []",
}


@pytest.mark.parametrize("test", ENDS_EARLY)
@pytest.mark.parametrize("error", ["StopIteration", "E"])
async def test_a_program_cannot_end_an_iteration_of_the_tests(judges: JudgePool, test: str, error: str) -> None:
    source = f"class E(StopIteration): pass\ndef f(x): raise {error}"
    tests = f"from solution import f\ndef test_f():\n    {ENDS_EARLY[test]}"
    feedback = await judges.judge_text(source, tests, "f", Limits())
    assert (feedback.passed, feedback.reason) == (False, "error")
    assert f"the program raised {error}" in feedback.message


async def test_a_class_in_place_of_a_function_does_not_say_what_is_in_its_result(judges: JudgePool) -> None:
    source = "class f:\n    def __init__(self, n): pass\n    def __contains__(self, item): return True"
    feedback = await judges.judge_text(
        source, "from solution import f\ndef test_f():\n    assert 7 in f(10)", "f", Limits()
    )
    assert not feedback.passed


RIGHT = {
    "containers": (
        "class Trie:\n    def __init__(self): self.words = []\n    def __contains__(self, word): return word in self.words\n"
        "def f(): pass\nclass stack(Trie):\n    def push(self, word): self.words.append(word)",
        "from solution import f, Trie, stack\ndef test_f():\n    assert 'a' not in Trie()\n    s = stack()\n    s.push('a')\n"
        "    assert 'a' in s and 'b' not in s",
    ),
    "stop_iteration_by_contract": (
        "class f:\n    def step(self): raise StopIteration(3)",
        "import pytest\nfrom solution import f\ndef test_f():\n    with pytest.raises(StopIteration) as e:\n        f().step()\n"
        "    assert e.value.value == 3",
    ),
    "suppresses": (
        "class f:\n    def __init__(self, *kinds): self.kinds = kinds\n    def __enter__(self): return self\n"
        "    def __exit__(self, kind, error, trace): return kind is not None and issubclass(kind, self.kinds)",
        "import pytest\nfrom solution import f\ndef test_f():\n    with f(ValueError, ZeroDivisionError):\n"
        "        raise ValueError('x')\n    with f(ZeroDivisionError):\n        1 / 0\n    with f(ValueError):\n"
        "        int('x')\n    with pytest.raises(KeyError):\n        with f(ValueError):\n            raise KeyError('x')",
    ),
    "generator_manager": (
        "from contextlib import contextmanager\n@contextmanager\ndef f(log):\n    try:\n        yield 3\n"
        "    except ValueError as error:\n        log(str(error))\n    finally:\n        log('out')",
        "from solution import f\ndef test_f():\n    log = []\n    with f(log.append) as x:\n        raise ValueError(str(x))\n"
        "    assert log == ['3', 'out']",
    ),
    "converts": (
        "class f:\n    def __enter__(self): return self\n    def __exit__(self, kind, error, trace):\n"
        "        if error is not None: raise RuntimeError('wrapped: ' + str(error)) from error",
        "import pytest\nfrom solution import f\ndef test_f():\n    with pytest.raises(RuntimeError, match='wrapped: x'):\n"
        "        with f():\n            raise ValueError('x')",
    ),
    "manager_of_the_tests": (
        "def f(manager):\n    with manager:\n        raise ValueError('x')\n    return 'swallowed'",
        "from solution import f\nclass M:\n    def __enter__(self): return self\n    def __exit__(self, kind, error, trace):\n"
        "        self.seen = str(error)\n        return kind is ValueError\ndef test_f():\n    m = M()\n"
        "    assert f(m) == 'swallowed' and m.seen == 'x'",
    ),
    "exceptions_as_arguments": (
        "def f(error): return type(error).__name__, str(error)",
        "from solution import f\ndef test_f():\n    assert f(ValueError('x')) == ('ValueError', 'x')",
    ),
    "attributes_of_errors": (
        "import json\ndef f(x): return {'s': lambda: exec('raise SyntaxError(\"bad token\")'), 'u': lambda: b'\\xff'.decode(),\n"
        "    'o': lambda: open('/none'), 'j': lambda: json.loads('{')}[x]()",
        "import json, pytest\nfrom solution import f\ndef test_f():\n    with pytest.raises(SyntaxError, match='bad token'): f('s')\n"
        "    with pytest.raises(UnicodeDecodeError) as e: f('u')\n    assert e.value.start == 0 and 'utf-8' in str(e.value)\n"
        "    with pytest.raises(FileNotFoundError) as e: f('o')\n    assert e.value.filename == '/none' and e.value.errno == 2\n"
        "    with pytest.raises(json.JSONDecodeError) as e: f('j')\n    assert e.value.pos == 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
async def test_right_programs_of_these_kinds_pass(judges: JudgePool, case: str) -> None:
    source, tests = RIGHT[case]
    feedback = await judges.judge_text(source, tests, "f", Limits())
    assert feedback.passed, feedback.message
