"""Programs of a published run, executed again by the tests of their benchmark, each in a jail of its own.

A verdict that is not the claimed one is reached several times, since some hang on luck, and its cause is looked
for: what an earlier item had left in the shared interpreter, a time limit, a program that does not compile. The order
of Rust's hash maps is random by design: where a program has one, its verdict is reached again though it is as claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterword.core.records import Feedback, Limits
from afterword.errors import BadTests, InputError
from afterword.evaluators.function_tests import JudgePool, Suite
from afterword.evaluators.languages import LANGUAGES, LanguageJudge, LanguageSuite
from afterword.experiments.in_order import in_order
from afterword.experiments.rescore.logs import Log, Row, count, read_rows, text
from afterword.experiments.rescore.namespace import Left, SharedNamespace, with_left
from afterword.experiments.rescore.scores import Difference, OwnTestScore, RunScore, Unstable
from afterword.families.programming.own_tests.confusion import Confusion

LIMITS = Limits(wall_s=10.0, memory_mb=2048)
"""As in the re-execution that comes with the logs."""
PATIENT = Limits(wall_s=30.0, memory_mb=2048)
"""For a program that ran out of time, once: more of it would be time spent on programs that never end."""
REPEATS = 21
"""Odd, so that there is a majority; many, so that what passes one time in five is hardly ever taken for certain."""
GLANCES = 8
"""Verdicts as claimed of a program with a random order: what passes half of the time is missed once in 250."""

Tell = Callable[[int, int], None]
"""Gets how many items of how many are judged."""


@dataclass(frozen=True, slots=True)
class Item:
    """A program with the tests that judge it."""

    index: int
    task_id: str
    program: str
    claimed: bool
    prompt: str
    """Was executed in front of the program, so what it imports was left behind too."""
    suite: Suite | LanguageSuite
    trials: int | None
    max_trials: int | None
    reflections: int


@dataclass(frozen=True, slots=True)
class Judges:
    """What reaches the verdicts."""

    python: JudgePool
    rust: LanguageJudge | None
    jobs: int = 2

    async def verdict(self, item: Item, program: str | None = None, limits: Limits = LIMITS) -> Feedback:
        """The verdict on an item, or on another program in its place.

        Raises:
            InputError: the language's toolchain is not installed.
            SandboxFault: no verdict could be reached.
        """
        source = item.program if program is None else program
        if isinstance(item.suite, Suite):
            return await self.python.judge(source, item.suite, limits)
        if self.rust is None:
            raise InputError("these programs are in Rust and there is no rustc here; install it, or name Python runs")
        return await self.rust.judge(source, item.suite, limits)


@dataclass(frozen=True, slots=True)
class _Again:
    """What repeating an item's verdict gave, where it was not the claimed one."""

    passed: int
    of: int
    cause: str


async def score_programs(log: Log, judges: Judges, *, shared_namespace: bool = False, tell: Tell) -> RunScore:
    """Executes a run of programs again.

    With `shared_namespace` a Python program finds what earlier items of its run would have left for it.

    Raises:
        InputError: the log, its benchmark or a toolchain is not there or not usable.
    """
    items = read_items(log)
    namespace = SharedNamespace.of([(item.task_id, f"{item.prompt}\n{item.program}") for item in items])
    found: list[bool] = []
    again: dict[int, _Again] = {}

    async def judge(item: Item) -> tuple[bool, _Again | None]:
        program = item.program
        if shared_namespace and isinstance(item.suite, Suite):
            program = with_left(namespace.reaching(item.index, program), program)
        verdicts = [await judges.verdict(item, program)]
        while verdicts[-1].passed is item.claimed:
            if len(verdicts) == GLANCES or not _ordered_at_random(item):
                return item.claimed, None
            verdicts.append(await judges.verdict(item, program))
        return await _look_closer(item, program, verdicts, judges, namespace)

    def told(item: Item, result: tuple[bool, _Again | None]) -> None:
        found.append(result[0])
        if result[1] is not None:
            again[item.index] = result[1]
        tell(len(found), len(items))

    await in_order(items, judges.jobs, judge, told)
    return _score(log, items, found, again)


def _score(log: Log, items: Sequence[Item], found: Sequence[bool], again: Mapping[int, _Again]) -> RunScore:
    differences, unstable = [], []
    for item, passed in zip(items, found, strict=True):
        repeated = again.get(item.index)
        if repeated is not None and 0 < repeated.passed < repeated.of:
            unstable.append(Unstable(item.task_id, repeated.passed, repeated.of))
        if repeated is not None and passed is not item.claimed:
            differences.append(Difference(item.task_id, item.claimed, passed, repeated.cause))
    plain = [item for item in items if item.reflections == 0]
    stopped = [item for item in items if item.reflections and _stopped(item)]
    reflected = any(item.reflections for item in items)
    return RunScore(
        log.run, text(log.rows()[0], "benchmark", log.file), log.kind, len(items),
        sum(item.claimed for item in items), sum(found), tuple(differences), tuple(unstable),
        own_tests=_own_tests(items, found),
        unreflected=(len(plain), sum(item.claimed for item in plain), sum(found[item.index] for item in plain))
        if reflected
        else None,
        after_reflection=(len(stopped), sum(item.claimed for item in stopped)) if reflected else None,
    )  # fmt: skip


def _stopped(item: Item) -> bool:
    """Whether the loop ended before its last trial: the model's own tests had passed."""
    return item.trials is not None and item.max_trials is not None and item.trials < item.max_trials


