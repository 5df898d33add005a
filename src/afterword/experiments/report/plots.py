"""The plots of a report, drawn so that a phone can show them: each says one thing, with its labels at the lines.

The same figure becomes an SVG inside the page, whose colours follow the page's, and a PNG beside it. Nothing in them
depends on the day or the machine. Needs the extra `analysis`.
"""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterword.errors import MissingExtra
from afterword.experiments.by_task import Curve
from afterword.experiments.comparison import ArmReport, Comparison
from afterword.experiments.report.wording import MINUS, name_of, names_of, number
from afterword.experiments.statistics import Estimate

try:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator
except ImportError as missing:
    raise MissingExtra("analysis", missing.name or "matplotlib") from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, RULE, PAPER = "#1f2328", "#d0d7de", "#ffffff"
COLOURS = ("#0b6ab0", "#c2500a", "#00805e", "#a03c90", "#8a6100", "#2b8fb8", "#b8435c", "#5b5fc7")
"""Told apart by people with any colour blindness (after Okabe and Ito), and dark enough to be read on white."""
DASHES: Sequence[object] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
MARKERS = "osD^vPX*"
PLOTS = ("differences", "solved-by-tokens", "solved-by-calls", "solved-by-cost", "solved-by-trial")
"""The names of all there can be."""
SHORT = 18
"""Characters of an arm's name beside a line, more where names would be the same."""
MOST_CURVES = 8
"""As many as can be told apart."""
WIDTH_IN, HEIGHT_IN = 5.0, 3.3
"""At 72 units an inch this is about a phone's width, so that text keeps its size there."""
_RESOLUTION = 160


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawn plot."""

    name: str
    """Of its file."""
    title: str
    told: str
    """What is to be seen, for who cannot see it."""
    svg: str
    """An element for an HTML page."""
    png: bytes


@dataclass(frozen=True, slots=True)
class _Style:
    colour: str
    dashes: object
    marker: str


def draw(comparison: Comparison) -> tuple[Plot, ...]:
    """All plots for which there is something to show."""
    styles = _styles(comparison)
    plots = []
    for name, title, told, paint in _chosen(comparison):
        with _settings():
            rows = len(comparison.against)
            height_in = min(HEIGHT_IN, 1 + 0.45 * rows) if name == "differences" else HEIGHT_IN
            figure = Figure(figsize=(WIDTH_IN, max(height_in, 0.3 * rows)), layout="constrained")
            paint(figure.add_subplot(), styles)
            plots.append(Plot(name, title, told, _svg(figure, title), _png(figure)))
    return tuple(plots)


Paint = Callable[["Axes", Mapping[str, _Style]], None]


def _chosen(comparison: Comparison) -> Iterator[tuple[str, str, str, Paint]]:
    """Name, title, description and painter of each plot that has something to show."""
    base = comparison.baseline
    if any(one.paired.difference.value is not None for one in comparison.against):
        told = "Points solved more or less than the baseline, with 95 % intervals; one that crosses zero may be chance."
        yield (
            "differences",
            f"Solved, against {base}",
            told,
            lambda axes, styles: _differences(axes, styles, comparison),
        )
    if not any(arm.solved.value for arm in comparison.arms):
        return
    seen = _told_apart(comparison)
    left = sum(arm.solved.value is not None for arm in comparison.arms) - len(seen)
    which = f" Left out: {left} arms that differ less from {base}." if left else ""
    band = f"Share of tasks solved within each allowance, with 95 % bands.{which}"
    curves: tuple[tuple[str, str, Callable[[ArmReport], Curve | None], Callable[[float], str]], ...] = (
        ("tokens", "tokens", lambda arm: arm.against_tokens, _thousands),
        ("calls", "model calls", lambda arm: arm.against_calls, number),
        ("cost", "USD", lambda arm: arm.against_cost, _cents),
    )
    for name, unit, of, form in curves:
        drawn = {arm.arm: curve for arm in seen if (curve := of(arm)) is not None and curve.at}
        if drawn:
            yield (
                f"solved-by-{name}",
                f"Solved, by {unit} spent on a task",
                band,
                _curves(drawn, f"{unit} spent on a task", form),
            )
    if max(len(arm.by_trial) for arm in seen) > 1:
        told = f"Share of tasks solved with at most so many trials.{which}"
        yield "solved-by-trial", "Solved, by trial", told, _trials(seen)


def _told_apart(comparison: Comparison) -> list[ArmReport]:
    """The arms whose curves are drawn: of many the baseline and those that differ most from it, in their order."""
    known = [arm for arm in comparison.arms if arm.solved.value is not None]
    away = {one.arm: abs(one.paired.difference.value or 0.0) for one in comparison.against} | {comparison.baseline: 2.0}
    shown = sorted(known, key=lambda arm: -away.get(arm.arm, 0.0))[:MOST_CURVES]
    return [arm for arm in known if arm in shown]


@contextmanager
def _settings() -> Iterator[None]:
    settings = rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "afterword",
            "text.parse_math": False,
            "font.family": "DejaVu Sans",
            "font.size": 10,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": RULE,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": RULE,
            "grid.linewidth": 0.6,
        }
    )
    with settings, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # names in scripts that the font lacks
        yield


def _styles(comparison: Comparison) -> dict[str, _Style]:
    """The baseline in the colour of the text, the others each with colour, dashes and marker of their own."""
    styles = {comparison.baseline: _Style(INK, "-", ".")}
    others = [arm.arm for arm in comparison.arms if arm.arm != comparison.baseline]
    for place, arm in enumerate(others):
        dashes = DASHES[(place // len(COLOURS) + place) % len(DASHES)]
        styles[arm] = _Style(COLOURS[place % len(COLOURS)], dashes, MARKERS[place % len(MARKERS)])
    return styles


def _differences(axes: Axes, styles: Mapping[str, _Style], comparison: Comparison) -> None:
    rows = [one for one in comparison.against if one.paired.difference.value is not None]
    for place, one in enumerate(rows):
        estimate, style = one.paired.difference, styles[one.arm]
        axes.plot([100 * estimate.low, 100 * estimate.high], [place, place], color=style.colour, linewidth=2.2)
        axes.plot([100 * (estimate.value or 0)], [place], style.marker, color=style.colour, markersize=8)
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_yticks(range(len(rows)), list(names_of([one.arm for one in rows], SHORT).values()))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:+.0f}".replace("-", MINUS) if value else "0")
    )
    axes.set_xlabel(f"points more (right) or less than {name_of(comparison.baseline, SHORT)}")


def _curves(curves: Mapping[str, Curve], label: str, form: Callable[[float], str]) -> Paint:
    def paint(axes: Axes, styles: Mapping[str, _Style]) -> None:
        most = max(curve.at[-1] for curve in curves.values())
        shade = min(0.1, 0.4 / len(curves))  # the bands of many arms lie over each other
        for arm, curve in curves.items():
            style = styles[arm]
            at = (0.0, *curve.at)
            none = Estimate(0.0, 0.0, 0.0, 0)
            share = (none, *curve.share)
            low, high = _percent(share, "low"), _percent(share, "high")
            axes.fill_between(at, low, high, step="post", color=style.colour, alpha=shade, linewidth=0)
            axes.step(
                at, _percent(share, "value"), where="post", color=style.colour, linestyle=style.dashes, linewidth=1.8
            )
        ends = {arm: 100 * (curve.share[-1].value or 0) for arm, curve in curves.items()}
        axes.set_xlim(0, most)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=3 if form is _cents else 5, integer=form is number))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: form(value)))
        axes.set_xlabel(label)
        _finish(axes, ends, most, styles)

    return paint


def _trials(arms: Sequence[ArmReport]) -> Paint:
    def paint(axes: Axes, styles: Mapping[str, _Style]) -> None:
        most = max(len(arm.by_trial) for arm in arms)
        ends = {}
        for place, arm in enumerate(arms):
            style = styles[arm.arm]
            shift = 0.24 * ((place + 0.5) / len(arms) - 0.5)
            shown = arm.by_trial or (arm.solved,)
            at = [number + shift for number in range(1, len(shown) + 1)]
            value, low, high = (_percent(shown, name) for name in ("value", "low", "high"))
            axes.vlines(at, low, high, color=style.colour, alpha=0.45, linewidth=1.2)
            axes.plot(
                at, value, marker=style.marker, color=style.colour, linestyle=style.dashes, linewidth=1.5, markersize=5
            )
            if len(shown) < most:
                axes.plot([at[-1], most + shift], [value[-1]] * 2, color=style.colour, linewidth=0.8, alpha=0.5)
            ends[arm.arm] = value[-1]
        axes.set_xlim(0.7, most + 0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("at most so many trials")
        _finish(axes, ends, most + 0.3, styles)

    return paint


def _finish(axes: Axes, ends: Mapping[str, float], right: float, styles: Mapping[str, _Style]) -> None:
    """Percent from 0 to 100, and each arm's name at the end of its line, moved apart where they would overlap."""
    axes.set_ylim(0, 100)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} %"))
    names = sorted(ends, key=lambda arm: ends[arm])
    short = names_of(styles, SHORT)
    for arm, place in zip(names, _apart([ends[arm] for arm in names], 100, 6.5), strict=True):
        axes.annotate(
            short[arm],
            (right, ends[arm]),
            xytext=(1.02, place / 100),
            textcoords="axes fraction",
            color=styles[arm].colour,
            va="center",
            fontsize=9.5,
            annotation_clip=False,
        )


