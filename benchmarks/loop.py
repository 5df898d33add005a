"""What the loop itself costs: microseconds per task of three trials with instant functions, beside others' loops.

    python benchmarks/loop.py --setup     # once: an environment for each peer
    python benchmarks/loop.py --write     # measure, and bring docs/benchmarks.md up to date

All loops are warm and take turns round by round, so that the machine's noise falls on all of them alike.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.drivers import PEERS, Driver
from harness.report import Aim, aims_table, machine, machine_line, table, write_block, write_json
from harness.samples import Sample, figure, spread
from harness.venvs import Peer, default_folder, interpreter, set_up

LOOPS = (
    Peer("lemmas", ("lemmas==0.4.0",), "lemmas_loop.py"),
    Peer("reflexion-agent", ("reflexion-agent==0.1.0",), "reflexion_agent_loop.py"),
    Peer("langgraph", ("langgraph==1.2.24",), "langgraph_loop.py"),
    Peer("dspy", ("dspy==3.4.1",), "dspy_loop.py"),
)
BATCH_S = 0.15
"""A batch is long beside the clock's resolution and short beside the machine's moods."""


@dataclass(slots=True)
class Loop:
    """One way to run the task, and what its rounds took."""

    name: str
    variant: str
    driver: Driver
    tasks: int = 1
    rounds_us: tuple[float, ...] = ()

    def run(self, tasks: int) -> float:
        """Seconds for so many tasks."""
        seconds = self.driver.ask({"variant": self.variant, "tasks": tasks})["seconds"]
        assert isinstance(seconds, float)
        return seconds

    def calibrate(self) -> None:
        """Warms up, and finds how many tasks make a batch."""
        while (seconds := self.run(self.tasks)) < BATCH_S / 2:
            self.tasks *= 2
        self.tasks = max(1, round(self.tasks * BATCH_S / seconds))

    def measure(self) -> None:
        """One more round."""
        self.rounds_us = (*self.rounds_us, self.run(self.tasks) / self.tasks * 1e6)

    @property
    def label(self) -> str:
        return f"{self.name}, {self.variant}"

    @property
    def sample(self) -> Sample:
        return Sample(self.rounds_us)


def main() -> None:
    """Runs the benchmark as the command line says."""
    options = _options()
    for peer in LOOPS if options.setup else ():
        set_up(options.venvs, peer)
    facts = machine()
    with ExitStack() as stack:
        loops = _loops(stack, options.venvs)
        for loop in loops:
            loop.calibrate()
        for number in range(options.rounds):
            print(f"loops: round {number + 1} of {options.rounds}", file=sys.stderr)
            for loop in loops:
                loop.measure()
    starts = measure_starts(_commands(), options.rounds)
    text = _page(facts, loops, starts, options.rounds)
    print(text)
    if options.json:
        write_json(
            options.json,
            {
                "machine": facts,
                "us_per_task": {loop.label: loop.sample.plain() for loop in loops},
                "start_ms": {name: sample.plain() for name, sample in starts.items()},
            },
        )
    if options.write:
        write_block("loop", text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="rounds of every loop (default 9)")
    parser.add_argument("--venvs", type=Path, default=default_folder(), help="where the peers' environments are")
    parser.add_argument("--setup", action="store_true", help="make the environments that are missing, first")
    parser.add_argument("--json", type=Path, help="write the result, every round of it, to this file")
    parser.add_argument("--write", action="store_true", help="bring docs/benchmarks.md up to date")
    return parser.parse_args()


def _loops(stack: ExitStack, venvs: Path) -> list[Loop]:
    """Ours and those whose environment is there."""
    commands = [("afterword", sys.executable, "afterword_loop.py")]
    for peer in LOOPS:
        if (python := interpreter(venvs, peer)) is None:
            print(f"{peer.name} is left out: no environment in {venvs}; make it with --setup", file=sys.stderr)
        else:
            commands.append((peer.name, str(python), peer.driver))
    loops = []
    for name, python_path, program in commands:
        driver = stack.enter_context(Driver([python_path, PEERS / program]))
        variants = driver.hello["variants"]
        assert isinstance(variants, list)
        loops += [Loop(f"{name} {driver.hello['version']}", str(variant), driver) for variant in variants]
    return loops


def _commands() -> dict[str, list[str]]:
    """What is started to see how long it takes until it ends."""
    command = "import sys; from afterword.cli.main import main; sys.argv = ['afterword', '--help']; main()"
    return {
        "`python -c pass`": [sys.executable, "-c", "pass"],
        "`import afterword`": [sys.executable, "-c", "import afterword"],
        "`afterword --help`": [sys.executable, "-c", command],  # what the installed command does
    }


def measure_starts(commands: dict[str, list[str]], rounds: int) -> dict[str, Sample]:
    """Milliseconds from start to end of each command, taking turns; the first turn warms the disk and is dropped."""
    times_ms: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(2 * rounds + 1):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            if turn:
                times_ms[name].append((time.perf_counter() - started) * 1000)
    return {name: Sample(tuple(values)) for name, values in times_ms.items()}


def _page(facts: dict[str, object], loops: list[Loop], starts: dict[str, Sample], rounds: int) -> str:
    ours = loops[0].sample.median
    rows = [
        (loop.label, figure(loop.sample.median), spread(loop.sample), figure(loop.sample.median / ours))
        for loop in loops
    ]
    bare = starts["`python -c pass`"].median
    start_rows = [
        (name, figure(sample.median), spread(sample), figure(sample.median - bare) if sample.median != bare else "")
        for name, sample in starts.items()
    ]
    return "\n\n".join(
        (
            f"{machine_line(facts)} Medians of {rounds} rounds.",
            table(("loop", "µs per task", "rounds", "times ours"), rows),
            table(("start to end", "ms", "rounds", "ms over bare Python"), start_rows),
            aims_table(_aims(loops, starts)),
        )
    )


def _aims(loops: list[Loop], starts: dict[str, Sample]) -> list[Aim]:
    ours = loops[0].sample.median
    aims = [Aim("under 200 µs per task of three trials", f"{figure(ours)} µs", ours < 200)]
    graphs = [loop.sample.median for loop in loops if loop.name.startswith("langgraph")]
    if graphs:
        ratio = min(graphs) / ours
        aims.append(Aim("10 times under LangGraph (its fastest form)", f"{figure(ratio)} times", ratio >= 10))
    for name, limit_ms in (("`import afterword`", 150), ("`afterword --help`", 400)):
        if name in starts:
            found_ms = starts[name].median
            text = f"{name} under {limit_ms} ms, the interpreter's own start included"
            aims.append(Aim(text, f"{figure(found_ms)} ms", found_ms < limit_ms))
    return aims


if __name__ == "__main__":
    main()
