"""A folder that a command judges: one program, and a runner of a few lines that writes JUnit's XML as pytest does."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from afterword.core.records import Limits
from afterword.evaluators.command import CommandCheck, ResultFormat, Snapshot

PYTHON = Path(sys.executable)
QUICK = Limits(wall_s=20.0, processes=64)

RUNNER = """\
import sys, traceback
from xml.sax.saxutils import quoteattr
sys.path.insert(0, "src")
cases, bad = [], 0
try:
    import tests.checks as checks
except BaseException as error:
    cases, bad = [("", "tests.checks", f"<error message='collection failure'>{error}</error>")], 1
else:
    for name, function in list(vars(checks).items()):
        if name.startswith("test_"):
            try:
                function()
                told = ""
            except AssertionError as error:
                told, bad = f"<failure message={quoteattr(str(error))}/>", bad + 1
            cases.append(("tests.checks", name, told))
body = "".join(f'<testcase classname="{group}" name="{name}">{told}</testcase>' for group, name, told in cases)
with open("out.xml", "w") as file:
    file.write(f'<testsuites><testsuite name="t" failures="{bad}" errors="0">{body}</testsuite></testsuites>')
sys.exit(bool(bad))
"""
CHECKS = """\
from calc import add

def test_small():
    assert add(1, 2) == 3, f"add(1, 2) gave {add(1, 2)}"

def test_negative():
    assert add(-1, -2) == -3, f"add(-1, -2) gave {add(-1, -2)}"
"""
IDS = ("tests.checks::test_small", "tests.checks::test_negative")
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 3\n"
STUB = "def add(a, b):\n    return None\n"

FORGED = (
    '<testsuites><testsuite name="t">'
    + "".join(f'<testcase classname="tests.checks" name="{name}"/>' for name in ("test_small", "test_negative"))
    + "</testsuite></testsuites>"
)

SNAPSHOT = Snapshot({
    "run.py": RUNNER.encode(),
    "src/calc.py": STUB.encode(),
    "tests/__init__.py": b"",
    "tests/checks.py": CHECKS.encode(),
})  # fmt: skip


def check(
    command: str = "python run.py",
    result: str = "junit:out.xml",
    *,
    files: Mapping[str, str] | None = None,
    protect: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
) -> CommandCheck:
    """The check of the small folder, with more files or another command."""
    extra = Snapshot({name: text.encode() for name, text in (files or {}).items()})
    made = CommandCheck(SNAPSHOT, "src/calc.py", command, ResultFormat.parse(result), protect, ids, PYTHON)
    return replace(made, snapshot=SNAPSHOT.overlaid(extra))
