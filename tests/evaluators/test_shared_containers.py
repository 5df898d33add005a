"""Lists, dicts and sets that the tests and the program both hold: a change on one side is seen on the other."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

RIGHT = {
    "list_of_an_object": (
        "class f:\n    def __init__(self): self.items = []\n    def total(self): return sum(self.items)",
        "x = f()\n    x.items.append(3)\n    x.items.extend([4])\n    assert x.total() == 7 and x.items == [3, 4]",
    ),
    "children_of_a_node": (
        "class N:\n    def __init__(self, v): self.v, self.children = v, []\ndef f(n): return n.v + sum(map(f, n.children))",
        "from solution import N\n    root = N(1)\n    root.children.append(N(2))\n    root.children[0].children.append(N(3))\n    assert f(root) == 6",
    ),
    "dict_of_an_object": (
        "from collections import defaultdict\nclass f:\n    def __init__(self): self.edges = defaultdict(list)\n    def degree(self, n): return len(self.edges[n])",
        "g = f()\n    g.edges['a'].append('b')\n    assert g.degree('a') == 1 and g.degree('x') == 0 and g.edges['a'] == ['b']",
    ),
    "set_of_an_object": (
        "class f:\n    def __init__(self): self.seen = set()\n    def has(self, x): return x in self.seen",
        "x = f()\n    x.seen.add(1)\n    x.seen |= {2}\n    assert x.has(1) and x.has(2) and not x.has(3)",
    ),
    "seen_from_the_other_side": (
        "class f:\n    def __init__(self): self.items = []\n    def add(self, x): self.items.append(x)",
        "x = f()\n    items = x.items\n    x.add(1)\n    assert items == [1] and x.items is items",
    ),
    "list_given_to_a_constructor": (
        "class f:\n    def __init__(self, sink): self.sink = sink\n    def log(self, m): self.sink.append(m)",
        "out = []\n    logger = f(out)\n    logger.log('a')\n    logger.log('b')\n    assert out == ['a', 'b']\n    out.clear()\n    logger.log('c')\n    assert out == ['c'] and logger.sink == ['c']",
    ),
    "list_set_as_an_attribute": (
        "class f:\n    def first(self): return self.items[0]",
        "x = f()\n    mine = [1]\n    x.items = mine\n    mine[0] = 2\n    assert x.first() == 2",
    ),
    "list_of_a_closure": (
        "def f(log):\n    def add(x): log.append(x)\n    return add",
        "log = []\n    add = f(log)\n    add(1)\n    add(2)\n    assert log == [1, 2]",
    ),
    "list_of_a_context_manager": (
        "from contextlib import contextmanager\n@contextmanager\ndef f(log):\n    log.append('in')\n    try: yield\n    finally: log.append('out')",
        "log = []\n    with f(log):\n        log.append('body')\n    assert log == ['in', 'body', 'out']",
    ),
    "list_of_a_generator": (
        "def f(log):\n    for i in range(3):\n        log.append(i)\n        yield i",
        "log = []\n    g = f(log)\n    assert log == []\n    next(g)\n    assert log == [0]\n    list(g)\n    assert log == [0, 1, 2]",
    ),
    "list_of_the_module": (
        "REGISTRY = []\ndef f(x): REGISTRY.append(x)\ndef count(): return len(REGISTRY)",
        "from solution import REGISTRY, count\n    f(1)\n    assert REGISTRY == [1]\n    REGISTRY.clear()\n    assert count() == 0",
    ),
    "list_that_is_returned_twice": (
        "cache = []\ndef f(): return cache",
        "f().append(1)\n    assert f() == [1] and f() is f()",
    ),
    "fresh_lists_are_not_shared": (
        "class f:\n    def __init__(self): self._items = [1]\n    @property\n    def items(self): return list(self._items)\n    def all(self): return [*self._items]",
        "x = f()\n    x.items.append(2)\n    x.all().append(3)\n    assert x.items == [1] and x.all() == [1]",
    ),
    "handlers": (
        "class f:\n    def __init__(self): self.handlers = []\n    def fire(self, x): return [h(x) for h in self.handlers]",
        "bus = f()\n    bus.handlers.append(lambda x: x + 1)\n    bus.handlers.append(str)\n    assert bus.fire(1) == [2, '1'] and bus.fire(2) == [3, '2']",
    ),
    "changed_before_a_callback": (
        "class f:\n    def __init__(self): self.log = []\n    def run(self, cb):\n        self.log.append('begun')\n        r = cb()\n        return r, self.log",
        "x = f()\n    log = x.log\n    def cb():\n        assert log == ['begun']\n        log.append('called')\n        return 1\n    assert x.run(cb) == (1, ['begun', 'called'])",
    ),
    "large_ones_are_copies": (
        "class f:\n    def __init__(self): self.items = list(range(1000))\n    def total(self): return sum(self.items)",
        "x = f()\n    assert len(x.items) == 1000 and x.total() == 499500",
    ),
    "many": (
        "class f:\n    def __init__(self, i): self.items = [i]\n    def first(self): return self.items[0]",
        "xs = [f(i) for i in range(40)]\n    for x in xs:\n        x.items[0] += 1\n        assert x.first() == x.items[0]\n    assert [x.first() for x in xs] == list(range(1, 41))",
    ),
    "one_that_grows_large": (
        "class f:\n    def __init__(self): self.items = []\n    def size(self): return len(self.items)\n    def add(self, x): self.items.append(x)",
        "q = f()\n    items = q.items\n    for i in range(300):\n        items.append(i)\n    assert q.size() == 300\n    for i in range(400):\n        q.add(i)\n    assert len(items) == 700",
    ),
    "beside_something_that_cannot_cross": (
        "class f:\n    def __init__(self): self.a, self.b = [], []\n    def size(self): return len(self.a)",
        "import threading\n    x = f()\n    a, b = x.a, x.b\n    a.append(1)\n    b.append(threading.Lock())\n    assert x.size() == 1",
    ),
    "row_that_the_program_knows_by_itself": (
        "class f:\n    def __init__(self):\n        self.row = []\n        self.rows = [self.row]\n    def first(self): return list(self.row)\n    def one(self): return any(row is self.row for row in self.rows)",
        "g = f()\n    rows = g.rows\n    rows[0].append(7)\n    assert g.first() == [7] and g.one()\n    rows.insert(0, [1])\n    assert g.first() == [7] and g.one()\n    assert g.rows == [[1], [7]]",
    ),
    "value_of_a_dict_that_the_program_knows_by_itself": (
        "class f:\n    def __init__(self):\n        self.last = []\n        self.by = {'a': self.last}\n    def tail(self): return list(self.last)",
        "g = f()\n    g.by['a'].append(1)\n    g.by['b'] = [2]\n    assert g.tail() == [1] and g.by == {'a': [1], 'b': [2]}",
    ),
    "two_methods_of_one_name": (
        "class f:\n    def __init__(self): self.handlers = []\n    def on(self, h): self.handlers.append(h)\n    def fire(self, x): return [h(x) for h in self.handlers]",
        "def plain(method):\n        def wrapper(self, x): return method(self, x)\n        return wrapper\n    class Listener:\n        @plain\n        def twice(self, x): return 2 * x\n        @plain\n        def minus(self, x): return -x\n    it, bus = Listener(), f()\n    bus.on(it.twice)\n    bus.on(it.minus)\n    assert bus.fire(3) == [6, -3]",
    ),
    "something_that_cannot_cross": (
        "class f:\n    def __init__(self): self.items = []\n    def n(self): return 5",
        "import threading\n    x = f()\n    x.items.append(threading.Lock())\n    assert x.n() == 5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT)
async def test_both_sides_mean_one_container(judges: JudgePool, case: str) -> None:
    source, test = RIGHT[case]
    feedback = await judges.judge_text(source, f"from solution import f\ndef test_f():\n    {test}", "f", Limits())
    assert feedback.passed, feedback.message


FIND = "import gc\ndef worker(): return next(o for o in gc.get_objects() if type(o).__name__ == 'Worker')\n"
FORGED = {
    "of_an_unknown_number": "worker().send([0, 'changed', [[77, 5]]])",
    "of_another_kind": "worker().send([0, 'changed', [[worker().number(xs), 5]]])",
    "no_list": "worker().send([0, 'changed', 5])",
    "no_pairs": "worker().send([0, 'changed', [5]])",
    "no_number": "worker().send([0, 'changed', [['x', 5]]])",
    "kept_that_was_not_given": "worker()._kept = lambda *a: [[9, 1]]",
    "kept_without_numbers": "worker()._kept = lambda *a: [['x', None]]",
    "shared_that_is_none": "worker().encode_held = worker().encode = lambda *a: ['sh', 1, 5]",
    "shared_of_another_object": "worker().encode_held = worker().encode = lambda *a: ['sh', 'x', ['l', []]]",
}


@pytest.mark.parametrize("way", FORGED)
async def test_no_forged_change_passes(judges: JudgePool, way: str) -> None:
    source = f"{FIND}KEPT = []\ndef f(xs):\n    KEPT.append(xs)\n    {FORGED[way]}\n    return [1]"
    tests = "from solution import f\ndef test_f():\n    xs = [3, 4]\n    got = f(xs)\n    assert got == [7]"
    feedback = await judges.judge_text(source, tests, "f", Limits(wall_s=3))
    assert feedback.reason in ("failed", "error", "tampered", "timeout"), feedback


async def test_what_the_program_was_not_given_stays_as_it_is(judges: JudgePool) -> None:
    source = f"{FIND}KEPT = []\ndef f(xs):\n    KEPT.append(xs)\n    xs[:] = []\n    worker().send([0, 'changed', [[n, ['l', []]] for n in range(99)]])\n    return []"
    tests = (
        "from solution import f\ndef test_f():\n    expected = [1, 2]\n    got = f([2, 1])\n    assert got == expected"
    )
    feedback = await judges.judge_text(source, tests, "f", Limits(wall_s=3))
    assert feedback.reason in ("failed", "tampered"), feedback


async def test_a_log_without_bound_is_seen_to_grow(judges: JudgePool) -> None:
    source = "class f:\n    def __init__(self): self.items = []\n    def add(self, x): self.items.append(x)"
    test = (
        "log = f()\n    items = log.items\n    for i in range(400):\n        log.add(i)\n    assert len(items) <= 300"
    )
    feedback = await judges.judge_text(source, f"from solution import f\ndef test_f():\n    {test}", "f", Limits())
    assert feedback.reason == "failed", feedback


async def test_what_the_tests_put_in_stays_as_it_is(judges: JudgePool) -> None:
    source = "class f:\n    def __init__(self): self.items = []\n    def spoil(self):\n        for item in self.items: item.clear()"
    test = "expected, x = [1], f()\n    x.items.append(expected)\n    x.spoil()\n    assert expected == [1] and x.items == [[]]"
    feedback = await judges.judge_text(source, f"from solution import f\ndef test_f():\n    {test}", "f", Limits())
    assert feedback.passed, feedback.message
