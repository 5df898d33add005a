"""The other published runs: answers matched and games counted again, tests of a model held against right programs."""

from __future__ import annotations

from afterword.core.records import Limits
from afterword.errors import InputError
from afterword.evaluators.exact_match import exact_match
from afterword.evaluators.function_tests import JudgePool
from afterword.experiments.in_order import in_order
from afterword.experiments.rescore.logs import Log, Row, count, read_rows, text
from afterword.experiments.rescore.programs import Tell
from afterword.experiments.rescore.scores import Difference, RunScore, TrialCount
from afterword.families.programming.own_tests.holding import Held, holding

_HOLDING = Limits(wall_s=10.0)


def score_questions(log: Log) -> RunScore:
    """Matches every answer with the known one again; a question that is absent from a trial is not solved in it."""
    rows = log.rows()
    trials = sorted({count(row, "trial", log.file) for row in rows})
    by_trial, differences = [], []
    claimed = found = items = 0
    for trial in trials:
        here = [row for row in rows if row["trial"] == trial]
        claims = [row.get("status") == "correct" for row in here]
        matches = [_matches(row, log) for row in here]
        claimed, found, items = sum(claims), sum(matches), len(here)
        by_trial.append(TrialCount(trial, claimed, found))
        for row, claim, match in zip(here, claims, matches, strict=True):
            if claim is not match:
                cause = f"the answer {str(row.get('answer'))[:80]!r} against {str(row.get('gold'))[:80]!r}"
                differences.append(Difference(f"{row.get('question_id')} (trial {trial})", claim, match, cause))
    setting = text(rows[0], "setting", log.file)
    return RunScore(
        log.run, f"hotpotqa {setting}", log.kind, items, claimed, found, tuple(differences), by_trial=tuple(by_trial)
    )


def _matches(row: Row, log: Log) -> bool:
    answer = row.get("answer")
    return isinstance(answer, str) and bool(answer) and exact_match(answer, text(row, "gold", log.file))


def score_games(log: Log) -> RunScore:
    """Counts the games won by each trial, which is all that these logs hold."""
    rows, totals = log.rows(), log.totals()
    if not totals:
        raise InputError("expected what the run says of each trial beside its games, found nothing", file=log.file)
    solved = [row.get("solved_at_trial") for row in rows]
    by_trial, differences = [], []
    for total in totals:
        trial, claimed = count(total, "trial", log.file), count(total, "successes", log.file)
        found = sum(isinstance(at, int) and at <= trial for at in solved)
        by_trial.append(TrialCount(trial + 1, claimed, found))
        if found != claimed:
            differences.append(Difference(f"trial {trial}", True, False, f"claims {claimed} games, lists {found}"))
    return RunScore(
        log.run, text(rows[0], "benchmark", log.file), log.kind, len(rows), by_trial[-1].claimed, by_trial[-1].found,
        tuple(differences), by_trial=tuple(by_trial),
        note="counted and not played again: no trajectory was published",
    )  # fmt: skip


async def score_own_tests(log: Log, judges: JudgePool, jobs: int, *, tell: Tell) -> RunScore:
    """Runs tests that a model wrote on the reference program: on a right program a right test passes."""
    rows = log.rows()
    name = text(rows[0], "benchmark", log.file)
    file = log.file.parent.parent / "benchmarks" / f"{name}.jsonl"
    if not file.is_file():
        raise InputError(f"the run {log.run!r} is about the benchmark {name!r}, which is not there", file=file)
    tasks = {text(task, "task_id", file): task for task in read_rows(file)}
    differences: list[Difference] = []
    tests: list[bool] = []
    tasks_held: list[bool] = []

    async def judge(row: Row) -> tuple[Held, ...]:
        task = tasks.get(text(row, "task_id", log.file))
        if task is None:
            raise InputError(f"the benchmark {name!r} has no task {row['task_id']!r}", file=log.file)
        program = text(task, "prompt", file) + text(task, "canonical_solution", file)
        return await holding(_texts(row, log), program, text(task, "entry_point", file), judges, _HOLDING)

    def told(row: Row, held: tuple[Held, ...]) -> None:
        tests.extend(one.holds for one in held)
        tasks_held.append(all(one.holds for one in held))
        claimed = row.get("claimed_all_pass_on_canonical") is True
        if claimed is not tasks_held[-1]:
            failed = "; ".join(one.text for one in held if not one.holds)[:160]
            cause = f"fails on the reference program: {failed}" if failed else "all hold on the reference program"
            differences.append(Difference(text(row, "task_id", log.file), claimed, tasks_held[-1], cause))
        tell(len(tasks_held), len(rows))

    await in_order(rows, jobs, judge, told)
    return RunScore(
        log.run, name, log.kind, len(rows), sum(row.get("claimed_all_pass_on_canonical") is True for row in rows),
        sum(tasks_held), tuple(differences), tests=(len(tests), sum(tests)),
        note="an item counts where all tests that the model wrote for it hold on the reference program",
    )  # fmt: skip


def _texts(row: Row, log: Log) -> list[str]:
    tests = row.get("tests")
    if not isinstance(tests, list) or not all(isinstance(test, str) for test in tests):
        raise InputError(f"expected a list of texts in 'tests' of every item, found {tests!r}", file=log.file)
    return tests
