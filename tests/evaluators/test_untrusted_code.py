"""The hostile and odd programs of the shared cases: each verdict right, and no harm to the host."""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from afterword.core.records import Feedback, Limits
from afterword.evaluators.function_tests import JudgePool
from afterword.sandbox import open_sandbox
from tests.evaluators.judged import Listening
from tests.watching import processes

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


@dataclass(frozen=True)
class Case:
    row: dict[str, object]

    def text(self, key: str) -> str:
        value = self.row[key]
        assert isinstance(value, str)
        return value

    @property
    def expect(self) -> dict[str, object]:
        value = self.row["expect"]
        assert isinstance(value, dict)
        return value

    @property
    def checks(self) -> list[dict[str, object]]:
        value = self.row.get("checks") or []
        assert isinstance(value, list)
        return value


def _cases() -> list[Case]:
    """All rows; none where the cases are not installed (the one test below then says so)."""
    file = Path(os.environ.get("AFTERWORD_DATA", "/nowhere")).parent / "cases" / "untrusted_code.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [Case(json.loads(line)) for line in lines]


def _parameters() -> list[object]:
    return [
        pytest.param(case, id=case.text("id"), marks=[] if case.text("tier") == "core" else [pytest.mark.slow])
        for case in _cases()
    ]


def test_all_cases_are_there(cases_dir: Path) -> None:
    lines = (cases_dir / "untrusted_code.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(_cases()) == 104


@pytest.mark.parametrize("case", _parameters())
async def test_verdict(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with planted(case, tmp_path, monkeypatch) as host:
        before = set(processes())
        started = time.monotonic()
        # A pool of its own: what is planted must be there before any process of it starts.
        async with open_sandbox(workers=1) as inner, JudgePool(listening := Listening(inner), workers=1) as judges:
            feedback = await verdict(judges, case)
            wall_s = time.monotonic() - started
            again = [await verdict(judges, case) for _ in range(repeats(case))]
            printed = await listening.printed()
        assert is_expected(case, feedback), feedback
        assert all((one.passed, one.reason) == (feedback.passed, feedback.reason) for one in again)
        assert len(feedback.message) < 10_000
        json.dumps(feedback.message).encode("ascii")
        for check in case.checks:
            host.check(check, printed, wall_s)
        assert not left_over(before), "a process was left behind"


async def verdict(judges: JudgePool, case: Case) -> Feedback:
    return await judges.judge_text(case.text("solution"), case.text("tests"), case.text("entry_point"), Limits())


def is_expected(case: Case, feedback: Feedback) -> bool:
    expect = case.expect
    if expect.get("either"):
        return True
    allowed = expect.get("also_ok") or []
    assert isinstance(allowed, list)
    return feedback.passed == expect["passed"] and feedback.reason in [expect["reason"], *allowed]


def repeats(case: Case) -> int:
    return sum(int(str(check["times"])) for check in case.checks if check["type"] == "rerun_same")


def left_over(before: set[int], patience_s: float = 3.0) -> set[int]:
    deadline = time.monotonic() + patience_s
    while True:
        left = {pid for pid in set(processes()) - before if _descends(pid, os.getpid())}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            return False
    return False


@dataclass
class Host:
    listeners: dict[int, socket.socket] = field(default_factory=dict)
    peak_kb: int = field(default_factory=lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    def check(self, check: dict[str, object], printed: str, wall_s: float) -> None:
        kind = check["type"]
        if kind == "output_has_no":
            assert str(check["text"]) not in printed
        elif kind == "no_connection":
            with pytest.raises(BlockingIOError):
                self.listeners[int(str(check["port"]))].accept()
        elif kind == "no_process":
            assert not [line for line in processes().values() if str(check["contains"]) in line]
        elif kind == "max_wall_s":
            assert wall_s < float(str(check["value"]))
        elif kind == "no_file":
            assert not Path(str(check["name"])).exists()
        elif kind == "no_file_content":
            for folder in {Path.cwd(), Path.cwd().parent, Path(tempfile.gettempdir())}:
                file = folder / str(check["name"])
                assert not file.is_file() or str(check["contains"]) not in file.read_text(encoding="utf-8")
        elif kind == "max_captured_bytes":
            assert len(printed) < int(str(check["value"]))
            grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self.peak_kb
            assert grown_kb < 64 * 1024
        else:
            assert kind in ("rerun_same", "no_new_process")  # both are looked at for every case


@contextmanager
def planted(case: Case, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """What the case wants on the host; a home folder of its own stands for the user's."""
    setup = case.row.get("setup") or {}
    assert isinstance(setup, dict)
    host = Host()
    with ExitStack() as stack:
        if setup:
            monkeypatch.setenv("HOME", str(home))
        for name, value in setup.get("env", {}).items():
            monkeypatch.setenv(name, value)
        for name, content in setup.get("files", {}).items():
            file = home / name.removeprefix("~/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        for port in setup.get("listen_tcp", []):
            listener = stack.enter_context(socket.create_server(("127.0.0.1", port)))
            listener.setblocking(False)
            host.listeners[port] = listener
        yield host
