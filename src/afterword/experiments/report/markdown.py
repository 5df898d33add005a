"""A report as Markdown that fits the description of a pull request: the verdict, the table, and what qualifies them."""

from __future__ import annotations

import re
import unicodedata

from afterword.core.bounds import fence
from afterword.experiments.comparison import Comparison
from afterword.experiments.report import sections
from afterword.experiments.report.arm_table import arm_table
from afterword.experiments.report.gathering import Gathered
from afterword.experiments.report.verdict import evaluator_verdict, verdict

_ACTIVE = re.compile(r"([\\`*_\[\]<>|~$!{}&])")
_JOINER = "\N{WORD JOINER}"
_CALLED = re.compile(r"[@#]|:(?=//)|(?<=www)\.", re.IGNORECASE)


def escaped(text: str) -> str:
    """A text on one line that stays what it is in Markdown: no markup, link, mention of a person or of an issue."""
    line = " ".join(text.split())
    line = "".join(c for c in line if unicodedata.category(c) not in ("Cc", "Cs"))
    line = _ACTIVE.sub(r"\\\1", line)
    return _CALLED.sub(rf"\g<0>{_JOINER}", line)


def markdown(gathered: Gathered, comparison: Comparison) -> str:
    """The whole summary."""
    table = arm_table(comparison)
    lines = [f"**{verdict(comparison, escaped)}**", "", evaluator_verdict(comparison, escaped), ""]
    for notice in gathered.caveats:
        lines += [f"> {escaped(notice)}", ""]
    lines.append("| " + " | ".join(escaped(head) for head in table.heads) + " |")
    lines.append("| --- |" + " ---: |" * (len(table.heads) - 1))
    lines += ["| " + " | ".join(escaped(str(cell)) for cell in row) + " |" for row in table.rows]
    lines += ["", table.key]
    for matrix in sections.matrices(comparison):
        lines += ["", f"{escaped(matrix.arm)}: {matrix.told}."]
    if comparison.caveats:
        lines += ["", "What these numbers cannot say:", ""]
        lines += [f"- {escaped(caveat)}" for caveat in comparison.caveats]
    lines += ["", "<details><summary>Where they come from</summary>", ""]
    for run in (sections.provenance(facts) for facts in gathered.runs):
        lines += [f"- run {escaped(run.run)}"]
        lines += [f"  - {escaped(name)}: {escaped(value)}" for name, value in run.facts]
        lines += ["", fence("\n".join(run.again)), ""]
    lines += ["</details>", ""]
    return "\n".join(lines)
