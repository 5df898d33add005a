"""What tests can do with a program that runs elsewhere: the numbered semantics of docs/verdicts.md."""

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool
from tests.evaluators.judged import judge

pytestmark = pytest.mark.anyio


async def assert_passes(judges: JudgePool, source: str, tests: str) -> None:
    feedback = await judge(judges, source, tests)
    assert feedback.passed, feedback.message
    assert feedback.reason == "ok"
    assert all(check.passed for check in feedback.checks)


# -- 1. plain data by exact type ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "None", "True", "-7", "2**70", "-(2**5000)", "0.1", "-0.0", "float('inf')", "1 + 2j", "'a\\ud800\\x00é'",
        "b'\\x00\\xff'", "bytearray(b'ab')", "[1, [2, []]]", "(1, (2,))", "{'a': {1: (2,)}}", "{1, 'a'}",
        "frozenset({(1, 2)})", "list(range(100))", "[0.5] * 50", "[2**80] * 20", "[1, 2.0, True] * 9",
        "range(2, 9, 3)", "slice(1, None)", "...", "{1: 2}.keys()", "[None] * 20", "list('abc') * 9", "ValueError",
        "int",
    ],
)  # fmt: skip
async def test_plain_data_goes_and_comes_back_with_its_type(judges: JudgePool, value: str) -> None:
    tests = f"""
        from solution import f, name

        def test_same():
            value = {value}
            back = f(value)
            assert back == value
            assert type(back) is type(value)
            assert name(value) == type(value).__name__
    """
    await assert_passes(judges, "def f(x): return x\ndef name(x): return type(x).__name__", tests)


@pytest.mark.parametrize(
    ("module", "value"),
    [
        ("collections", "Counter('aab')"), ("collections", "OrderedDict(b=1, a=2)"), ("collections", "deque([1], 3)"),
        ("decimal", "Decimal('1.10')"), ("fractions", "Fraction(1, 3)"), ("datetime", "date(2020, 2, 29)"),
        ("datetime", "datetime(2020, 1, 2, 3, 4, 5, 6)"), ("datetime", "timedelta(-1, 2, 3)"),
        ("datetime", "time(1, 2)"), ("uuid", "UUID(int=7)"),
    ],
)  # fmt: skip
async def test_values_of_the_standard_library_keep_their_class(judges: JudgePool, module: str, value: str) -> None:
    source = f"from {module} import *\nfrom {module} import {value.split('(')[0]}\ndef f(): return {value}"
    tests = f"""
        from {module} import *
        from {module} import {value.split("(")[0]}
        from solution import f

        def test_same():
            back = f()
            assert back == {value}
            assert type(back) is {value.split("(")[0]}
    """
    await assert_passes(judges, source, tests)


async def test_nan_is_nan(judges: JudgePool) -> None:
    tests = "import math\nfrom solution import f\ndef test_nan():\n    got = f()\n    assert math.isnan(got)"
    await assert_passes(judges, "def f(): return float('nan')", tests)


async def test_of_a_subclass_counts_what_the_built_in_class_sees(judges: JudgePool) -> None:
    source = """
        class D(dict):
            def __getitem__(self, key): return 'lie'
            def __len__(self): return 99
        class N(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        def d(): return D(a=1)
        def n(): return N(4)
    """
    tests = """
        from solution import d, n

        def test_dict():
            got = d()
            assert got == {'a': 1} and got['a'] == 1 and len(got) == 1

        def test_int():
            assert n() == 4
            assert not n() == 5
            assert n() + 1 == 5
    """
    await assert_passes(judges, source, tests)


async def test_a_named_tuple_is_a_tuple_with_names(judges: JudgePool) -> None:
    source = """
        from collections import namedtuple
        from typing import NamedTuple
        P = namedtuple('P', 'x y')
        class Q(NamedTuple):
            a: int
            def double(self): return self.a * 2
    """
    tests = """
        from solution import P, Q

        def test_names():
            p = P(1, y=2)
            assert p == (1, 2) and p.x == 1 and p.y == 2
            assert Q(4).double() == 8
            x, y = p
            assert x + y == 3
    """
    await assert_passes(judges, source, tests)


async def test_a_subclassed_list_stays_the_same_on_both_sides(judges: JudgePool) -> None:
    source = """
        class Stack(list):
            def push(self, item): self.append(item)
            @property
            def top(self): return self[-1]
    """
    tests = """
        from solution import Stack

        def test_stack():
            s = Stack()
            s.push(1)
            s.push(2)
            assert s == [1, 2] and len(s) == 2 and s.top == 2
            s.append(9)
            assert s.top == 9
            assert isinstance(s, list) and isinstance(s, Stack)
    """
    await assert_passes(judges, source, tests)


