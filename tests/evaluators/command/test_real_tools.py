"""Commands that people really use, with the result files that they really write."""

from __future__ import annotations

import shutil

import pytest

from afterword.core.protocols import Sandbox
from afterword.core.records import Limits
from afterword.evaluators.command import CommandCheck, CommandTests, ResultFormat, Snapshot
from tests.evaluators.command.folders import PYTHON, RIGHT, STUB, WRONG

pytestmark = pytest.mark.anyio

PATIENT = Limits(wall_s=60.0, processes=256, memory_mb=2048)
PYTEST_FILE = """\
import sys
sys.path.insert(0, "src")
import pytest
from calc import add

@pytest.mark.parametrize("n", [1, 2])
def test_zero(n):
    assert add(0, n) == n
"""
NODE_FILE = """\
const test = require("node:test");
const assert = require("node:assert");
const { add } = require("../src/add.js");
test("adds", () => assert.strictEqual(add(1, 2), 3));
test("adds negatives", () => assert.strictEqual(add(-1, -2), -3));
"""


async def test_pytest_by_junit_xml(sandbox: Sandbox) -> None:
    files = {"src/calc.py": STUB.encode(), "tests/test_calc.py": PYTEST_FILE.encode()}
    command = "python -m pytest -q -p no:cacheprovider -p no:xdist --junitxml=out.xml"
    check = CommandCheck(Snapshot(files), "src/calc.py", command, ResultFormat("junit", "out.xml"), python=PYTHON)
    tests = await CommandTests(check, sandbox, PATIENT).prepared()
    assert tests.check_ids == ("tests.test_calc::test_zero[1]", "tests.test_calc::test_zero[2]")
    assert (await tests.judge({"src/calc.py": RIGHT.encode()})).passed
    wrong = await tests.judge({"src/calc.py": WRONG.encode()})
    assert (wrong.passed, wrong.score, wrong.reason) == (False, 0.0, "failed")
    assert "assert 3 == 1" in wrong.message


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_node_by_tap(sandbox: Sandbox) -> None:
    files = {"src/add.js": b"module.exports = { add: () => 0 };\n", "tests/add.test.js": NODE_FILE.encode()}
    command = "node --test --test-reporter=tap tests/add.test.js"
    check = CommandCheck(Snapshot(files), "src/add.js", command, ResultFormat("tap"))
    tests = await CommandTests(check, sandbox, PATIENT).prepared()
    right = await tests.judge({"src/add.js": b"module.exports = { add: (a, b) => a + b };\n"})
    assert right.passed, right.message
    wrong = await tests.judge({"src/add.js": b"module.exports = { add: () => 3 };\n"})
    assert (wrong.passed, wrong.trust) == (False, "shared_process")
    assert any("adds negatives" in line for line in wrong.message.split("\n"))
