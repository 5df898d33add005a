"""The wire against a peer that keeps to nothing: it can make its own verdict fail, and nothing else."""

from __future__ import annotations

import json
import random
import socket
import struct

import pytest

from afterword.core.records import Limits
from afterword.evaluators.function_tests import JudgePool, Suite
from tests.evaluators.doubles import Answer, ScriptedSandbox
from tests.watching import descriptors

pytestmark = pytest.mark.anyio

REASONS = {"failed", "error", "tampered", "timeout", "memory", "missing", "syntax"}
LITERAL = "from solution import f\ndef test_a():\n    assert f(1) == 90210777\n"
USES = """
import asyncio
import pytest
from solution import f, C

def test_call():
    got = f([1, 2], key=lambda x: x)
    assert got == 90210777

def test_object():
    c = C(1)
    c.x = 2
    assert c.x == 90210777 and len(c) == 90210778 and c[0] == 90210779

def test_iteration():
    assert list(f(3)) == [90210777, 90210778]

def test_raises():
    with pytest.raises(KeyError, match="90210777"):
        f(4)

def test_coroutine():
    assert asyncio.run(f(5)) == 90210777

def test_text():
    assert str(f(6)) + repr(f(7)) == "90210777"
"""
SUITES = [Suite.from_source(LITERAL, entry_point="f"), Suite.from_source(USES, entry_point="f")]


def frame(message: object) -> bytes:
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body


def read(peer: socket.socket) -> list[object]:
    head = peer.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        raise ConnectionResetError
    message = json.loads(peer.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL))
    assert isinstance(message, list)
    return message


