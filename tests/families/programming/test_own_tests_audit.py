"""How far own tests can be trusted: the matrix, its intervals, and which tests hold on a right program."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.records import Limits
from afterword.errors import InputError
from afterword.evaluators.function_tests import JudgePool
from afterword.families.programming.own_tests.auditing import Answer, Audit, Judged, audit
from afterword.families.programming.own_tests.confusion import Confusion, Share
from afterword.families.programming.own_tests.holding import Held, holding
from afterword.sandbox import open_sandbox

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def judges() -> AsyncIterator[JudgePool]:
    async with (
        open_sandbox(workers=2, allow_weak=True) as sandbox,
        open_sandbox(workers=2, allow_weak=True) as companions,
        JudgePool(sandbox, workers=2, companions=companions) as pool,
    ):
        yield pool


@given(st.integers(1, 3_000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_interval_is_the_wilson_interval(counts: tuple[int, int]) -> None:
    binomtest = pytest.importorskip("scipy.stats").binomtest
    low, high = binomtest(*counts).proportion_ci(0.95, "wilson")
    assert Share(*counts).interval == pytest.approx((low, high), abs=1e-12)


def test_nothing_to_count_has_no_share() -> None:
    assert (Share(0, 0).value, Share(0, 0).interval) == (None, None)


@pytest.mark.parametrize(
    ("matrix", "shares"),
    [
        (Confusion(142, 2, 8, 12), (0.9861, 0.0139, 0.4, 0.6)),
        (Confusion(242, 47, 64, 44), (0.8374, 0.1626, 0.5926, 0.4074)),
        (Confusion(27, 4, 7, 12), (0.871, 0.129, 0.3684, 0.6316)),
        (Confusion(221, 41, 47, 45), (0.8435, 0.1565, 0.5109, 0.4891)),
    ],
)
def test_conditional_form_is_the_papers(matrix: Confusion, shares: tuple[float, ...]) -> None:
    found = matrix.conditional()
    assert list(found) == ["right_given_passed", "wrong_given_passed", "right_given_failed", "wrong_given_failed"]
    assert [round(share.value or 0.0, 4) for share in found.values()] == list(shares)


def test_matrix_counts_by_both_verdicts() -> None:
    matrix = Confusion()
    for passed, right in ((True, True), (True, False), (True, False), (False, True), (False, False)):
        matrix = matrix.plus(passed=passed, right=right)
    assert matrix == Confusion(1, 2, 1, 1)
    assert (matrix.passed, matrix.failed, matrix.total) == (3, 2, 5)


def test_audit_leaves_out_faults_and_what_is_not_known() -> None:
    yes, no = Held("a", True), Held("b", False, plain=False)
    seen = Audit(
        (
            Answer(Judged("x", ("a", "b")), (yes, no), True, False),
            Answer(Judged("y", ("a",)), (yes,), True, True),
            Answer(Judged("z", ("a",)), None, False, None),
            Answer(Judged("w", (), faulted=True), None, None, None),
        )
    )
    assert (seen.tests, seen.tasks) == (Share(2, 3), Share(1, 2))
    assert seen.confusion == Confusion(1, 1, 0, 0)
    assert (seen.not_plain, seen.faulted, seen.unknown) == (1, 1, 1)


async def test_tests_are_answered_for_one_by_one(judges: JudgePool) -> None:
    program = (
        "def helper(x):\n    return x + 1\n\n\n"
        "def f(x):\n    if x == 3:\n        while True:\n            pass\n    return x\n"
    )
    texts = [
        "assert f(1) == 1",
        "assert f(3) == 3",
        "assert f(2) == 2",
        "assert f(2) == 9",
        "assert sorted([f(2)]) == [2]",
        "assert helper(1) == 2",
        "assert other(1) == 2",
        "assert f(4) == expected",
    ]
    held = await holding(texts, program, "f", judges, Limits(wall_s=1.0))
    assert [one.text for one in held] == texts
    assert [one.holds for one in held] == [True, False, True, False, True, True, False, False]
    assert [one.plain for one in held] == [True] * 6 + [False] * 2


async def test_solutions_are_judged_by_own_and_by_published_tests(judges: JudgePool, data_dir: Path) -> None:
    prompt = "def truncate_number(number):\n"
    good, bad = "assert truncate_number(3.5) == 0.5", "assert truncate_number(3.5) == 3.0"
    rows = [
        Judged("HumanEval/2", (good,), f"{prompt}    return number % 1.0\n"),
        Judged("HumanEval/2", (good,), f"{prompt}    return 0.5\n"),
        Judged("HumanEval/2", (bad,), f"{prompt}    return number % 1.0\n"),
        Judged("HumanEval/2", (good, bad), f"{prompt}    return None\n"),
        Judged("mine", (good,), "x = 1\n"),
    ]
    seen = await audit(rows, data_dir, judges, 2)
    assert [(one.passed, one.right) for one in seen.answers[:4]] == [
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert seen.confusion == Confusion(1, 1, 1, 1)
    assert (seen.tests, seen.unknown) == (Share(3, 5), 1)


async def test_rows_of_no_benchmark_need_no_data(judges: JudgePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AFTERWORD_DATA", raising=False)
    assert (await audit([Judged("mine", ("assert f(1)",))], None, judges)).unknown == 1
    with pytest.raises(InputError, match="--data"):
        await audit([Judged("HumanEval/2", ("assert f(1)",))], None, judges)


def logged(data_dir: Path) -> list[dict[str, object]]:
    file = data_dir / "reflexion_logs" / "runs_programming" / "testgen_humaneval_py.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def compared(judges: JudgePool, data_dir: Path, rows: list[dict[str, object]]) -> Audit:
    """The audit of logged tests, which agrees item by item with their re-execution elsewhere."""
    judged = []
    for row in rows:
        assert isinstance(row["tests"], list)
        judged.append(Judged(str(row["task_id"]), tuple(row["tests"])))
    seen = await audit(judged, data_dir, judges, 2)
    for row, answer in zip(rows, seen.answers, strict=True):
        assert answer.held is not None
        assert [one.holds for one in answer.held] == row["reexecuted_pass_on_canonical"], row["task_id"]
    return seen


async def test_logged_tests_of_some_tasks(judges: JudgePool, data_dir: Path) -> None:
    """With jailed tests (32), other functions than the entry point (10, 38, 50) and a reference that raises (64)."""
    rows = [row for row in logged(data_dir) if str(row["task_id"]).split("/")[1] in ("0", "10", "32", "38", "50", "64")]
    seen = await compared(judges, data_dir, rows)
    assert len(seen.answers) == 6
    assert seen.not_plain == 1


@pytest.mark.slow
async def test_logged_tests_of_all_tasks(judges: JudgePool, data_dir: Path) -> None:
    seen = await compared(judges, data_dir, logged(data_dir))
    assert (seen.tests, seen.tasks) == (Share(689, 814), Share(96, 164))