def _apart(places: Sequence[float], most: float, gap: float) -> list[float]:
    """Rising places, moved so that they are `gap` apart and within the plot as far as that can be."""
    gap = min(gap, most / max(1, len(places) - 1))
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap) if moved else place)
    over = most
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], over)
        over = moved[index] - gap
    return moved


def _percent(estimates: Sequence[Estimate], name: str) -> list[float]:
    return [100 * (getattr(one, name) or 0.0) for one in estimates]


def _thousands(value: float) -> str:
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _cents(value: float) -> str:
    return f"${value:g}" if value else "0"


_PROLOGUE = re.compile(r"^.*?(?=<svg )", re.DOTALL)
_IDS = re.compile(r'<g id="[^"]*"')
_SIZE = re.compile(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>')
_RULES = re.compile(r"<style type=\"text/css\">.*?</style>", re.DOTALL)


def _svg(figure: Figure, title: str) -> str:
    """The figure as an element: no prologue, no fixed size, colours by the names of the page's."""
    stream = io.StringIO()
    FigureCanvasSVG(figure)
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    text = _RULES.sub("", _IDS.sub("<g", _PROLOGUE.sub("", stream.getvalue())))
    label = html.escape(title)
    text = _SIZE.sub(lambda found: f'<svg viewBox="{found[1]}" role="img" aria-label="{label}">', text, count=1)
    for name, colour in (("ink", INK), ("rule", RULE), *((f"arm-{n}", c) for n, c in enumerate(COLOURS))):
        text = text.replace(f": {colour}", f": var(--{name}, {colour})")
    return text.replace("'DejaVu Sans'", "var(--font, sans-serif)").strip()


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(stream, format="png", dpi=_RESOLUTION, facecolor=PAPER, metadata={"Software": None})
    return stream.getvalue()
