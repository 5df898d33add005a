"""`afterword judge check`: a model judge against people's labels, before a loop relies on it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import typer

from afterword.cli import options
from afterword.cli.asking import actor_role, open_asked
from afterword.cli.jsonl import Row, field, optional_field, read_rows
from afterword.cli.option_groups import AskingGroup, spread
from afterword.cli.roles import ModelChoice
from afterword.cli.shares import estimate_json, number, share
from afterword.cli.text import counted, plain, shortened
from afterword.core.budget import Allowance
from afterword.errors import InputError

FAULTED = 3
SAMPLING = 0.7
_MOST_SHOWN = 20

app = typer.Typer(no_args_is_help=True, help="A model as judge: how far it agrees with people.")


@app.callback()
def judge() -> None:
    """A model as judge: how far it agrees with people."""


@dataclass(frozen=True, slots=True)
class Label:
    """An attempt and what people said of it."""

    id: str
    task: str
    output: str
    passed: bool
    judged: bool | None
    """What a judge said, where the file has it already."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the judge said of an attempt."""

    label: Label
    passed: bool | None
    """None: it gave no verdict that can be read."""
    reason: str = ""


@app.command("check")
@spread
def check(
    labels: Annotated[
        Path, typer.Argument(help="JSON Lines of {output, passed, task?, id?, judged?}.", metavar="LABELS.jsonl")
    ],
    *,
    rubric: Annotated[Path | None, typer.Option(help="What the judge judges by, e.g. a task's judge.md.")] = None,
    model: options.ModelName = None,
    temperature: Annotated[
        str | None, typer.Option(help="Of the judge: 0 to 2, or none. [0; several votes: 0.7]")
    ] = None,
    votes: Annotated[int, typer.Option(help="Replies for each attempt; most of them decide.")] = 1,
    jobs: Annotated[int, typer.Option(help="Attempts at a time.")] = 1,
    asking: AskingGroup,
    record: options.Record = None,
    as_json: options.AsJson = False,
) -> int:
    """Compare a judge with people.

    Shows their agreement, Cohen's kappa, and what the judge passes wrongly and fails wrongly, with intervals.
    """
    rows = [_label(row) for row in read_rows(labels)]
    if jobs < 1:
        raise InputError(f"--jobs takes a number from 1, found {jobs}")
    if all(row.judged is not None for row in rows) and rubric is None:
        opinions = [Opinion(row, row.judged) for row in rows]
    else:
        if rubric is None:
            raise InputError(
                "expected the rubric that the judge judges by; give --rubric judge.md, or a field 'judged' in each row",
                file=labels,
            )
        sampled = SAMPLING if votes > 1 and temperature is None else None
        choice = asking.choice(model, temperature if sampled is None else str(sampled))
        opinions = anyio.run(_ask, rows, rubric, choice, votes, jobs, asking.allowance, record)
    sys.stdout.write(json.dumps(_as_json(opinions)) + "\n" if as_json else _as_text(opinions))
    return FAULTED if any(opinion.passed is None for opinion in opinions) else 0


def _label(row: Row) -> Label:
    passed, judged = row.values.get("passed"), row.values.get("judged")
    if not isinstance(passed, bool) or not isinstance(judged, bool | None):
        raise InputError(
            "expected {output, passed: true or false, task?, id?, judged?}, where passed is a person's verdict",
            file=row.file,
            line=row.line,
        )
    name = row.values.get("id")
    output = field(row, "output") if judged is None else optional_field(row, "output") or ""
    return Label(str(name or f"line {row.line}"), optional_field(row, "task") or "", output, passed, judged)


