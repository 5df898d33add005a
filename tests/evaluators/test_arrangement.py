"""Programs that aim at how processes stand to each other: zygote, init, cell, runner, the sockets and files between.

A wrong program of these kinds fails, a right one that only leaves things lying about passes, and the next verdict,
which uses the same zygote and judge, is right either way.
"""

# ruff: noqa: E501  one program a line

from __future__ import annotations

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool
from tests.evaluators.judged import judge

pytestmark = [pytest.mark.anyio]

START = """
import array, ctypes, os, platform, random, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
CLONE = 220 if platform.machine() == "aarch64" else 56
def say(text):
    os.write(3, struct.pack(">I", len(text)) + text.encode())
def send_descriptors(through, *fds):
    through.sendmsg([b"\\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
"""
TESTS = "from solution import f\ndef test_a(): assert f(3) == 9\ndef test_b(): assert f(4) == 16\n"

RIGHT = {
    "children beside it": "for _ in range(5):\n    if libc.syscall(CLONE, 0x8011, 0, 0, 0, 0) == 0: time.sleep(60)",
    "a daemon": "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.close(3)\n        time.sleep(60)\n"
    "    os._exit(0)",
    "a daemon with the judge's socket": "if os.fork() == 0:\n    os.setsid()\n    time.sleep(60)",
    "as many processes as it may": "for _ in range(100):\n    try:\n        if os.fork() == 0: time.sleep(60)\n"
    "    except OSError: break",
    "a pipe that nobody holds": "a, b = socket.socketpair()\nsend_descriptors(a, a.fileno(), b.fileno(), 1, 2)\na.close()\nb.close()",
    "no privileges left to give up": "libc.prctl(1, 9)\nlibc.prctl(36, 1)\nlibc.prctl(4, 0)",
    "a fork bomb when it ends": "import atexit\ndef bomb():\n    while True:\n        try: os.fork()\n        except OSError: pass\n"
    "atexit.register(bomb)",
    "low priority": "os.nice(19)\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
}


@pytest.mark.parametrize("what", RIGHT)
async def test_what_a_right_program_leaves_behind_is_cleared_away(judges: JudgePool, what: str) -> None:
    feedback = await judge(judges, START + RIGHT[what] + "\ndef f(x): return x * x\n", TESTS)
    assert (feedback.passed, feedback.reason) == (True, "ok"), feedback.message
    assert (await judge(judges, "def f(x): return x * x", TESTS)).passed


WRONG = {
    "a child beside it": "def f(x):\n    if libc.syscall(CLONE, 0x8011, 0, 0, 0, 0) == 0: os._exit(0)\n    return 0",
    "its group is killed": "os.kill(0, 9)",
    "its group is stopped": "os.kill(0, 19)",
    "a child goes on in its place": "def f(x):\n    if os.fork(): os._exit(0)\n    return x * x",
    "a child answers too": "def f(x):\n    if os.fork() == 0:\n        while True: say('[2,\"ok\",[\"i\",\"9\"],[]]')\n"
    "    time.sleep(0.5)\n    return 0",
    "threads write in between": "def write():\n    while True: os.write(3, b'\\0\\0\\0\\5[0,1]')\n"
    "for _ in range(4): threading.Thread(target=write, daemon=True).start()\ndef f(x): return x * x",
    "names before it is loaded": "say('[1,\"ok\",[[\"f\",[\"i\",\"9\"]]]]')\ndef f(x): return 0",
    "all answers ahead": "say('[0,\"loaded\"]')\nfor n in range(1, 9): say('[%d,\"ok\",[\"i\",\"9\"],[]]' % n)\ntime.sleep(60)",
    "loaded twice": "say('[0,\"loaded\"]')\ndef f(x): return x * x",
    "the socket is closed": "os.close(3)\ndef f(x): return x * x",
    "the socket is half closed": "socket.socket(fileno=os.dup(3)).shutdown(1)\ndef f(x): return x * x",
    "the socket is its output": "os.dup2(3, 1)\nprint('x' * 100, flush=True)\ndef f(x): return x * x",
    "half a message": "def f(x):\n    os.write(3, struct.pack('>I', 1000) + b'[2,')\n    time.sleep(60)",
    "descriptors for the judge": "s = socket.socket(fileno=os.dup(3))\na, b = socket.socketpair()\n"
    "for _ in range(60): send_descriptors(s, *[a.fileno(), b.fileno(), 1] * 20)\ndef f(x): return x * x",
    "a handle on the main process": "s = socket.socket(fileno=os.dup(3))\ntry:\n"
    "    (fd,) = struct.unpack('i', s.getsockopt(1, 77, 4))\n    for n in (9, 19): libc.syscall(424, fd, n, 0, 0)\n"
    "except OSError: pass\ndef f(x): return 0",
    "its init is looked into": "try:\n    open('/proc/1/mem', 'rb+')\n    def f(x): return x * x\nexcept OSError:\n    def f(x): return 0",
    "the kernel is set": "done = []\nfor name in ('self/oom_score_adj', 'self/autogroup', '1/oom_score_adj', 'sys/kernel/hostname'):\n"
    "    try:\n        with open('/proc/' + name, 'w') as file: file.write('1')\n        done.append(name)\n    except OSError: pass\n"
    "def f(x): return x * x if done else 0",
    "a destructor ends it": "class D:\n    def __del__(self): os._exit(0)\ndef f(x):\n    D()\n    return x * x",
    "signals are ignored": "for n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
    "def f(x):\n    while True: pass",
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
async def test_no_way_around_its_place_passes(judges: JudgePool, what: str) -> None:
    source = START + WRONG[what] + "\n"
    feedback = await judge(
        judges, source if "def f" in source else source + "def f(x): return x * x\n", TESTS, Limits(wall_s=3)
    )
    assert not feedback.passed
    assert feedback.reason in ("failed", "error", "timeout", "tampered")
    assert (await judge(judges, "def f(x): return x * x", TESTS)).passed


async def test_a_program_does_not_draw_the_numbers_of_the_tests(judges: JudgePool) -> None:
    tests = "import random\nfrom solution import f\ndef test_a(): assert f() == random.random()\n"
    for source in (
        "import random\ndef f(): return random.random()",
        "import random\nfirst = random.random()\ndef f(): return first",
    ):
        assert (await judge(judges, source, tests)).reason == "failed"
