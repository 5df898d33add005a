"""What a comparison and a report are made from, read out of a journal in one pass: numbers, and no text of a trial.

Several runs become one set of results. Arms of the same name stay apart unless the runs are parts of one experiment,
and tasks of the same name stay apart where they are judged differently.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afterword.core.records import Outcome
from afterword.errors import InputError
from afterword.experiments.arms import ARM_CHARS
from afterword.experiments.audit import AuditedLesson, Group, PastTask, audited, reflected_by, summarise
from afterword.experiments.report.played_arms import PlayedArm, played_arms
from afterword.experiments.report.wording import counted, name_of
from afterword.experiments.results import BURNED, Result, result_of
from afterword.journal import Journal, ModelUse, RunSpec, RunSummary, TaskSummary

_CHOICE = frozenset(
    {"folder", "ids", "jobs", "journal", "limit", "model_calls", "seed", "seeds", "sources", "verdicts"}
)
"""Settings that say which part of an experiment was run and how fast, and nothing of how a task is worked on."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Where results come from."""

    summary: RunSummary
    spec: RunSpec
    models: tuple[ModelUse, ...]
    unfinished: int
    """Tasks x arms x seeds that were begun and have no outcome."""
    seeds: tuple[int, ...]
    """Of its results."""

    @property
    def word(self) -> str:
        """The last word of its name."""
        return self.summary.id.rpartition("-")[2]


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that is needed of one or several runs."""

    results: tuple[Result, ...]
    lessons: Mapping[str, Group]
    """What the lessons of each arm came to; arms without a lesson have none."""
    runs: tuple[RunFacts, ...]
    caveats: tuple[str, ...]
    """What their origin means for the numbers, in sentences."""
    arms: Mapping[str, PlayedArm] = field(default_factory=dict)
    """What each arm is."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Arms that carry their run's name since several runs have them, with their own names."""
    option: str = ""
    """What has to be added to a command for it to find the journal."""


@dataclass(slots=True)
class _Read:
    """What one run has given so far."""

    facts: RunFacts
    results: list[Result] = field(default_factory=list)
    lessons: dict[str, list[AuditedLesson]] = field(default_factory=lambda: defaultdict(list))
    arms: dict[str, PlayedArm] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    burned: int = 0

    def take_back(self, tasks: set[str]) -> None:
        """What those tasks came to after their held-out checks were revealed: a rejection stands."""
        self.burned = len(tasks)
        self.results = [
            replace(row, status="rejected", accepted=False) if row.task in tasks and not row.faulted else row
            for row in self.results
        ]

    def take(self, task: TaskSummary, outcome: Outcome) -> None:
        arm = arm_name(task.arm)
        self.results.append(result_of(outcome, arm=arm, seed=task.seed))
        family, model = reflected_by(self.facts.spec.settings, task.arm)
        past = PastTask(task.task, outcome.trials, family, model, arm, task.seed)
        for lesson in audited(past):  # what it says is counted, and not kept
            self.lessons[arm].append(replace(lesson, text="", evidence="quoted" if lesson.evidence else ""))


def baseline_of(gathered: Gathered, stated: str | None) -> str | None:
    """The arm that a name means: one of that name, else the first run's; without a name `retry`, if there is one."""
    wanted = "retry" if stated is None else arm_name(stated)
    if any(row.arm == wanted for row in gathered.results):
        return wanted
    first = next((shown for shown, name in gathered.renamed.items() if name == wanted), None)
    return first if first is not None or stated is None else wanted


async def gather(journal: Journal, names: Sequence[str], *, option: str = "") -> Gathered:
    """Reads runs, named as `Journal.summary` takes them.

    Args:
        journal: where they are.
        names: of the runs.
        option: what has to be added to a command for it to find the journal, for the commands that a report gives.

    Raises:
        InputError: there is no such run, one is named twice, or none has a finished task.
    """
    reads = [await _read(journal, name) for name in names]
    seen = [read.facts.summary.id for read in reads]
    if twice := next((name for name in seen if seen.count(name) > 1), None):
        raise InputError(f"the run {twice} is named twice; name each run once")
    if not any(read.results for read in reads):
        names_told = ", ".join(seen)
        raise InputError(f"no task of {names_told} is finished, so there is nothing to count; afterword resume goes on")
    caveats = [sentence for read in reads for sentence in (*_unfinished(read), *_burned(read))]
    _set_apart(reads)
    caveats += _tell_tasks_apart(reads)
    lessons: dict[str, list[AuditedLesson]] = defaultdict(list)
    for read in reads:
        for arm, members in read.lessons.items():
            lessons[arm] += members
    return Gathered(
        tuple(result for read in reads for result in read.results),
        {arm: summarise(members)[0] for arm, members in lessons.items()},
        tuple(read.facts for read in reads),
        tuple(caveats),
        {
            name: arm
            for read in reads
            for name, arm in read.arms.items()
            if any(row.arm == name for row in read.results)
        },
        {shown: name for read in reads for shown, name in read.renamed.items()},
        option,
    )


