"""What most people use: the solution and its tests in a folder, `python -m pytest` on it, the exit status."""

import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from verdict_line import serve_grader

TIMEOUT_S = 5


def judge(solution, tests):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "package" / "work"  # some cases write into the parent folder
        folder.mkdir(parents=True)
        try:
            (folder / "solution.py").write_text(solution, encoding="utf-8")
        except UnicodeEncodeError:
            return False
        (folder / "test_solution.py").write_text(tests, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-x", "-q", "test_solution.py"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(TIMEOUT_S) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False


def judge_item(item):
    entry_point = item["entry_point"]
    # Some checks use a helper that the prompt defines.
    tests = f"from solution import *\n{item['test']}\n\ndef test_check():\n    check({entry_point})\n"
    return judge(item["prompt"] + item["solution"], tests)


def judge_case(case):
    return judge(case["solution"], case["tests"])


serve_grader(version("pytest"), judge_item, judge_case)
