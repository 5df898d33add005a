"""`afterword run` killed at random moments and resumed: real programs, real verdicts, and nothing is paid for again."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from tests.e2e.tasks import fenced
from tests.faults.killing import contents, first_difference
from tests.models.server import Http, Served, completion, provider

pytestmark = pytest.mark.timeout(3600)
TASKS = 20
AT_ONCE = 4
_COMMAND = (sys.executable, "-m", "afterword")
_PATIENCE_S = 300.0
_LESSONS = (
    "My trial failed `test_one`, where a constant came back, since I never used the argument. I will multiply it.",
    "The check `test_one` still gave a negative number because my sign is turned. I will drop the minus and use n.",
)


def write_tasks(file: Path) -> Path:
    """Tasks whose first, second or third program is right, as the server has it."""
    with file.open("w") as lines:
        for number in range(TASKS):
            test = f"from solution import times\n\n\ndef test_one():\n    assert times({{}}) == {number} * {{}}\n"
            row = {
                "id": f"job-{number}",
                "instructions": f"Job {number}: return {number} times the argument.",
                "entry_point": "times",
                "visible_tests": test.format(1, 1),
                "held_out_tests": test.format(7, 7),
            }
            lines.write(json.dumps(row) + "\n")
    return file


def answer(served: Served) -> Http:
    """A program, one better than what the prompt shows, or a lesson from it."""
    body = served.bodies[-1]
    text = json.dumps(body["messages"])
    number = int(re.findall(r"Job (\d+):", text)[0])
    shown = max(map(int, re.findall(r"attempt (\d)", text)), default=0)
    if body.get("temperature") != 0.0:
        return Http(body=completion(_LESSONS[shown - 1]).body, wait_s=0.004)
    value = f"{number} * n" if shown == number % 3 else f"-{shown + 1}"
    return Http(
        body=completion(fenced(f"def times(n):\n    # attempt {shown + 1}\n    return {value}\n")).body, wait_s=0.004
    )


def repeated(served: Served) -> int:
    """How many requests were made again."""
    return sum(count - 1 for count in Counter(json.dumps(body) for body in served.bodies).values())


@dataclass
class Command:
    """`afterword` in processes of its own."""

    folder: Path
    served: Served

    @property
    def journal(self) -> str:
        return str(self.folder / "journal.sqlite")

    def next(self) -> list[str]:
        """What goes on with the run, or begins it where it was killed too early to have been begun."""
        if Path(self.journal).exists():
            connection = sqlite3.connect(self.journal)
            try:
                if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'runs'").fetchone()[0]:
                    begun = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
                    return ["resume", "--journal", self.journal, "--json"] if begun else self._run()
            finally:
                connection.close()
        return self._run()

    def _run(self) -> list[str]:
        tasks = str(write_tasks(self.folder / "tasks.jsonl"))
        where = ["--base-url", self.served.url, "--journal", self.journal]
        return ["run", tasks, "--model", "openai:m", *where, "--jobs", str(AT_ONCE), "--json"]

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "AFTERWORD_HOME": str(self.folder / "home")}
        pipe = subprocess.PIPE
        return subprocess.Popen([*_COMMAND, *self.next()], stdout=pipe, stderr=pipe, text=True, env=environment)

    def killed(self, chance: random.Random) -> bool:
        """Whether it was killed, after so many requests or within its first seconds, before it had ended."""
        process = self.start()
        target = len(self.served.bodies) + chance.randint(1, 20)
        early = time.monotonic() + chance.uniform(0.1, 3.0) if chance.random() < 0.25 else float("inf")
        while process.poll() is None and len(self.served.bodies) < target and time.monotonic() < early:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.03))
        process.kill()
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def finish(self) -> list[dict[str, object]]:
        """Runs it to its end; what it told of each task."""
        process = self.start()
        out, err = process.communicate(timeout=_PATIENCE_S)
        assert process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()]


def outcomes(told: list[dict[str, object]]) -> dict[str, dict[str, object]]:
    return {str(one["task"]): {key: one[key] for key in ("status", "stop_reason", "best_trial")} for one in told}


@pytest.mark.parametrize("runs", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_command_is_resumed_as_if_nothing_had_happened(tmp_path: Path, runs: int) -> None:
    expected_folder = tmp_path / "undisturbed"
    expected_folder.mkdir()
    with provider(plan=answer) as served:
        command = Command(expected_folder, served)
        told = outcomes(command.finish())
        expected, calls = anyio.run(contents, command.journal, TASKS), len(served.bodies)
    assert repeated(served) == 0
    assert {one["status"] for one in told.values()} == {"accepted"}
    for number in range(runs):
        folder = tmp_path / str(number)
        folder.mkdir()
        chance = random.Random(number)  # noqa: S311
        with provider(plan=answer) as served:
            command = Command(folder, served)
            kills = 0
            while kills < 3 and command.killed(chance):
                kills += 1
            assert outcomes(command.finish()) == told
        assert not first_difference(anyio.run(contents, command.journal, TASKS), expected)
        assert len(served.bodies) - repeated(served) == calls
        assert repeated(served) <= kills * AT_ONCE


def test_full_disk_stops_all_tasks_with_one_line_and_they_are_resumed(tmp_path: Path) -> None:
    with provider(plan=answer) as served:
        command = Command(tmp_path, served)
        process = command.start()
        while len(served.bodies) < 10:
            assert process.poll() is None
            time.sleep(0.001)
        used = max(file.stat().st_size for file in tmp_path.iterdir() if file.is_file())
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (used, resource.RLIM_INFINITY))  # no file may grow
        told, err = process.communicate(timeout=_PATIENCE_S)
        assert process.returncode == 3
        complaint = err.splitlines()[-1]
        assert complaint.startswith("afterword: the journal")
        assert "resume" in complaint
        assert "Traceback" not in err
        assert all(json.loads(line)["status"] == "accepted" for line in told.splitlines())
        assert len(command.finish()) == TASKS
        assert repeated(served) <= AT_ONCE