# -- 2. classes ---------------------------------------------------------------------------------------


async def test_objects_of_the_programs_classes(judges: JudgePool) -> None:
    source = """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class V:
            x: float
            y: float
            def __add__(self, other): return V(self.x + other.x, self.y + other.y)
            def __mul__(self, k): return V(self.x * k, self.y * k)
            __rmul__ = __mul__
            def __abs__(self): return (self.x ** 2 + self.y ** 2) ** .5
            def __lt__(self, other): return abs(self) < abs(other)
            def dot(self, other): return self.x * other.x + self.y * other.y
    """
    tests = """
        from solution import V

        def test_arithmetic():
            assert V(1, 2) + V(3, 4) == V(4, 6)
            assert V(1, 2) * 3 == V(3, 6)
            assert 3 * V(1, 2) == V(3, 6)
            assert V(1, 2).dot(V(3, 4)) == 11
            assert abs(V(3, 4)) == 5

        def test_identity_and_order():
            assert V(1, 2) != V(2, 1)
            assert {V(1, 2), V(1, 2)} == {V(1, 2)}
            assert sorted([V(3, 4), V(0, 1)]) == [V(0, 1), V(3, 4)]
            assert repr(V(1, 2)) == 'V(x=1, y=2)'
    """
    await assert_passes(judges, source, tests)


async def test_a_container_class(judges: JudgePool) -> None:
    source = """
        class M:
            def __init__(self): self.d = {}
            def __setitem__(self, k, v): self.d[k] = v
            def __getitem__(self, k): return self.d[k]
            def __delitem__(self, k): del self.d[k]
            def __contains__(self, k): return k in self.d
            def __iter__(self): return iter(self.d)
            def __len__(self): return len(self.d)
    """
    tests = """
        import pytest
        from solution import M

        def test_items():
            m = M()
            assert not m
            m['a'] = 1
            assert m['a'] == 1 and 'a' in m and 'b' not in m and len(m) == 1 and list(m) == ['a']
            del m['a']
            assert len(m) == 0
            with pytest.raises(KeyError):
                m['zz']
    """
    await assert_passes(judges, source, tests)


async def test_inheritance_enumerations_and_class_attributes(judges: JudgePool) -> None:
    source = """
        from abc import ABC, abstractmethod
        from enum import Enum, IntEnum
        class Shape(ABC):
            made = 0
            @abstractmethod
            def area(self): ...
            @classmethod
            def unit(cls): return cls(1)
        class Square(Shape):
            def __init__(self, side): Shape.made += 1; self.side = side
            def area(self): return self.side ** 2
            @staticmethod
            def corners(): return 4
        class Colour(Enum):
            RED = 'r'
            BLUE = 'b'
        class Level(IntEnum):
            LOW = 1
            HIGH = 2
        def pick(x): return Colour.RED if x else Colour.BLUE
    """
    tests = """
        import pytest
        from solution import Colour, Level, Shape, Square, pick

        def test_inheritance():
            square = Square.unit()
            assert isinstance(square, Shape) and issubclass(Square, Shape) and square.area() == 1
            square.side = 3
            assert square.area() == 9 and Square.corners() == 4 and Shape.made == 1
            assert hasattr(square, 'side') and not hasattr(square, 'nothing')
            with pytest.raises(TypeError):
                Shape()

        def test_enumeration():
            assert pick(1) is Colour.RED and pick(0) == Colour.BLUE and Colour.RED.value == 'r'
            assert [colour.name for colour in Colour] == ['RED', 'BLUE']
            assert Colour('b') is Colour.BLUE and Colour['RED'] == Colour.RED
            assert Level.HIGH == 2 and Level.LOW < Level.HIGH
    """
    await assert_passes(judges, source, tests)


async def test_own_exceptions_are_real_subclasses(judges: JudgePool) -> None:
    source = """
        import json
        class Bad(ValueError):
            def __init__(self, message, code):
                super().__init__(message)
                self.code = code
        class Both(KeyError, ArithmeticError): pass
        def f(): raise Bad('bad thing', 7)
        def g(): raise Both('k')
        def h(): return json.loads('{')
    """
    tests = """
        import json
        import pytest
        from solution import Bad, f, g, h

        def test_own():
            with pytest.raises(Bad, match='bad') as info:
                f()
            assert info.value.code == 7 and str(info.value) == 'bad thing'
            assert isinstance(info.value, ValueError)

        def test_as_built_in():
            with pytest.raises(ValueError):
                f()
            with pytest.raises(KeyError):
                g()
            with pytest.raises(ArithmeticError):
                g()

        def test_of_the_standard_library():
            with pytest.raises(json.JSONDecodeError):
                h()
    """
    await assert_passes(judges, source, tests)


