"""What it costs to look back: the statistics and the report of a run of 20,000 trials, in time and memory.

    python benchmarks/report.py --write     # measure, and bring docs/benchmarks.md up to date

The journal is made first, with texts as long as those of real trials; each command is then a process of its own, with
all it imports.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio

from afterword.journal import open_journal
from harness.made_run import fill
from harness.report import Aim, aims_table, machine, machine_line, table, write_block, write_json
from harness.samples import Sample, figure, spread

SEEDS = 2
TRIALS_A_TASK = 15.4
"""Of all arms and seeds of one made task, about."""
_PEAK = (
    "import resource, sys; from afterword.cli.main import exit_code_of; code = exit_code_of(sys.argv[1:]); "
    "used = resource.getrusage(resource.RUSAGE_SELF); "
    "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, file=sys.stderr); sys.exit(code)"
)


def main() -> None:
    """Runs the benchmark as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20_000, help="trials of the run, about (default 20,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each command (default 3)")
    parser.add_argument("--json", type=Path, help="write the result, every round of it, to this file")
    parser.add_argument("--write", action="store_true", help="bring docs/benchmarks.md up to date")
    options = parser.parse_args()
    facts = machine()
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.sqlite"
        print("report: making the run", file=sys.stderr)
        run, trials = anyio.run(_make, journal, max(2, round(options.trials / TRIALS_A_TASK)))
        commands = {
            "compare": ("compare", run, "--journal", str(journal), "--json"),
            "report": ("report", run, "--journal", str(journal), "--out", f"{folder}/report"),
        }
        found = {name: _rounds(name, arguments, options.rounds) for name, arguments in commands.items()}
        megabytes = journal.stat().st_size / 1e6
    seconds = {name: Sample(tuple(one.seconds for one in rounds)) for name, rounds in found.items()}
    worked = {name: Sample(tuple(one.cpu_seconds for one in rounds)) for name, rounds in found.items()}
    memory = {name: max(one.megabytes for one in rounds) for name, rounds in found.items()}
    rows = [
        (
            f"afterword {name}",
            figure(seconds[name].median),
            spread(seconds[name]),
            figure(worked[name].median),
            figure(memory[name]),
        )
        for name in commands
    ]
    aims = [
        Aim("under 10 s", f"{figure(seconds['report'].median)} s", seconds["report"].median < 10),
        Aim("under 500 MB", f"{figure(memory['report'])} MB", memory["report"] < 500),
    ]
    text = "\n\n".join(
        (
            f"{machine_line(facts)} A run of {trials:,} trials, {megabytes:,.0f} MB of journal. "
            f"Medians of {options.rounds} rounds.",
            table(("command", "seconds", "rounds", "of a processor", "peak MB"), rows),
            aims_table(aims),
        )
    )
    print(text)
    if options.json:
        result: dict[str, object] = {"machine": facts, "trials": trials, "peak_megabytes": memory}
        result["seconds"] = {name: sample.plain() for name, sample in seconds.items()}
        result["cpu_seconds"] = {name: sample.plain() for name, sample in worked.items()}
        write_json(options.json, result)
    if options.write:
        write_block("report", text)


async def _make(journal: Path, tasks: int) -> tuple[str, int]:
    async with open_journal(journal) as opened:
        run = await fill(opened, tasks=tasks, seeds=SEEDS)
        return run, (await opened.summary(run)).trials


@dataclass(frozen=True, slots=True)
class Round:
    """What one command took."""

    seconds: float
    cpu_seconds: float
    """Of all threads; on a busy machine this says more."""
    megabytes: float


def _installed() -> dict[str, str]:
    """The environment of somebody whose Python may keep what it has compiled, as where the package is installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _rounds(name: str, arguments: tuple[str, ...], rounds: int) -> list[Round]:
    found = []
    for number in range(rounds):
        print(f"report: {name}, round {number + 1} of {rounds}", file=sys.stderr)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=3600,
            env=_installed(),
        )
        seconds = time.perf_counter() - started
        assert done.returncode == 0, done.stderr
        worked, peak = done.stderr.split()[-2:]
        found.append(Round(seconds, float(worked), float(peak)))
    return found


if __name__ == "__main__":
    main()
