"""Hostile programs given to graders that have no jail of their own, without harm to this machine.

Each case gets a fresh driver in a scratch: its own processes, no network, everything read-only but a small
folder in memory; what it leaves behind dies with it. Where that cannot be had the cases are not run at all.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.drivers import Driver, DriverError

MEMORY_KB = 4 * 1024 * 1024
"""Address space of a process in the scratch; evalplus sets the same limit itself."""

# The driver is not process 1 of its namespace: that one cannot be killed by its own children, which would hide
# what such a case does to a grader. So the shell stays.
_SCRATCH = f"""
mount -o remount,bind,ro / && mount -t tmpfs -o size=512m scratch "$1" && mount -t tmpfs -o size=512m shm /dev/shm &&
ulimit -v {MEMORY_KB} && cd "$1" && shift && "$@"
exit $?
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A hostile or odd program with its tests, and whether it is to pass."""

    id: str
    entry_point: str
    solution: str
    tests: str
    passes: bool
    either: bool
    """Both verdicts are defensible."""


def load_cases(path: Path, tier: str) -> list[Case]:
    """The cases of a tier that are safe to run with plain limits."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Case(
            id=row["id"],
            entry_point=row["entry_point"],
            solution=row["solution"],
            tests=row["tests"],
            passes=row["expect"]["passed"],
            either=row["expect"].get("either", False),
        )
        for row in rows
        if row["tier"] == tier and not row.get("unsafe")
    ]


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a grader got wrong, by case id."""

    judged: int
    fooled: tuple[str, ...]
    """It passed what must fail."""
    rejected: tuple[str, ...]
    """It failed what must pass."""
    no_verdict: tuple[str, ...]
    """It died or hung."""

    @property
    def count(self) -> int:
        return len(self.fooled) + len(self.rejected) + len(self.no_verdict)


def tally(verdicts: Sequence[tuple[Case, bool | None]]) -> Wrong:
    """Counts verdicts against what is expected; None is no verdict."""
    judged = [(case, passed) for case, passed in verdicts if not case.either]
    return Wrong(
        judged=len(judged),
        fooled=tuple(case.id for case, passed in judged if passed and not case.passes),
        rejected=tuple(case.id for case, passed in judged if passed is False and case.passes),
        no_verdict=tuple(case.id for case, passed in judged if passed is None),
    )


def scratch_works() -> bool:
    """Whether a scratch can be made here."""
    if shutil.which("unshare") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*_scratch(folder), "true"], capture_output=True, check=False)
    return done.returncode == 0


def _scratch(folder: str) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    spaces = ["--mount", "--pid", "--net", "--ipc", "--fork", "--mount-proc", "--kill-child"]
    return ["unshare", *user, *spaces, "--", "sh", "-c", _SCRATCH, "sh", folder]


def judge_in_scratch(command: Sequence[str], case: Case, request: dict[str, object], timeout_s: float) -> bool | None:
    """The verdict of a grader's driver on one case; None if it gave none.

    `timeout_s` is well above the grader's own limit: a grader that is still busy then counts as hanging.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.defpath, "TMPDIR": folder, "HOME": folder, "LANG": "C.UTF-8"}
        with Driver([*_scratch(folder), *command], environment=environment) as driver:
            try:
                answer = driver.ask({"case": {"id": case.id, **request}}, timeout_s)
            except DriverError:
                return None
    return answer.get("passed") is True


def as_program(case: Case) -> dict[str, object]:
    """A case for graders that run test code."""
    return {"entry_point": case.entry_point, "solution": case.solution, "tests": case.tests}


def as_inputs(case: Case) -> dict[str, object] | None:
    """A case for graders that take inputs with expected values; None if its tests say more than that."""
    inputs: list[str] = []
    expected: list[str] = []
    atol = 0.0
    for statement in _statements(ast.parse(case.tests)):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        match statement:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=called), args=arguments, keywords=[]),
                    ops=[ast.Eq()],
                    comparators=[value],
                )
            ) if called == case.entry_point:
                match value:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="pytest"), attr="approx"), args=[value]):
                        atol = 1e-6
                if not all(_is_constant(node) for node in (*arguments, value)):
                    return None
                inputs.append(repr([_value(argument) for argument in arguments]))
                expected.append(repr(_value(value)))
            case _:
                return None
    if not inputs:
        return None
    return {
        "entry_point": case.entry_point,
        "solution": case.solution,
        "inputs": inputs,
        "expected": expected,
        "atol": atol,
    }


def _statements(tests: ast.Module) -> list[ast.stmt]:
    """Those of the module and of its test functions, in order."""
    statements: list[ast.stmt] = []
    for statement in tests.body:
        inside = isinstance(statement, ast.FunctionDef) and statement.name.startswith("test")
        statements += statement.body if inside and isinstance(statement, ast.FunctionDef) else [statement]
    return statements


def _is_constant(node: ast.expr) -> bool:
    allowed = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp)
    inner = (ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(part, (*allowed, *inner)) for part in ast.walk(node))


def _value(node: ast.expr) -> object:
    """The value of constants and arithmetic on them, e.g. 10**12."""
    code = compile(ast.Expression(node), "constant", "eval")
    return eval(code, {"__builtins__": {}})  # noqa: S307 - constants only, see _is_constant
