"""The report as one HTML page that needs nothing from anywhere: style and plots stand inside it, and no script.

Every text goes through the template's escaping; the plots alone are markup, and `plots` escapes what they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from afterword._version import __version__
from afterword.experiments.comparison import Comparison
from afterword.experiments.report import sections
from afterword.experiments.report.arm_table import arm_table
from afterword.experiments.report.gathering import Gathered
from afterword.experiments.report.verdict import evaluator_verdict, verdict
from afterword.experiments.report.wording import counted, name_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from afterword.experiments.report.plots import Plot


def page(gathered: Gathered, comparison: Comparison, plots: Sequence[Plot]) -> str:
    """The whole page."""
    from markupsafe import Markup

    runs = [sections.provenance(facts, gathered.option) for facts in gathered.runs]
    values = {
        "title": f"Report on {name_of(', '.join(run.run for run in runs), 90)}",
        "verdict": verdict(comparison),
        "evaluator": evaluator_verdict(comparison),
        "notices": gathered.caveats,
        "scope": _scope(comparison),
        "arms": arm_table(comparison),
        "plots": [(plot, Markup(plot.svg)) for plot in plots],  # noqa: S704 - its texts are escaped where it is drawn
        "matrices": sections.matrices(comparison),
        "spending": sections.spending(comparison),
        "by_role": sections.by_role(comparison),
        "played": sections.played(comparison, gathered.arms),
        "strata": sections.strata(comparison),
        "lessons": sections.lessons(comparison, gathered.lessons),
        "caveats": comparison.caveats,
        "runs": runs,
        "version": __version__,
    }
    return _environment().get_template("report.html.jinja").render(values)


def _scope(comparison: Comparison) -> str:
    arms, tasks = counted(len(comparison.arms), "arm"), counted(comparison.tasks, "task")
    common = "" if comparison.common == comparison.tasks else f", {comparison.common:,} of which all arms have"
    return f"{arms} on {tasks}{common}, {counted(comparison.seeds, 'seed')}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__ or "", "pages"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["text"] = lambda value: isinstance(value, str)
    return environment