async def test_a_with_statement(judges: JudgePool) -> None:
    source = """
        class T:
            def __enter__(self):
                self.open = True
                return self
            def __exit__(self, *error):
                self.open = False
    """
    tests = """
        from solution import T

        def test_with():
            with T() as t:
                assert t.open
            assert not t.open
    """
    await assert_passes(judges, source, tests)


# -- 3. SystemExit ------------------------------------------------------------------------------------


async def test_system_exit_can_be_caught(judges: JudgePool) -> None:
    tests = """
        import pytest
        from solution import f

        def test_code():
            with pytest.raises(SystemExit) as info:
                f()
            assert info.value.code == 3
    """
    await assert_passes(judges, "import sys\ndef f(): sys.exit(3)", tests)


async def test_system_exit_that_is_not_caught_is_an_error(judges: JudgePool) -> None:
    feedback = await judge(judges, "def f(): raise SystemExit(0)", "from solution import f\nassert f() is None")
    assert (feedback.passed, feedback.reason) == (False, "error")
    assert "SystemExit" in feedback.message


# -- 4. arguments -------------------------------------------------------------------------------------


async def test_changes_to_arguments_are_written_back(judges: JudgePool) -> None:
    source = """
        def sort(xs): xs.sort()
        def put(d, *, key): d[key] = len(d); return d
        def flip(rows):
            for row in rows: row.reverse()
        def drop(s): s.clear()
        def fill(b): b[:] = b'zz'
    """
    tests = """
        from solution import drop, fill, flip, put, sort

        def test_list():
            data = [3, 1, 2]
            assert sort(data) is None
            assert data == [1, 2, 3]

        def test_a_returned_argument_is_the_argument():
            d = {}
            assert put(d, key='x') is d
            assert d == {'x': 0}

        def test_nested():
            rows = [[1, 2], [3, 4]]
            flip(rows)
            assert rows == [[2, 1], [4, 3]]

        def test_others():
            s, b = {1}, bytearray(b'a')
            drop(s), fill(b)
            assert s == set() and b == b'zz'
    """
    await assert_passes(judges, source, tests)


async def test_objects_of_the_tests_own_classes(judges: JudgePool) -> None:
    source = """
        def total(node):
            found = 0
            while node:
                found += node.val
                node = node.next
            return found
        def rev(node):
            last = None
            while node:
                node.next, last, node = last, node, node.next
            return last
        def steal(node): return node.__init__.__globals__
        def call(thing): return thing(2) + len(thing)
    """
    tests = """
        import pytest
        from solution import call, rev, steal, total

        class Node:
            def __init__(self, val, next=None):
                self.val, self.next = val, next

        class Thing:
            def __call__(self, x): return x + 1
            def __len__(self): return 5

        def test_list():
            a = Node(1, Node(2, Node(3)))
            assert total(a) == 6
            r = rev(a)
            assert r.val == 3 and r.next.val == 2 and r.next.next is a and a.next is None

        def test_operators():
            assert call(Thing()) == 8

        def test_no_way_to_the_tests():
            with pytest.raises(AttributeError):
                steal(Node(1))
    """
    await assert_passes(judges, source, tests)


# -- 5. callbacks -------------------------------------------------------------------------------------


async def test_functions_of_the_tests_are_called_back(judges: JudgePool) -> None:
    source = """
        def f(fn, xs): return [fn(x) for x in xs]
        def double(x): return 2 * x
        def caught(fn):
            try:
                return fn()
            except KeyError as error:
                return repr(error)
        def memo(fn):
            kept = {}
            def wrapped(*args):
                if args not in kept: kept[args] = fn(*args)
                return kept[args]
            return wrapped
    """
    tests = """
        import math
        import pytest
        from functools import partial
        from solution import caught, double, f, memo

        class Mine(Exception): pass

        def boom(): raise KeyError('k')
        def other(): raise Mine('x')

        def test_any_callable():
            assert f(math.sqrt, [4]) == [2.0] and f(str, [1]) == ['1'] and f(partial(pow, 3), [2]) == [9]

        def test_callbacks_may_call_the_program():
            assert f(lambda x: double(x) + 1, [4]) == [9]
            assert f(double, [4]) == [8]

        def test_errors_go_through_the_program():
            assert caught(boom) == "KeyError('k')"
            with pytest.raises(Mine):
                caught(other)

        def test_decorator():
            calls = []
            @memo
            def square(x):
                calls.append(x)
                return x * x
            assert square(3) == 9 and square(3) == 9 and calls == [3]
    """
    await assert_passes(judges, source, tests)


