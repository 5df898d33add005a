"""What it costs to keep everything: tasks of three trials over a journal, beside others that keep what they do.

    python benchmarks/journal.py --setup     # once: an environment for each peer
    python benchmarks/journal.py --write     # measure, and bring docs/benchmarks.md up to date

Each side keeps every step in a file before the next one and takes turns with the others round by round, so that the
machine's noise falls on all of them alike.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.drivers import PEERS, Driver
from harness.report import Aim, aims_table, machine, machine_line, table, write_block, write_json
from harness.samples import Sample, figure, spread
from harness.venvs import Peer, default_folder, interpreter, set_up

KEEPERS = (
    Peer("langgraph-sqlite", ("langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2"), "langgraph_journal.py"),
    Peer("gepa", ("gepa==0.1.4",), "gepa_journal.py"),
    Peer("inspect-ai", ("inspect-ai==0.3.285",), "inspect_journal.py"),
)
LATENCY_S = 0.05
CONCURRENCIES = (1, 16, 64, 256)


@dataclass(slots=True)
class Keeper:
    """One way to work on tasks and keep what was done."""

    name: str
    driver: Driver
    per_task_ms: dict[int, tuple[float, ...]]
    """By concurrency, a figure for each round."""

    def measure(self, concurrency: int, tasks: int) -> None:
        """One more round."""
        seconds = self.seconds(concurrency, tasks)
        self.per_task_ms[concurrency] = (*self.per_task_ms[concurrency], seconds / tasks * 1000)

    def seconds(self, concurrency: int, tasks: int, latency_s: float = 0.0) -> float:
        """How long so many tasks take."""
        question = {"measure": "time", "tasks": tasks, "warm": 20, "concurrency": concurrency, "latency_s": latency_s}
        seconds = self.driver.ask(question)["seconds"]
        assert isinstance(seconds, float)
        return seconds


def main() -> None:
    """Runs the benchmark as the command line says."""
    options = _options()
    for peer in KEEPERS if options.setup else ():
        set_up(options.venvs, peer)
    facts = machine()
    with ExitStack() as stack:
        keepers = _keepers(stack, options.venvs)
        for number in range(options.rounds):
            print(f"journal: round {number + 1} of {options.rounds}", file=sys.stderr)
            for keeper in keepers:
                for concurrency in keeper.per_task_ms:
                    keeper.measure(concurrency, options.tasks if keeper is keepers[0] else options.tasks // 4)
        shares = _shares(keepers, options.latency_tasks)
        large = _large(keepers[0].driver, options.memory_tasks, options.trials)
    text = _page(facts, keepers, shares, large, options)
    print(text)
    if options.json:
        times = {
            f"{keeper.name}, {at_once} at once": Sample(rounds).plain()
            for keeper in keepers
            for at_once, rounds in keeper.per_task_ms.items()
        }
        write_json(options.json, {"machine": facts, "ms_per_task": times, "share_of_ideal": shares, **large})
    if options.write:
        write_block("journal", text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of everybody (default 5)")
    parser.add_argument("--tasks", type=int, default=200, help="tasks of a round; a quarter of it for the peers")
    parser.add_argument("--latency-tasks", type=int, default=1000, help="tasks with 50 ms of latency a trial")
    parser.add_argument("--memory-tasks", type=int, default=10_000, help="tasks after which memory is read")
    parser.add_argument("--trials", type=int, default=100_000, help="trials of the journal that is opened")
    parser.add_argument("--venvs", type=Path, default=default_folder(), help="where the peers' environments are")
    parser.add_argument("--setup", action="store_true", help="make the environments that are missing, first")
    parser.add_argument("--json", type=Path, help="write the result, every round of it, to this file")
    parser.add_argument("--write", action="store_true", help="bring docs/benchmarks.md up to date")
    return parser.parse_args()


def _keepers(stack: ExitStack, venvs: Path) -> list[Keeper]:
    """Ours and those whose environment is there."""
    commands: list[tuple[str, str | Path, str, tuple[int, ...]]] = [
        ("afterword", sys.executable, "afterword_journal.py", (1, 16))
    ]
    for peer in KEEPERS:
        if (python := interpreter(venvs, peer)) is None:
            print(f"{peer.name} is left out: no environment in {venvs}; make it with --setup", file=sys.stderr)
        else:
            commands.append((peer.name, python, peer.driver, (1,) if peer.name == "gepa" else (1, 16)))
    keepers = []
    for name, python_path, program, concurrencies in commands:
        driver = stack.enter_context(Driver([python_path, PEERS / program]))
        variants = driver.hello["variants"]
        assert isinstance(variants, list)
        label = f"{name.partition('-sqlite')[0]} {driver.hello['version']}, {variants[0]}"
        keepers.append(Keeper(label, driver, dict.fromkeys(concurrencies, ())))
    return keepers


def _shares(keepers: list[Keeper], tasks: int) -> dict[str, dict[int, float]]:
    """For ours and LangGraph: the ideal time of tasks that wait, as a share of the time they took."""
    shares: dict[str, dict[int, float]] = {}
    for keeper in keepers:
        if not keeper.name.startswith(("afterword", "langgraph")):
            continue
        shares[keeper.name] = {}
        for concurrency in CONCURRENCIES:
            print(f"journal: {keeper.name} with latency, {concurrency} at once", file=sys.stderr)
            some = max(20, min(tasks, tasks * concurrency // 16))  # one at a time takes long and shows the same
            ideal_s = -(-some // concurrency) * 3 * LATENCY_S
            shares[keeper.name][concurrency] = ideal_s / keeper.seconds(concurrency, some, LATENCY_S)
    return shares


def _large(driver: Driver, tasks: int, trials: int) -> dict[str, float]:
    print("journal: memory, and a large journal", file=sys.stderr)
    opened = driver.ask({"measure": "opening", "trials": trials})["seconds"]
    with Driver([sys.executable, PEERS / "afterword_journal.py"]) as fresh:
        memory = fresh.ask({"measure": "memory", "tasks": tasks, "concurrency": 16})
    megabytes, size = memory["megabytes"], memory["journal_megabytes"]
    assert isinstance(opened, float)
    assert isinstance(megabytes, float)
    assert isinstance(size, float)
    return {"open_seconds": opened, "peak_megabytes": megabytes, "journal_megabytes": size}


def _page(
    facts: dict[str, object],
    keepers: list[Keeper],
    shares: dict[str, dict[int, float]],
    large: dict[str, float],
    options: argparse.Namespace,
) -> str:
    rows = []
    for keeper in keepers:
        for concurrency, rounds in keeper.per_task_ms.items():
            sample, ours = Sample(rounds), Sample(keepers[0].per_task_ms[concurrency]).median
            rows.append(
                (
                    keeper.name,
                    str(concurrency),
                    figure(sample.median),
                    spread(sample),
                    figure(sample.median / ours),
                )
            )
    share_rows = [(name, *(f"{share:.2f}" for share in by.values())) for name, by in shares.items()]
    return "\n\n".join(
        (
            f"{machine_line(facts)} Medians of {options.rounds} rounds.",
            table(("what keeps every step", "at once", "ms per task", "rounds", "times ours"), rows),
            f"Share of the ideal throughput, {options.latency_tasks:,} tasks of three trials of 50 ms (fewer at 1):",
            table(("at once", *(str(concurrency) for concurrency in CONCURRENCIES)), share_rows),
            aims_table(_aims(keepers, shares, large, options)),
        )
    )


def _aims(
    keepers: list[Keeper], shares: dict[str, dict[int, float]], large: dict[str, float], options: argparse.Namespace
) -> list[Aim]:
    ours = {concurrency: Sample(rounds).median for concurrency, rounds in keepers[0].per_task_ms.items()}
    own_shares = shares[keepers[0].name]
    aims = [
        Aim("under 2 ms per task, one at a time", f"{figure(ours[1])} ms", ours[1] < 2),
        Aim("under 0.6 ms per task, 16 at once", f"{figure(ours[16])} ms", ours[16] < 0.6),
    ]
    for keeper in keepers[1:]:
        for concurrency, rounds in keeper.per_task_ms.items():
            ratio = Sample(rounds).median / ours[concurrency]
            text = f"4 times under {keeper.name}, {concurrency} at once"
            aims.append(Aim(text, f"{figure(ratio)} times", ratio >= 4))
    for concurrency, least in ((64, 0.95), (256, 0.85)):
        share = own_shares[concurrency]
        aims.append(Aim(f"{least} of the ideal at {concurrency}", f"{share:.2f}", share >= least))
    megabytes, opened = large["peak_megabytes"], large["open_seconds"]
    aims.append(Aim(f"under 250 MB for {options.memory_tasks:,} tasks", f"{figure(megabytes)} MB", megabytes < 250))
    text = f"first work under 2 s after opening a journal of {options.trials:,} trials"
    aims.append(Aim(text, f"{figure(opened)} s", opened < 2))
    return aims


if __name__ == "__main__":
    main()
