"""Right programs of unusual kinds: each has to pass."""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import re

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool

pytestmark = pytest.mark.anyio

ADD = "def f(a, b):\n    return a + b\n"
SUM = "from solution import f\ndef test_small():\n    assert f(2, 3) == 5\ndef test_neg():\n    assert f(-7, 4) == -3\n"

PROGRAMS = {
    "bom": ("\ufeff" + ADD, SUM),
    "crlf": ("def f(a, b):\r\n    return a + b\r\n", SUM),
    "cr": ("def f(a, b):\r    return a + b\r", SUM),
    "cookie": ('# -*- coding: latin-1 -*-\ns="é"\n' + ADD, SUM),
    "formfeed": ("\x0c" + ADD, SUM),
    "chdir": ('import os\nos.chdir("/")\n' + ADD, SUM),
    "rm": ("import os\nos.remove(__file__)\n" + ADD, SUM),
    "procpool": (
        "from concurrent.futures import ProcessPoolExecutor\ndef g(x): return x\ndef f(a,b):\n    with ProcessPoolExecutor(2) as p:\n        return sum(p.map(g,[a,b]))\n",
        SUM,
    ),
    "threadpool": (
        "from concurrent.futures import ThreadPoolExecutor\ndef f(a,b):\n    with ThreadPoolExecutor(4) as p:\n        return sum(p.map(int,[a,b]))\n",
        SUM,
    ),
    "mpqueue": (
        "import multiprocessing as mp\ndef w(q,a,b): q.put(a+b)\ndef f(a,b):\n    q=mp.Queue(); p=mp.Process(target=w,args=(q,a,b)); p.start(); r=q.get(); p.join(); return r\n",
        SUM,
    ),
    "bigstack": (
        "import threading,sys\nthreading.stack_size(64*1024*1024)\nsys.setrecursionlimit(10**6)\ndef f(a,b):\n    r=[]\n    def g(n): return 0 if n==0 else 1+g(n-1)\n    t=threading.Thread(target=lambda: r.append(g(20000)-20000+a+b)); t.start(); t.join(); return r[0]\n",
        SUM,
    ),
    "asyncio_run": ("import asyncio\nasync def g(a,b): return a+b\ndef f(a,b): return asyncio.run(g(a,b))\n", SUM),
    "modgetattr": ('def __getattr__(n):\n    if n=="f": return lambda a,b:a+b\n    raise AttributeError(n)\n', SUM),
    "exec": ('exec("def f(a,b): return a+b")', SUM),
    "tempfile": (
        'import tempfile\ndef f(a,b):\n    with tempfile.TemporaryFile() as t:\n        t.write(b"x")\n        return a+b\n',
        SUM,
    ),
    "writefile": ('def f(a,b):\n    open("x.txt","w").write("hi")\n    return len(open("x.txt").read())-2+a+b\n', SUM),
    "stdin": ("import sys\ndef f(a,b):\n    return a+b+len(sys.stdin.read())\n", SUM),
    "excepthook": ("import sys\nsys.excepthook=None\n" + ADD, SUM),
    "signal": (
        "import signal\ndef f(a,b):\n    signal.signal(signal.SIGALRM,lambda *a:None); signal.alarm(1)\n    return a+b\n",
        SUM,
    ),
    "logging": (
        'import logging\nlogging.basicConfig(level=10)\ndef f(a,b):\n    logging.debug("x%s",a)\n    return a+b\n',
        SUM,
    ),
    "warn": ('import warnings\ndef f(a,b):\n    warnings.warn("dep",DeprecationWarning)\n    return a+b\n', SUM),
    "shadow": ("list=None\nlen=None\ntype=None\nprint=None\n" + ADD, SUM),
    "rmbuiltins": ("import builtins\ndel builtins.sorted\n" + ADD, SUM),
    "bool_res": ("def f(a,b): return a<b\n", "from solution import f\nassert f(1,2) is True\nassert f(2,1) is False\n"),
    "slots": (
        'class P:\n    __slots__=("x",)\n    def __init__(self,x): self.x=x\ndef f(a,b): return P(a+b)\n',
        "from solution import f\ndef test_a():\n    assert f(1,2).x==3\n",
    ),
    "iterclass": (
        "class It:\n    def __init__(self,n): self.n=n\n    def __iter__(self): return self\n    def __next__(self):\n        if self.n<=0: raise StopIteration\n        self.n-=1\n        return self.n\ndef f(a,b): return It(a+b)\n",
        "from solution import f\ndef test_a():\n    assert list(f(1,2))==[2,1,0]\n    it=f(1,0)\n    assert next(it)==0\n    assert next(it,None) is None\n",
    ),
    "rematch": (
        "import re\ndef f(a,b): return re.match(a,b)\n",
        'from solution import f\ndef test_a():\n    m=f("(a+)b","aab")\n    assert m and m.group(1)=="aa" and m[0]=="aab"\n    assert f("x","y") is None\n',
    ),
    "pathtz": (
        'import datetime,pathlib\nfrom zoneinfo import ZoneInfo\ndef f(k): return {"p":pathlib.Path("a")/"b","t":datetime.datetime(2020,1,1,tzinfo=datetime.timezone.utc)}[k]\n',
        'from solution import f\nimport datetime,pathlib\ndef test_a():\n    assert f("p")==pathlib.Path("a/b")\n    assert f("t")==datetime.datetime(2020,1,1,tzinfo=datetime.timezone.utc)\n',
    ),
    "pattern_arg": (
        "def f(p,s): return p.findall(s)\n",
        'import re\nfrom solution import f\ndef test_a():\n    assert f(re.compile("a."),"abac")==["ab","ac"]\n',
    ),
    "map_res": (
        "def f(a,b): return map(str,[a,b])\n",
        'from solution import f\ndef test_a():\n    assert list(f(1,2))==["1","2"]\ndef test_z():\n    assert sorted(f(2,1))==["1","2"]\n',
    ),
    "zip_dict": (
        "def f(a,b): return dict(zip(a,b)).items()\n",
        'from solution import f\ndef test_a():\n    assert dict(f("ab",[1,2]))=={"a":1,"b":2}\n    assert list(f("a",[1]))==[("a",1)]\n',
    ),
    "singleton": (
        "class S:\n    _i=None\n    def __new__(cls):\n        if cls._i is None: cls._i=super().__new__(cls)\n        return cls._i\n",
        "from solution import S\ndef test_a():\n    assert S() is S()\n    assert id(S())==id(S())\n",
    ),
    "meta": (
        "class M(type):\n    def __call__(cls,*a): return a\nclass f(metaclass=M): pass\n",
        "from solution import f\ndef test_a():\n    assert f(1,2)==(1,2)\n",
    ),
    "callable_obj": ("class A:\n    def __call__(self,a,b): return a+b\nf=A()\n", SUM),
    "lambda": ("f=lambda a,b: a+b\n", SUM),
    "partial": ("from functools import partial\nimport operator\nf=partial(operator.add)\n", SUM),
    "builtin": ("import operator\nf=operator.add\n", SUM),
    "method": ("class A:\n    def add(self,a,b): return a+b\nf=A().add\n", SUM),
    "unicode_err": (
        'def f(a,b): return b"\\xff".decode()\n',
        "import pytest\nfrom solution import f\ndef test_a():\n    with pytest.raises(UnicodeDecodeError): f(1,2)\n",
    ),
    "oserror": (
        'def f(a,b): return open("/no/such")\n',
        "import pytest\nfrom solution import f\ndef test_a():\n    with pytest.raises(FileNotFoundError) as e: f(1,2)\n    assert e.value.errno==2\n",
    ),
    "exgroup": (
        'def f(a,b): raise ExceptionGroup("g",[ValueError(1)])\n',
        "import pytest\nfrom solution import f\ndef test_a():\n    with pytest.raises(ExceptionGroup) as e: f(1,2)\n    assert len(e.value.exceptions)==1\n",
    ),
    "ret_exc": (
        'def f(a,b): return ValueError("x")\n',
        'from solution import f\ndef test_a():\n    e=f(1,2)\n    assert isinstance(e,ValueError) and str(e)=="x"\n',
    ),
    "observer": (
        "class E:\n    def __init__(self): self.l=[]\n    def on(self,fn): self.l.append(fn)\n    def emit(self,*a):\n        for fn in self.l: fn(*a)\n",
        "from solution import E\ndef test_a():\n    got=[]\n    e=E(); e.on(got.append); e.on(lambda x: got.append(x*2)); e.emit(4)\n    assert got==[4,8]\n",
    ),
    "kwonly": (
        "def f(a,*,b=2,**k): return a+b+sum(k.values())\n",
        "from solution import f\nassert f(1,b=3)==4\nassert f(1,b=3,z=1)==5\n",
    ),
    "default_mut": (
        "def f(x,l=[]):\n    l.append(x)\n    return l\n",
        "from solution import f\ndef test_a():\n    assert f(1)==[1]\n    assert f(2)==[1,2]\n",
    ),
    "alias_args": (
        "def f(a,b):\n    a.append(1)\n    return b\n",
        "from solution import f\ndef test_a():\n    x=[]\n    assert f(x,x)==[1]\n    assert x==[1]\n",
    ),
    "tests_main": (
        ADD,
        "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(1,2),3)\nif __name__=='__main__':\n    unittest.main()\n",
    ),
    "tests_star": (ADD, "from solution import *\ndef test_a():\n    assert f(1,2)==3\n"),
    "tests_try": (
        ADD,
        "try:\n    from solution import f\nexcept ImportError:\n    f=None\ndef test_a():\n    assert f(1,2)==3\n",
    ),
    "tests_raises_noctx": (
        'def f(a,b): raise ValueError("zz")\n',
        "import pytest\nfrom solution import f\ndef test_a():\n    pytest.raises(ValueError, f, 1, 2)\n",
    ),
    "tests_dataclass": (
        "def f(p): return p.x+p.y\n",
        "from dataclasses import dataclass\nfrom solution import f\n@dataclass\nclass P:\n    x:int\n    y:int\ndef test_a():\n    assert f(P(1,2))==3\n",
    ),
    "wrong_numpy": ("import numpy as np\ndef f(a,b): return np.float64(a+b)\n", SUM),
    "numpy_bool": (
        "import numpy as np\ndef f(a,b): return np.bool_(a<b)\n",
        "from solution import f\nassert f(1,2)\nassert f(1,2)==True\nassert not f(2,1)\n",
    ),
    "defaultdict": (
        "from collections import defaultdict\ndef f(w):\n    d=defaultdict(list)\n    for x in w: d[len(x)].append(x)\n    return d\n",
        'from solution import f\ndef test_a():\n    assert f(["a","bb"])=={1:["a"],2:["bb"]}\n',
    ),
    "inf_gen_slice": (
        "import itertools\ndef f(): return itertools.count()\n",
        "import itertools\nfrom solution import f\ndef test_a():\n    assert list(itertools.islice(f(),3))==[0,1,2]\n",
    ),
    "deepcopy_arg": (
        "import copy\ndef f(x):\n    y=copy.deepcopy(x)\n    y.append(1)\n    return y\n",
        "from solution import f\ndef test_a():\n    x=[[1]]\n    assert f(x)==[[1],1] and x==[[1]]\n",
    ),
    "pickle_result": ('def f(a,b):\n    import pickle\n    return pickle.loads(pickle.dumps({"a":a+b}))["a"]\n', SUM),
    "global_recursion": ("import sys\nsys.setrecursionlimit(50)\n" + ADD, SUM),
    "stdout_none": ("import sys\nsys.stdout=None\nsys.stderr=None\n" + ADD, SUM),
    "linked": (
        "class Node:\n    def __init__(self,v,n=None): self.v=v; self.next=n\ndef f(n):\n    p=None\n    while n: n.next,p,n=p,n,n.next\n    return p\n",
        "from solution import Node,f\ndef test_a():\n    c=Node(3); b=Node(2,c); a=Node(1,b)\n    r=f(a)\n    assert r is c and r.next is b and r.v==3 and a.next is None\n",
    ),
    "matrix": (
        "class M:\n    def __init__(s,d): s.d=d\n    def __matmul__(s,o): return M([[sum(x*y for x,y in zip(r,c)) for c in zip(*o.d)] for r in s.d])\n    def __eq__(s,o): return isinstance(o,M) and s.d==o.d\n    def __getitem__(s,ij): return s.d[ij[0]][ij[1]]\n    def __iadd__(s,k):\n        s.d=[[x+k for x in r] for r in s.d]\n        return s\n",
        "from solution import M\ndef test_a():\n    assert M([[1,2]])@M([[1],[2]])==M([[5]])\n    assert M([[1,2]])[0,1]==2\ndef test_i():\n    m=M([[1]])\n    m+=2\n    assert m==M([[3]])\n",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_right_program_passes(judges: JudgePool, name: str) -> None:
    source, tests = PROGRAMS[name]
    entry_point = "f" if re.search(r"\bf\b", tests) else re.findall(r"from solution import (\w+)", tests)[0]
    feedback = await judges.judge_text(source, tests, entry_point, Limits(wall_s=20))
    assert (feedback.passed, feedback.reason) == (True, "ok"), feedback.message
