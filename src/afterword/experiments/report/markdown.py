"""A report as Markdown that fits the description of a pull request: the verdict, the table, and what qualifies them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from afterword.core.bounds import fence
from afterword.experiments.comparison import Comparison
from afterword.experiments.report import sections
from afterword.experiments.report.arm_table import arm_table
from afterword.experiments.report.gathering import Gathered
from afterword.experiments.report.verdict import evaluator_verdict, verdict

_ACTIVE = re.compile(r"([\\`*_\[\]<>|~$!{}&])")
_JOINER = "\N{WORD JOINER}"
_LEADING = re.compile(r"^(\d*)([-+.)])(?=\s|$)")
"""What would begin a list."""
_CALLED = re.compile(r"[@#]|:(?=//)|(?<=www)\.|\bGH(?=-\d)|:(?=[\w+-]+:)", re.IGNORECASE)


def escaped(text: str) -> str:
    """A text on one line that stays what it is in Markdown: no markup, link, mention of a person or of an issue."""
    line = " ".join(text.split())
    line = "".join(c for c in line if unicodedata.category(c) not in ("Cc", "Cs"))
    line = _LEADING.sub(r"\1\\\2", _ACTIVE.sub(r"\\\1", line))
    return _CALLED.sub(rf"\g<0>{_JOINER}", line)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], rest: str) -> Iterator[str]:
    """Lines of a table; `rest` is how the columns after the first one are set."""
    yield "| " + " | ".join(map(escaped, heads)) + " |"
    yield "| --- |" + f" {rest} |" * (len(heads) - 1)
    for row in rows:
        yield "| " + " | ".join(map(escaped, row)) + " |"


def markdown(gathered: Gathered, comparison: Comparison) -> str:
    """The whole summary."""
    table = arm_table(comparison)
    lines = [f"**{verdict(comparison, escaped)}**", "", evaluator_verdict(comparison, escaped), ""]
    for notice in gathered.caveats:
        lines += [f"> {escaped(notice)}", ""]
    lines += _table(table.heads, [[str(cell) for cell in row] for row in table.rows], "---:")
    lines += ["", table.key]
    played = sections.played(comparison, gathered.arms)
    lines += ["", "<details><summary>What the arms are, and what ended their loops</summary>", ""]
    lines += [*_table(played.heads, played.rows, "---"), "", "</details>"]
    for matrix in sections.matrices(comparison):
        lines += ["", f"{escaped(matrix.arm)}: {matrix.told}."]
    if comparison.caveats:
        lines += ["", "What these numbers cannot say:", ""]
        lines += [f"- {escaped(caveat)}" for caveat in comparison.caveats]
    lines += ["", "<details><summary>Where they come from</summary>", ""]
    for run in (sections.provenance(facts, gathered.option) for facts in gathered.runs):
        lines += [f"- run {escaped(run.run)}"]
        lines += [f"  - {escaped(name)}: {escaped(value)}" for name, value in run.facts]
        lines += ["", fence("\n".join(run.again)), ""]
    lines += ["</details>", ""]
    return "\n".join(lines)