async def _read(journal: Journal, name: str) -> _Read:
    summary = await journal.summary(name)
    unfinished = summary.jobs - sum(summary.statuses.values())
    spec = await journal.spec(summary.id)
    read = _Read(RunFacts(summary, spec, await journal.models(summary.id), unfinished, ()))
    read.arms = {arm_name(name): arm for name, arm in played_arms(spec.settings).items()}
    async for task, outcome in journal.outcomes(summary.id):
        read.take(task, outcome)
    read.facts = replace(read.facts, seeds=tuple(sorted({row.seed for row in read.results})))
    read.take_back({note.task for note in await journal.notes(summary.id) if note.kind == BURNED})
    planned = _planned(spec)
    read.results.sort(key=lambda row: planned.get(row.arm, len(planned)))  # whichever came to an end first
    return read


def _planned(spec: RunSpec) -> dict[str, int]:
    """The places of the arms in an experiment's file."""
    arms = spec.settings.get("arms")
    named = [arm.get("name") for arm in arms if isinstance(arm, Mapping)] if isinstance(arms, list) else []
    return {arm_name(str(name)): place for place, name in enumerate(named)}


def arm_name(name: str) -> str:
    """As it is shown, in full: two arms may differ in the middle of their names."""
    return name_of(name, ARM_CHARS)


def _burned(read: _Read) -> Iterable[str]:
    if read.burned:
        yield (
            f"The held-out checks of {counted(read.burned, 'task')} of the run {read.facts.summary.id} were shown to "
            "the agent after a rejection: it counts as rejected, whatever passed since."
        )


def _unfinished(read: _Read) -> Iterable[str]:
    facts = read.facts
    pilot = bool(facts.spec.settings.get("pilot"))
    planned = any(name.startswith("task:") for name in facts.spec.fingerprints)
    whole = planned and not pilot and facts.summary.fork is None and not facts.summary.jobs_left + facts.unfinished
    if not read.results:
        yield f"The run {facts.summary.id} has no finished task."
    elif facts.summary.state != "finished" and whole and any(row.faulted for row in read.results):
        yield f"The run {facts.summary.id} is complete but for its faults, which `afterword resume` tries again."
    elif facts.summary.state != "finished":
        begun = f", {facts.unfinished:,} begun and not finished" if facts.unfinished else ""
        begun += f", {facts.summary.jobs_left:,} not begun" if facts.summary.jobs_left else ""
        yield (
            f"The run {facts.summary.id} is not finished ({facts.summary.state}): "
            f"this is about the {counted(len(read.results), 'result')} that are there{begun}, "
            "and those that come late may be the harder ones."
        )
        if absent := [name for name in read.arms if all(row.arm != name for row in read.results)]:
            yield f"It has no result yet of {', '.join(absent)}."
    if read.results and pilot:
        yield (
            f"The run {facts.summary.id} is a pilot, which may end as soon as its answer is clear: intervals and "
            "p-values here are those of a number of tasks set before, and too sure for it. Those of the pilot hold."
        )


def _set_apart(reads: Sequence[_Read]) -> None:
    """Renames the arms that several runs have, unless those runs are parts of one experiment."""
    owners: dict[str, list[_Read]] = defaultdict(list)
    for read in reads:
        for arm in dict.fromkeys(result.arm for result in read.results):
            owners[arm].append(read)
    for arm, having in owners.items():
        if len(having) < 2 or _one_experiment(having):
            continue
        words = [read.facts.word for read in having]
        for read in having:
            prefix = read.facts.word if words.count(read.facts.word) == 1 else read.facts.summary.id
            name = name_of(f"{prefix}/{arm}", ARM_CHARS + len(prefix) + 1)
            read.results = [replace(row, arm=name) if row.arm == arm else row for row in read.results]
            read.renamed[name] = arm
            if arm in read.lessons:
                read.lessons[name] = read.lessons.pop(arm)
            if arm in read.arms:
                read.arms[name] = read.arms.pop(arm)


def _one_experiment(reads: Sequence[_Read]) -> bool:
    """Whether runs differ in their tasks or seeds alone, and none repeats what another did."""
    specs = [read.facts.spec for read in reads]
    settings = [_without_choice(spec.settings) for spec in specs]
    guards = [{k: v for k, v in spec.fingerprints.items() if not k.startswith("task:")} for spec in specs]
    keys = [(row.task, row.arm, row.seed) for read in reads for row in read.results]
    same = all(one == settings[0] for one in settings) and all(one == guards[0] for one in guards)
    return same and len(set(keys)) == len(keys)


def _without_choice(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _without_choice(inner) for name, inner in value.items() if name not in _CHOICE}
    return value


def _tell_tasks_apart(reads: Sequence[_Read]) -> Iterable[str]:
    """Tasks that have one name in several runs and are not the same get the run's name, so that nobody pairs them."""
    known: dict[str, set[str]] = defaultdict(set)
    for read in reads:
        for name, value in read.facts.spec.fingerprints.items():
            if name.startswith("task:"):
                known[name.removeprefix("task:")].add(value)
    differing = {task for task, values in known.items() if len(values) > 1}
    if not differing:
        return
    for read in reads:
        word = read.facts.summary.id
        read.results = [
            replace(row, task=f"{row.task} ({word})") if row.task in differing else row for row in read.results
        ]
    yield (
        f"{counted(len(differing), 'task')} of the same name differ between the runs in what is asked or checked: "
        "they count for each run and are not compared."
    )