class Fuzz:
    """Answers that are nearly in form: right tags with wrong contents, at every place."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  the same answers every time

    def __call__(self, peer: socket.socket) -> None:
        peer.sendall(frame([0, "loaded"]) if self.random.random() < 0.95 else frame(self.node(0)))
        for _ in range(200):
            number = read(peer)[0]
            roll = self.random.random()
            if roll < 0.02:
                peer.sendall(self.random.randbytes(self.random.randrange(40)))
            elif roll < 0.05:
                peer.sendall(frame(self.node(0)))
            elif roll < 0.15:
                peer.sendall(frame([0, "callback", self.number(), [self.node(1)], [["k", self.node(1)]]]))
            elif roll < 0.3:
                peer.sendall(frame([number, "raised", self.error()]))
            else:
                peer.sendall(frame([number, "ok", *self.parts()]))

    def parts(self) -> list[object]:
        kind = self.random.randrange(4)
        if kind == 0:
            return [[["f", self.node(0)], ["C", ["class", 0, self.description()]]]]
        if kind == 1:
            return [self.node(0), []]
        if kind == 2:
            return [self.random.choice([True, False, 1, None]), self.node(0)]
        return [self.node(0) for _ in range(self.random.randrange(4))]

    def number(self) -> object:
        return self.random.choice([0, 1, 2, 3, -1, 10**30, None, "x", 1.5, True])

    def description(self) -> object:
        if self.random.random() < 0.2:
            return self.number()
        names = ["object", "int", "list", "ValueError", "BaseException", "type", "print", 7, "__import__"]
        specials = ["__len__", "__iter__", "__getitem__", "__call__", "__eq__", "__class__", "__init__", "__del__", 3]
        take = self.random.sample
        parents = [self.description()] if self.random.random() < 0.2 else []
        return [self.random.randrange(5), "N", "solution", parents, take(names, 3), take(specials, 5)]

    def error(self) -> object:
        whole: list[object] = [0, self.description(), [self.node(2)], "text", [[1, "f", "x"]], None]
        whole[self.random.randrange(6)] = self.random.choice([whole[1], None, 5, "x", [], ["builtin", "KeyError"]])
        return whole if self.random.random() < 0.8 else self.node(0)

    def node(self, depth: int) -> object:
        pick = self.random.choice
        if depth > 4 or self.random.random() < 0.3:
            return pick([None, True, 0, -5, 0.5, "s", "\ud800", 10**400, [], {}, "f"])
        inner = [self.node(depth + 1) for _ in range(self.random.randrange(3))]
        tag = pick(
            [
                "l",
                "t",
                "s",
                "fs",
                "d",
                "i",
                "b",
                "ba",
                "c",
                "pf",
                "pi",
                "np",
                "cnt",
                "od",
                "dd",
                "dq",
                "dec",
                "fr",
                "date",
                "dt",
                "time",
                "td",
                "uuid",
                "range",
                "slice",
                "view",
                "const",
                "builtin",
                "h",
                "class",
                "gen",
                "coro",
                "sub",
                "fn",
                "it",
                "lo",
                "error",
                "arg",
                "nothing",
            ]
        )
        return pick([
            [tag, inner], [tag, self.number()], [tag, self.number(), self.description()], [tag], [tag, "AAAA", inner],
            [tag, self.number(), self.description(), self.node(depth + 1)], ["np", "<f8", [2], "AAAAAAAAAAA="],
            ["np", "|O", [1], "AAAAAAAAAAA="], ["builtin", "eval"], ["error", 0, self.description(), inner, "t"],
        ])  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
async def test_a_fuzzing_peer_fails_and_the_judge_lives(seed: int) -> None:
    async with JudgePool(sandbox := ScriptedSandbox(Fuzz(0)), workers=1) as judges:
        pids = set()
        for number in range(40):
            sandbox.script = Fuzz(1000 * seed + number)
            for suite in SUITES:
                feedback = await judges.judge("", suite, Limits(wall_s=4))
                assert not feedback.passed
                assert feedback.reason in REASONS, feedback
                assert len(feedback.message) < 10_000
            pids |= {judge.pid for judge in judges._all}
        assert len(pids) == 1, "the judge itself must not die"


STARTS: list[object] = [
    [0, "loaded"], [0, "loaded", 1], [0, "syntax", "no"], [0, "raised", 1], [0], [], 0, [0, 0], ["0", "loaded"],
    [0, "raised", [0, ["builtin", "OSError"], [], "", [], None]], [True, "loaded"], [10**30, "ok"], [2, "ok", 9, []],
    [1, "loaded"], [1, "ok"], [1, "ok", []], [1, "ok", [["f", ["i", "9"]]]], [1, "ok", [["g", 1]]],
    [1, "ok", [["f", ["fn", 0]]]], [1, "unsendable", "it"], [0, "callback", 0, [], []],
    [1, "raised", [0, ["builtin", "SystemExit"], [], "", [], 0]], [0, "callback", -1, [1], [["a", 1]]],
]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
async def test_a_peer_that_starts_out_of_turn_fails_and_the_judge_lives(seed: int) -> None:
    """Names are asked for before the program is known to be loaded, so any of these may come in any order."""
    async with JudgePool(sandbox := ScriptedSandbox(Fuzz(0)), workers=1) as judges:
        pids = set()
        for number in range(60):
            rng = random.Random(1000 * seed + number)  # noqa: S311
            frames = [frame(rng.choice(STARTS)) for _ in range(rng.randrange(6))]
            if rng.random() < 0.5:
                frames.insert(0, frame([0, "loaded"]))
            data = b"".join(frames)
            data = data[: len(data) - rng.randrange(4)]
            waits = rng.random() < 0.3

            def script(peer: socket.socket, data: bytes = data, waits: bool = waits) -> None:
                if waits:
                    read(peer)
                peer.sendall(data)

            sandbox.script = script
            for suite in SUITES:
                feedback = await judges.judge("", suite, Limits(wall_s=4))
                assert not feedback.passed
                assert feedback.reason in {*REASONS, "syntax", "missing"}, feedback
            pids |= {judge.pid for judge in judges._all}
        assert len(pids) == 1, "the judge itself must not die"


def _closes(peer: socket.socket) -> None:
    peer.close()


def _floods(peer: socket.socket) -> None:
    while True:
        peer.sendall(b"\0\0\0\x02[]" * 10_000)


def _announces_much(peer: socket.socket) -> None:
    peer.sendall(struct.pack(">I", 2**32 - 1) + b"[" * 100_000)


def _nests_deeply(peer: socket.socket) -> None:
    body = b'[0,"loaded"' + b",[" * 3_000_000
    peer.sendall(struct.pack(">I", len(body)) + body)


def _nests_values(peer: socket.socket) -> None:
    peer.sendall(frame([0, "loaded"]))
    read(peer)
    deep: object = 1
    for _ in range(450):
        deep = ["l", [deep]]
    peer.sendall(frame([1, "ok", [["f", deep], ["C", deep]]]))
    read(peer)


def _fills_memory(peer: socket.socket) -> None:
    body = b'[0,"loaded"' + b",[]" * 20_000_000 + b"]"
    peer.sendall(struct.pack(">I", len(body)) + body)
    read(peer)


def _collides_hashes(peer: socket.socket) -> None:
    peer.sendall(frame([0, "loaded"]))
    read(peer)
    step = 2**61 - 1
    bomb = ["s", [["i", format(step * n, "x")] for n in range(60_000)]]
    peer.sendall(frame([1, "ok", [["f", bomb], ["C", 1]]]))
    read(peer)


@pytest.mark.parametrize(
    ("script", "reasons"),
    [
        (_closes, {"error"}),
        (_floods, {"tampered", "error"}),
        (_announces_much, {"tampered"}),
        (_nests_deeply, {"tampered"}),
        (_nests_values, {"error", "tampered"}),
        (_fills_memory, {"tampered", "memory", "error", "timeout"}),
        (_collides_hashes, {"timeout", "error"}),
    ],
)
async def test_an_abusive_peer(script: Answer, reasons: set[str]) -> None:
    async with JudgePool(ScriptedSandbox(script), workers=1) as judges:
        feedback = await judges.judge("", SUITES[1], Limits(wall_s=2))
        assert not feedback.passed
        assert feedback.reason in reasons, feedback


async def test_how_the_jail_ended_is_the_reason_when_the_connection_is_lost() -> None:
    async with JudgePool(ScriptedSandbox(_closes, "memory"), workers=1) as judges:
        feedback = await judges.judge("", SUITES[0], Limits())
        assert feedback.reason == "memory"


async def test_nothing_is_left_open() -> None:
    before = descriptors()
    async with JudgePool(ScriptedSandbox(_closes), workers=2) as judges:
        for _ in range(5):
            await judges.judge("", SUITES[0], Limits())
    assert descriptors() == before
