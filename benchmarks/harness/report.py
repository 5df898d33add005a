"""What a benchmark leaves: a Markdown table, the same as JSON, and the part of the documentation page it owns.

The page holds marked blocks; a run with `--write` replaces its own and touches no other word.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "benchmarks.md"


@dataclass(frozen=True, slots=True)
class Aim:
    """What was wanted, beside what was found."""

    text: str
    found: str
    met: bool

    @property
    def row(self) -> tuple[str, str, str]:
        return (self.text, self.found, "met" if self.met else "**missed**")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left and the others to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def aims_table(aims: Sequence[Aim]) -> str:
    """Aims beside results."""
    rows = "\n".join("| " + " | ".join(aim.row) + " |" for aim in aims)
    return f"| aim | found | |\n| --- | --- | --- |\n{rows}"


def machine() -> dict[str, object]:
    """The machine in neutral words, and how busy it is."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}",
        "python": platform.python_version(),
        "load_average_1_min": round(os.getloadavg()[0], 2),
    }


def machine_line(facts: dict[str, object]) -> str:
    """The same as a sentence."""
    return (
        f"{facts['date']}, {facts['cores']} cores, {facts['system']}, Python {facts['python']}; "
        f"load average {facts['load_average_1_min']} at the start."
    )


def write_json(path: Path, result: dict[str, object]) -> None:
    """The whole result, every round of it."""
    path.write_text(json.dumps(result, indent=2) + "\n")


def write_block(name: str, text: str, page: Path = PAGE) -> None:
    """Replaces the block `name` of the page.

    Raises:
        SystemExit: the page has no such block.
    """
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, found_begin, rest = page.read_text().partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise SystemExit(f"{page.name} has no block {name!r}: expected the lines {begin.strip()!r} and {end!r}")
    page.write_text(f"{before}{begin}{text.strip()}\n{end}{after}")