def _own_tests(items: Sequence[Item], found: Sequence[bool]) -> OwnTestScore | None:
    if any(item.trials is None or item.max_trials is None or item.max_trials < 2 for item in items):
        return None
    claimed = truth = Confusion()
    for item, passed in zip(items, found, strict=True):
        claimed = claimed.plus(passed=_stopped(item), right=item.claimed)
        truth = truth.plus(passed=_stopped(item), right=passed)
    return OwnTestScore(claimed, truth)


def _ordered_at_random(item: Item) -> bool:
    return isinstance(item.suite, LanguageSuite) and any(name in item.program for name in ("HashMap", "HashSet"))


async def _look_closer(
    item: Item, program: str, verdicts: Sequence[Feedback], judges: Judges, namespace: SharedNamespace
) -> tuple[bool, _Again]:
    """Repeats a verdict, the last of these, that is not the claimed one; the majority of all counts.

    A program that is claimed to pass may have been too slow for a busy machine only; too slow twice is slow. What does
    not compile has no luck.
    """
    verdict = verdicts[-1]
    repeats = [one.passed for one in verdicts]
    slow = verdict.reason == "timeout"
    while verdict.reason != "syntax" and len(repeats) < REPEATS:
        once_more = await judges.verdict(item, program)
        repeats.append(once_more.passed)
        if slow and once_more.reason == "timeout":
            break
    passed = sum(repeats) * 2 > len(repeats)
    if 0 < sum(repeats) < len(repeats):
        cause = f"a matter of luck: passed {sum(repeats)} of {len(repeats)} times"
    else:
        cause = await _cause(item, verdict, judges, namespace)
    return passed, _Again(sum(repeats), len(repeats), cause)


async def _cause(item: Item, verdict: Feedback, judges: Judges, namespace: SharedNamespace) -> str:
    """Why a verdict is not the claimed one; each answer but the last was tried and gave the claimed verdict."""
    if isinstance(item.suite, Suite):
        names = dict.fromkeys(left.name for left in namespace.reaching(item.index, item.program))
        for name in names:
            left = namespace.reaching_by(item.index, name)
            if (await judges.verdict(item, with_left(left, item.program))).passed is item.claimed:
                return _shared(item, name, left)
    if verdict.reason == "timeout" and item.claimed:
        patient = await judges.verdict(item, limits=PATIENT)
        if patient.passed:
            return f"slow: passes in {patient.wall_s:.0f} s, more than the limit of {LIMITS.wall_s:g} s"
    if not item.program.strip():
        return "the log holds no program"
    if verdict.reason in ("syntax", "missing"):
        return f"the logged program does not compile: {_first_line(verdict.message)}"
    if item.claimed:
        return f"not reproduced: the logged program fails ({_first_line(verdict.message)})"
    return "not reproduced: the logged program passes"


def _shared(item: Item, name: str, left: Sequence[Left]) -> str:
    giver = next(one for one in left if one.name == name)
    if item.claimed:
        return f"passed only with {name!r}, which {giver.task_id} had left in the shared interpreter"
    return f"failed since {giver.task_id} had redefined {name!r} in the shared interpreter"


def _first_line(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " / ".join(lines[:2])[:160]


def read_items(log: Log) -> list[Item]:
    """The items of a run, joined with the tests of their benchmark.

    Raises:
        InputError: the benchmark is not beside the runs, or lacks an item.
    """
    rows = log.rows()
    name = text(rows[0], "benchmark", log.file)
    file = log.file.parent.parent / "benchmarks" / f"{name}.jsonl"
    if not file.is_file():
        raise InputError(f"the run {log.run!r} is about the benchmark {name!r}, which is not there", file=file)
    tasks = {text(task, "task_id", file): task for task in read_rows(file)}
    items = []
    for index, row in enumerate(rows):
        task = tasks.get(text(row, "task_id", log.file))
        if task is None:
            raise InputError(f"the benchmark {name!r} has no task {row['task_id']!r}", file=log.file)
        items.append(_item(index, row, task, log.file))
    return items


def _item(index: int, row: Row, task: Row, file: Path) -> Item:
    program, claimed = text(row, "solution", file), row.get("claimed_solved")
    if type(claimed) is not bool:
        raise InputError(f"expected true or false in 'claimed_solved' of every item, found {claimed!r}", file=file)
    if row.get("solution_kind") == "body":
        program = f"{text(task, 'prompt', file)}\n{program}"
    reflections = row.get("reflections")
    trials, limit = (row.get(name) for name in ("trial_count", "max_trials"))
    return Item(
        index, text(row, "task_id", file), program, claimed, text(task, "prompt", file), _suite(row, task, file),
        None if trials is None else count(row, "trial_count", file),
        None if limit is None else count(row, "max_trials", file),
        len(reflections) if isinstance(reflections, list) else 0,
    )  # fmt: skip


def _suite(row: Row, task: Row, file: Path) -> Suite | LanguageSuite:
    tests, entry_point = text(task, "test", file), text(task, "entry_point", file)
    try:
        if row.get("language") == "python":
            return Suite.from_humaneval(tests, entry_point)
        if row.get("language") == "rust":
            signature = text(task, "prompt", file).rstrip()
            return LanguageSuite.from_source(
                tests, language=LANGUAGES["rust"], entry_point=entry_point, signature=signature
            )
    except BadTests as error:
        raise InputError(f"the tests of {row['task_id']!r} cannot be read: {error}", file=file) from None
    raise InputError(f"expected a program in python or rust, found {row.get('language')!r}", file=file)
