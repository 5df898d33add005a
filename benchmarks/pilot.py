"""How often `afterword pilot` gives each answer where the truth is known, and how good its "about N more" is.

    python benchmarks/pilot.py [--pilots 2000] [--write docs/pilot.md]

The tables are written between the marks in the document.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from afterword.experiments.pilot import Answer, Counts, Rules
from afterword.experiments.pilot.deciding import tasks_missing
from afterword.experiments.pilot.simulated import Truth, drawn, simulate

MOST_TASKS = 200
LOOKED_AT = 20
"""Tasks after which "about N more" is asked."""
PATIENCE = 1000
BEGIN, END = "<!-- simulated -->", "<!-- /simulated -->"

EQUAL = Truth(spread=0.5)
TRUTHS = {
    "the arms are alike": EQUAL,
    "the arms are alike, each with luck of its own": Truth(spread=0.0),
    "the arms are alike, all is solved at once": Truth(first=1.0),
    "reflexion gains 5 points": replace(EQUAL, gain=0.05),
    "reflexion gains 10 points": replace(EQUAL, gain=0.1),
    "reflexion gains 20 points": replace(EQUAL, gain=0.2),
    "reflexion loses 10 points": replace(EQUAL, gain=-0.1),
    "10 % of what passes is wrong": replace(EQUAL, wrong=0.1),
    "20 % of what passes is wrong": replace(EQUAL, wrong=0.2),
    "40 % of what passes is wrong": replace(EQUAL, wrong=0.4),
    "40 % is wrong and reflexion gains 20 points": replace(EQUAL, wrong=0.4, gain=0.2),
    "lessons get 5 % of tasks further, retry 5 %": Truth(first=0.4, later=0.05, useful=0.05),
    "lessons get 25 % of tasks further, retry 25 %": Truth(first=0.4, later=0.25, useful=0.25),
}


def rates(pilots: int) -> Iterator[str]:
    """A row for each truth."""
    yield f"| truth | {' | '.join(Answer)} | tasks until an answer |"
    yield "| --- |" + " --- |" * (len(Answer) + 1)
    for name, truth in TRUTHS.items():
        found = simulate(truth, Rules(), pilots=pilots, most_tasks=MOST_TASKS)
        shares = [f"{100 * found.share(answer):.1f} %" if found.answers.get(answer) else "-" for answer in Answer]
        usual = max((answer for answer in found.answers if answer is not Answer.MORE), key=found.share)
        yield f"| {name} | {' | '.join(shares)} | {found.tasks[usual]:.0f} |"


def estimates(pilots: int) -> Iterator[str]:
    """How "about N more" after 20 tasks compares with what it took."""
    yield f'| truth | "about N more" after {LOOKED_AT} tasks, median | it took, median | at most twice as many |'
    yield "| --- | --- | --- | --- |"
    for name in ("the arms are alike", "reflexion gains 10 points", "reflexion gains 20 points"):
        chance = random.Random(1)  # noqa: S311
        pairs = [one for _ in range(pilots) if (one := _estimate(TRUTHS[name], chance)) is not None]
        told, took = (median(values) for values in zip(*pairs, strict=True))
        within = sum(actual <= 2 * estimate for estimate, actual in pairs) / len(pairs)
        yield f"| {name} | {told:.0f} | {took:.0f} | {100 * within:.0f} % |"


def _estimate(truth: Truth, chance: random.Random) -> tuple[int, int] | None:
    """What is said after some tasks, and what it takes; None where the answer was there before."""
    estimate = 0
    for tasks, (counts, clear) in enumerate(drawn(truth, Rules(), PATIENCE, chance), start=1):
        if clear:
            return (estimate, tasks - LOOKED_AT) if estimate else None
        if tasks == LOOKED_AT:
            estimate = _missing(counts)
    return estimate, PATIENCE


def _missing(counts: Counts) -> int:
    return tasks_missing(counts, Rules()) or PATIENCE


def main() -> None:
    """Prints the tables, or writes them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilots", type=int, default=2000)
    parser.add_argument("--write", type=Path)
    chosen = parser.parse_args()
    told = "\n".join([*rates(chosen.pilots), "", *estimates(min(chosen.pilots, 500))])
    print(told)
    if chosen.write is not None:
        text = chosen.write.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        chosen.write.write_text(f"{before}{BEGIN}\n\n{told}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
