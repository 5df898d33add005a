"""Programs of published runs: what is found, why it differs, and the interpreter that they once shared."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from afterword.core.records import Feedback, Limits
from afterword.errors import InputError
from afterword.evaluators.function_tests import JudgePool
from afterword.experiments.rescore import Bench, Difference, Log, RunScore, Unstable, find_logs, open_bench, rescore
from afterword.experiments.rescore.programs import LIMITS, Item, Judges, score_programs
from tests.experiments.rescore.logs import MEAN, REDEFINES, ROOT, ROOT_WITHOUT_IMPORT, item, programs, write

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def judges() -> AsyncIterator[Judges]:
    async with open_bench([], jobs=2, allow_weak=True) as bench:
        yield bench.judges


async def scored(file: Path, judges: Judges, *, shared: bool = False) -> RunScore:
    return await score_programs(
        Log(file.stem, "programs", file), judges, shared_namespace=shared, tell=lambda done, of: None
    )


async def test_what_holds_is_counted(tmp_path: Path, judges: Judges) -> None:
    rows = [item("toy_2_mean", MEAN, True), item("toy_3_root", "def root(x):\n    return 4\n", False, trials=3)]
    found = await scored(programs(tmp_path, "run", rows), judges)
    assert (found.items, found.claimed, found.found, found.differences, found.unstable) == (2, 1, 1, (), ())


async def test_a_name_that_an_earlier_item_redefined_is_the_cause(tmp_path: Path, judges: Judges) -> None:
    rows = [item("toy_1_total", REDEFINES, True), item("toy_2_mean", MEAN, False, trials=3)]
    file = programs(tmp_path, "run", rows)
    cause = "failed since toy_1_total had redefined 'sum' in the shared interpreter"
    assert (await scored(file, judges)).differences == (Difference("toy_2_mean", False, True, cause),)
    emulated = await scored(file, judges, shared=True)
    assert (emulated.found, emulated.differences) == (1, ())


async def test_a_name_that_only_an_earlier_item_had_is_the_cause(tmp_path: Path, judges: Judges) -> None:
    rows = [item("toy_2_mean", f"import math\n{MEAN}", True), item("toy_3_root", ROOT_WITHOUT_IMPORT, True)]
    found = await scored(programs(tmp_path, "run", rows), judges)
    cause = "passed only with 'math', which toy_2_mean had left in the shared interpreter"
    assert found.differences == (Difference("toy_3_root", True, False, cause),)


async def test_a_later_item_is_no_cause(tmp_path: Path, judges: Judges) -> None:
    rows = [item("toy_3_root", ROOT_WITHOUT_IMPORT, True), item("toy_3_root", ROOT, True)]
    (difference,) = (await scored(programs(tmp_path, "run", rows), judges)).differences
    assert difference.cause.startswith("not reproduced: the logged program fails (0 of 1 checks passed")


@pytest.mark.parametrize(
    ("program", "cause"),
    [("", "the log holds no program"), ("def root(x:\n", "the logged program does not compile: ")],
)
async def test_what_cannot_run_says_so(program: str, cause: str, tmp_path: Path, judges: Judges) -> None:
    found = await scored(programs(tmp_path, "run", [item("toy_3_root", program, True)]), judges)
    assert found.differences[0].cause.startswith(cause)


async def test_a_body_goes_behind_its_prompt(tmp_path: Path, judges: Judges) -> None:
    row = item("toy_3_root", "    return 3\n", True, more={"solution_kind": "body"})
    file = programs(tmp_path, "run", [row])
    tasks = (tmp_path / "benchmarks" / "toy.jsonl").read_text(encoding="utf-8")
    (tmp_path / "benchmarks" / "toy.jsonl").write_text(tasks.replace("(x):\\n    pass\\n", "(x):\\n"), encoding="utf-8")
    assert (await scored(file, judges)).found == 1


async def test_own_tests_are_held_against_what_is_claimed_and_what_is_found(tmp_path: Path, judges: Judges) -> None:
    rows = [
        item("toy_1_total", REDEFINES, True),
        item("toy_2_mean", MEAN, False, trials=2),
        item("toy_3_root", "def root(x):\n    return 4\n", False, trials=3),
    ]
    found = (await scored(programs(tmp_path, "run", rows), judges)).own_tests
    assert found is not None
    assert (found.claimed.true_positive, found.claimed.false_positive, found.claimed.true_negative) == (1, 1, 1)
    assert (found.found.true_positive, found.found.false_positive, found.found.true_negative) == (2, 0, 1)


@dataclass(frozen=True)
class Scripted(Judges):
    """Judges whose verdicts are written down."""

    verdicts: list[Feedback] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    async def verdict(self, item: Item, program: str | None = None, limits: Limits = LIMITS) -> Feedback:
        self.limits.append(limits.wall_s)
        return self.verdicts.pop(0)


def said(passed: bool, reason: str = "", wall_s: float = 0.0) -> Feedback:
    return Feedback(passed, float(passed), "isolated", reason or ("ok" if passed else "failed"), wall_s=wall_s)


async def test_a_verdict_that_hangs_on_luck_is_found_out(tmp_path: Path, judges: Judges) -> None:
    coin = [said(passed) for passed in (False, True, True) * 7]
    found = await scored(
        programs(tmp_path, "run", [item("toy_3_root", ROOT, True)]), Scripted(judges.python, None, verdicts=coin)
    )
    assert found.unstable == (Unstable("toy_3_root", 14, 21),)
    assert (found.found, found.differences) == (1, ())


def rust(tmp_path: Path, program: str) -> Path:
    """A run of one Rust program, claimed to be right."""
    task = {
        "task_id": "toy_rust",
        "prompt": "fn root(x: isize) -> isize {\n",
        "entry_point": "root",
        "test": "fn main() {\n    let candidate = root;\n    assert_eq!(candidate(9), 3);\n}\n",
    }
    log = programs(tmp_path, "run", [{**item("toy_rust", program, True, more={"language": "rust"}), "benchmark": "rs"}])
    write(tmp_path / "benchmarks" / "rs.jsonl", [task])
    return log


async def test_luck_is_found_though_the_first_verdict_is_the_claimed_one(tmp_path: Path, judges: Judges) -> None:
    program = "use std::collections::HashMap;\nfn root(x: isize) -> isize { 3 }"
    coin = [said(passed) for passed in (True, False, False) * 7]
    found = await scored(rust(tmp_path, program), Scripted(judges.python, None, verdicts=coin))
    assert found.unstable == (Unstable("toy_rust", 7, 21),)
    assert (found.found, [one.cause for one in found.differences]) == (0, ["a matter of luck: passed 7 of 21 times"])


@pytest.mark.parametrize(("holds", "verdicts"), [("HashSet", 8), ("BTreeMap", 1)])
async def test_what_has_no_random_order_is_judged_once(
    tmp_path: Path, judges: Judges, holds: str, verdicts: int
) -> None:
    script = Scripted(judges.python, None, verdicts=[said(True)] * 8)
    found = await scored(rust(tmp_path, f"use std::collections::{holds};\nfn root(x: isize) -> isize {{ 3 }}"), script)
    assert (found.found, found.unstable, len(script.limits)) == (1, (), verdicts)


async def test_a_program_that_is_slow_twice_is_tried_once_with_more_time(tmp_path: Path, judges: Judges) -> None:
    slow = [said(False, "timeout"), said(False, "timeout"), said(True, wall_s=11.6)]
    script = Scripted(judges.python, None, verdicts=slow)
    found = await scored(programs(tmp_path, "run", [item("toy_3_root", ROOT, True)]), script)
    assert found.differences[0].cause == "slow: passes in 12 s, more than the limit of 10 s"
    assert script.limits == [10, 10, 30]


async def test_a_program_that_was_slow_for_a_busy_machine_only_is_solved(tmp_path: Path, judges: Judges) -> None:
    script = Scripted(judges.python, None, verdicts=[said(False, "timeout"), *[said(True)] * 20])
    found = await scored(programs(tmp_path, "run", [item("toy_3_root", ROOT, True)]), script)
    assert (found.found, found.differences, found.unstable) == (1, (), (Unstable("toy_3_root", 20, 21),))


async def test_what_does_not_compile_is_not_repeated(tmp_path: Path, judges: Judges) -> None:
    script = Scripted(judges.python, None, verdicts=[said(False, "syntax"), *[said(True)] * 20])
    found = await scored(programs(tmp_path, "run", [item("toy_3_root", "def root(x:", True)]), script)
    assert (found.found, found.unstable, len(found.differences)) == (0, (), 1)


async def test_a_program_that_hangs_as_claimed_is_not_repeated(tmp_path: Path, judges: Judges) -> None:
    script = Scripted(judges.python, None, verdicts=[said(False, "timeout")])
    found = await scored(programs(tmp_path, "run", [item("toy_3_root", ROOT, False)]), script)
    assert (found.found, found.differences, script.limits) == (0, (), [10])


async def test_rust_without_a_toolchain_is_left_out_and_said(tmp_path: Path, judges: Judges) -> None:
    row = item("toy_3_root", "fn root() {}", True, more={"language": "rust"})
    log = Log("run", "programs", programs(tmp_path, "run", [row]))
    left_out: list[tuple[str, str]] = []
    scores = await rescore(
        [log],
        Bench(judges, "no rustc"),
        tell=lambda score: None,
        left_out=lambda log, why: left_out.append((log.run, why)),
    )
    assert (scores, left_out) == ([], [("run", "no rustc")])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "other"}, "has no task 'other'"),
        ({"claimed_solved": "yes"}, "true or false in 'claimed_solved'"),
        ({"language": "cobol"}, "python or rust, found 'cobol'"),
        ({"solution": None}, "text in 'solution'"),
        ({"benchmark": "none"}, "benchmark 'none', which is not there"),
    ],
)
async def test_a_broken_log_is_one_clear_line(
    change: dict[str, object], said: str, tmp_path: Path, judges: Judges
) -> None:
    file = programs(tmp_path, "run", [item("toy_3_root", ROOT, True, more=change)])
    with pytest.raises(InputError, match=said) as caught:
        await scored(file, judges)
    assert "\n" not in str(caught.value)


def test_runs_are_found_and_named(tmp_path: Path) -> None:
    programs(tmp_path, "one", [item("toy_3_root", ROOT, True)])
    write(tmp_path / "runs_games" / "g_envs.jsonl", [{"benchmark": "alfworld", "env": "e", "solved_at_trial": 0}])
    write(tmp_path / "runs_games" / "g_per_trial.jsonl", [{"trial": 0, "successes": 1}])
    assert [(log.run, log.kind) for log in find_logs(tmp_path)] == [("one", "programs"), ("g", "games")]
    with pytest.raises(InputError, match="no run 'two'; there are g, one"):
        find_logs(tmp_path, ["two"])
    with pytest.raises(InputError, match="found none"):
        find_logs(tmp_path / "nowhere")


async def test_a_slice_of_the_published_runs(data_dir: Path, judges: Judges, tmp_path: Path) -> None:
    """The items around those that the shared interpreter decided; the slow test has them all."""
    logs = data_dir / "reflexion_logs"
    rows = [json.loads(line) for line in (logs / "runs_programming/reflexion_mbpp_py.jsonl").read_text().splitlines()]
    wanted = {"mbpp_126_sum", "mbpp_170_sum_range_list", "mbpp_724_power_base_sum", "mbpp_234_volume_cube"}
    chosen = [row for row in rows if row["task_id"] in wanted]
    (tmp_path / "benchmarks").symlink_to(logs / "benchmarks")
    found = await scored(write(tmp_path / "runs_programming" / "part.jsonl", chosen), judges)
    assert (found.items, found.claimed, found.found) == (4, 1, 3)
    assert {one.task_id for one in found.differences} == {"mbpp_170_sum_range_list", "mbpp_724_power_base_sum"}
    assert all("mbpp_126_sum had redefined 'sum'" in one.cause for one in found.differences)


async def test_the_judges_are_those_of_function_tests(judges: Judges) -> None:
    assert isinstance(judges.python, JudgePool)