async def _ask(
    rows: Sequence[Label],
    rubric: Path,
    choice: ModelChoice,
    votes: int,
    jobs: int,
    allowance: Allowance,
    record: Path | None,
) -> list[Opinion]:
    from afterword.core.protocols import EvaluateContext
    from afterword.core.records import Task, Trajectory
    from afterword.errors import BudgetExhausted, ContentFiltered, ContextTooLong, MalformedReply, ModelFault
    from afterword.evaluators.model_judge import ModelJudge, read_rubric_text
    from afterword.experiments.in_order import in_order

    text = read_rubric_text(rubric)
    role = actor_role(choice)
    opinions: list[Opinion] = []
    async with open_asked([("judge", role)], allowance, record) as asked:
        judging = ModelJudge(asked.models[0], text, votes, role.temperature)

        async def judged(label: Label) -> Opinion:
            effects = asked.effects(label.id)
            effects.begin_trial(1)
            context = EvaluateContext(Task(label.id, label.task), 1, Trajectory(label.output), effects)
            try:
                verdict = await judging.evaluate(context)
            except (BudgetExhausted, ModelFault) as missing:
                told = any(one.passed is not None for one in opinions)
                if not told and not isinstance(missing, MalformedReply | ContentFiltered | ContextTooLong):
                    raise  # nothing was judged so far, and nothing will be
                return Opinion(label, None, str(missing))
            return Opinion(label, verdict.passed, verdict.message)

        await in_order(rows, jobs, judged, lambda _, opinion: opinions.append(opinion))
    return opinions


def _counted(opinions: Sequence[Opinion]) -> list[tuple[bool, bool]]:
    return [(one.passed, one.label.passed) for one in opinions if one.passed is not None]


def _wrong(opinions: Sequence[Opinion]) -> list[Opinion]:
    return [one for one in opinions if one.passed is not None and one.passed != one.label.passed]


def _as_json(opinions: Sequence[Opinion]) -> dict[str, object]:
    from afterword.experiments.agreement import Agreement

    seen = Agreement.of(_counted(opinions))
    return {
        "both_pass": seen.both_pass,
        "false_positives": seen.false_positives,
        "false_negatives": seen.false_negatives,
        "both_fail": seen.both_fail,
        "agreement": estimate_json(seen.agreement),
        "kappa": estimate_json(seen.kappa),
        "false_positive_rate": estimate_json(seen.false_positive_rate),
        "false_negative_rate": estimate_json(seen.false_negative_rate),
        "without_verdict": [one.label.id for one in opinions if one.passed is None],
        "wrong": [
            {"id": one.label.id, "judged": one.passed, "people": one.label.passed, "reason": one.reason}
            for one in _wrong(opinions)
        ],
    }


def _as_text(opinions: Sequence[Opinion]) -> str:
    from afterword.experiments.agreement import Agreement

    seen = Agreement.of(_counted(opinions))
    lines = [
        "              people pass  people fail",
        f"judge passes  {seen.both_pass:>11}  {seen.false_positives:>11}",
        f"judge fails   {seen.false_negatives:>11}  {seen.both_fail:>11}",
        "",
        f"agreement        {share(seen.both_pass + seen.both_fail, seen.total)}",
        f"Cohen's kappa    {number(seen.kappa)}",
        f"false positives  {share(seen.false_positives, seen.false_positives + seen.both_fail)}, of what people fail",
        f"false negatives  {share(seen.false_negatives, seen.false_negatives + seen.both_pass)}, of what people pass",
    ]
    if missing := [one for one in opinions if one.passed is None]:
        lines.append(f"no verdict       {counted(len(missing), 'attempt')}, left out above")
    wrong = sorted(_wrong(opinions), key=lambda one: not one.passed)
    if wrong:
        lines.append("")
    for one in wrong[:_MOST_SHOWN]:
        kind = "false positive" if one.passed else "false negative"
        said = f"  {shortened(one.reason, 80)}" if one.reason else ""
        lines.append(f"{kind}  {shortened(one.label.id, 30)}{said}")
    if len(wrong) > _MOST_SHOWN:
        lines.append(f"… {len(wrong) - _MOST_SHOWN:,} more")
    return plain("\n".join(lines)) + "\n"