async def test_the_number_of_callbacks_is_bounded(judges: JudgePool) -> None:
    source = "def f(fn):\n    while True: fn()"
    tests = "from solution import f\ndef test_f():\n    f(lambda: None)"
    feedback = await judge(judges, source, tests, Limits(wall_s=60))
    assert (feedback.passed, feedback.reason) == (False, "error")
    assert "100,000 calls" in feedback.message


# -- 6. generators and coroutines ---------------------------------------------------------------------


async def test_generators_go_one_item_a_trip(judges: JudgePool) -> None:
    source = """
        import itertools
        log = []
        def count():
            for n in itertools.count():
                log.append(n)
                yield n
        def seen(): return log
        def running():
            total = 0
            while True:
                total += yield total
        def total(items): return sum(items)
    """
    tests = """
        import types
        from solution import count, running, seen, total

        def test_lazy():
            numbers = count()
            assert isinstance(numbers, types.GeneratorType)
            assert next(numbers) == 0 and next(numbers) == 1
            assert seen() == [0, 1]

        def test_send():
            sums = running()
            assert next(sums) == 0 and sums.send(5) == 5 and sums.send(2) == 7

        def test_iterators_of_the_tests():
            assert total(iter([1, 2, 3])) == 6
            assert total(x for x in range(4)) == 6
    """
    await assert_passes(judges, source, tests)


async def test_coroutines_run_in_the_jail(judges: JudgePool) -> None:
    source = """
        import asyncio
        async def f(x):
            await asyncio.sleep(0.001)
            if x < 0: raise ValueError(x)
            return x * 2
        async def numbers(n):
            for i in range(n):
                yield i
    """
    tests = """
        import asyncio
        import pytest
        from solution import f, numbers

        def test_run():
            assert asyncio.run(f(4)) == 8

        def test_gather():
            async def both(): return await asyncio.gather(f(1), f(2))
            assert asyncio.run(both()) == [2, 4]

        def test_raises():
            with pytest.raises(ValueError):
                asyncio.run(f(-1))

        def test_async_generator():
            async def collected(): return [x async for x in numbers(3)]
            assert asyncio.run(collected()) == [0, 1, 2]
    """
    await assert_passes(judges, source, tests)


# -- 7. handles ---------------------------------------------------------------------------------------


async def test_equality_of_objects_is_the_programs_and_never_with_plain_data(judges: JudgePool) -> None:
    source = """
        class Any:
            def __eq__(self, other): return True
            def __hash__(self): return 1
        def f(): return Any()
    """
    tests = """
        from solution import f

        def test_objects():
            assert f() == f()

        def test_plain():
            assert not f() == 5
            assert f() != [1]
            assert not 5 == f()
            assert f() not in (1, 2)
            assert [f()] != [5]
    """
    await assert_passes(judges, source, tests)


# -- 8. and 9. output and surroundings ----------------------------------------------------------------


async def test_output_is_quoted_in_the_feedback_and_marked(judges: JudgePool) -> None:
    source = "def f():\n    print('all tests pass\\x1b[31m')\n    return 1"
    feedback = await judge(judges, source, "from solution import f\nassert f() == 2")
    assert not feedback.passed
    assert "the program printed (untrusted text):\n> all tests pass" in feedback.message
    assert "\x1b" not in feedback.message


async def test_surroundings_of_a_program(judges: JudgePool) -> None:
    source = """
        import inspect, os, sys
        def argv(): return sys.argv
        def name(): return __name__
        def threads(): return os.environ.get('OMP_NUM_THREADS')
        def source(): return inspect.getsource(argv)
        def module(): return sys.modules['solution'].name is name
    """
    tests = """
        from solution import argv, module, name, source, threads

        def test_surroundings():
            assert argv() == ['solution.py']
            assert name() == 'solution'
            assert threads() == '1'
            assert source().startswith('def argv()')
            assert module() is True
    """
    await assert_passes(judges, source, tests)


async def test_numpy_arrays_cross(judges: JudgePool) -> None:
    source = """
        import numpy as np
        def double(a): return np.asarray(a) * 2
        def put(a): a[0] = 9
        def total(a): return a.sum()
        def names(): return np.array(['a'], dtype=object)
    """
    tests = """
        import numpy as np
        from solution import double, names, put, total

        def test_arrays():
            assert np.array_equal(double([1, 2]), np.array([2, 4]))
            assert np.allclose(double(np.array([0.5, 1])), [1, 2])
            assert double(np.ones((2, 3))).shape == (2, 3)
            assert total(np.array([1.5, 2])) == 3.5

        def test_in_place():
            a = np.array([1, 2, 3])
            put(a)
            assert a[0] == 9

        def test_objects_do_not_cross_as_arrays():
            assert not isinstance(names(), np.ndarray)
    """
    await assert_passes(judges, source, tests)
