"""`afterword experiment`: arms compared on the same tasks under the same allowance, as one resumable run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from afterword.cli import options
from afterword.errors import InputError

if TYPE_CHECKING:
    from afterword.cli.experiment_bound import Bound
    from afterword.cli.experiment_file import Experiment
    from afterword.cli.results import Results
    from afterword.cli.session import Start

ExperimentFile = Annotated[Path | None, typer.Argument(help="What is compared, as TOML.", metavar="FILE")]
Example = Annotated[bool, typer.Option("--example", help="Print a file with all keys explained, and do nothing else.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would ask and cost at most, and do nothing else.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before money is spent.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", help="Tasks x arms x seeds at a time. [8; local model: 2; scripted: 1]")
]
AskAbove = Annotated[float, typer.Option(help="Ask before more than this can be spent.")]


def experiment(
    file: ExperimentFile = None,
    example: Example = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    ask_above_usd: AskAbove = 1.0,
    model: options.ModelName = None,
    base_url: options.BaseUrl = None,
    api_key: options.ApiKey = None,
    data: options.Data = None,
    limit: options.Limit = None,
    jobs: Jobs = None,
    model_calls: options.ModelCalls = None,
    verdicts: options.Verdicts = None,
    journal: options.JournalPlace = None,
    fsync: options.Fsync = False,
    as_json: options.AsJson = False,
) -> int:
    """Compare arms on the same tasks.

    Which way to spend the same allowance solves most?

    FILE says which tasks, arms, models, seeds and allowance. What it can cost is told before anything is spent, and
    `afterword resume` goes on with one that was interrupted.
    """
    if example:
        sys.stdout.write(template())
        return 0
    if file is None:
        raise InputError("expected the FILE of an experiment; afterword experiment --example prints one")
    if not ask_above_usd >= 0:
        raise InputError(f"--ask-above-usd takes a number from 0, found {ask_above_usd}")
    from afterword.cli.experiment_file import Overrides, read_experiment

    file = file.resolve()
    where = _absolute(journal)
    instead = Overrides(
        model, base_url, api_key, None if data is None else data.resolve(), limit, jobs, model_calls, verdicts
    )
    if not file.parent.is_dir():
        raise InputError("expected an experiment as TOML, found no such file", file=file)
    with contextlib.chdir(file.parent):  # its paths start there
        found = read_experiment(file, instead)
        if dry_run:
            return _dry_run(found, as_json=as_json)
        agree = _Agreement(ask_above_usd, yes=yes, quiet=as_json)
        return _conduct(found, where or _absolute(found.journal), agree, fsync=fsync, as_json=as_json)


def template() -> str:
    """The commented example of a file."""
    return (resources.files("afterword.cli") / "experiment.toml.template").read_text("utf-8")


def _absolute(journal: str | None) -> str | None:
    """A journal's place as it is meant here; a URL stays."""
    if journal is None or "://" in journal or journal == ":memory:":
        return journal
    return str(Path(journal).expanduser().resolve())


def _dry_run(found: Experiment, *, as_json: bool) -> int:
    from afterword.cli.experiment_bound import bound_json, bound_of, told_bound
    from afterword.cli.looking_back import print_json
    from afterword.cli.starting import unkept

    bound = bound_of(unkept(found.plan))
    if as_json:
        print_json(bound_json(bound, found))
    else:
        sys.stdout.write("\n".join([*told_bound(bound, found), "nothing was asked (--dry-run)"]) + "\n")
    return 0


class _Agreement:
    """Whether a person agrees to what can be spent."""

    def __init__(self, above_usd: float, *, yes: bool, quiet: bool) -> None:
        self._above_usd = above_usd
        self._yes = yes
        self._stream = sys.stderr if quiet else sys.stdout

    def ask(self, bound: Bound, found: Experiment) -> None:
        """Tells what it can cost, and asks if that is much.

        Raises:
            InputError: there is nobody to ask.
            Abort: the person does not agree.
        """
        from afterword.cli.experiment_bound import told_bound
        from afterword.cli.text import money

        self._stream.write("\n".join(told_bound(bound, found)) + "\n")
        self._stream.flush()
        cost = bound.most.cost_usd
        if self._yes or (cost is not None and cost <= self._above_usd):
            return
        what = "an unknown sum (state a price under [models])" if cost is None else f"up to {money(cost)}"
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InputError(f"this can cost {what}, and there is nobody to ask; add --yes, or lower the allowance")
        if not typer.confirm(f"this can cost {what}; go on?"):
            raise InputError("nothing was asked, since you did not agree; lower the allowance or the limit")


def _conduct(found: Experiment, where: str | None, agree: _Agreement, *, fsync: bool, as_json: bool) -> int:
    from afterword.cli.commands import conduct
    from afterword.cli.option_groups import without_key
    from afterword.cli.results import Results
    from afterword.cli.starting import JournalChoice, new_run, secrets_of

    models = found.plan.settings.models
    choice = JournalChoice(where, fsync, secrets_of(models.api_key, models.base_url))
    command = ("afterword", *without_key(sys.argv[1:]))
    results = Results(as_json)
    conduct(_agreed(new_run(found.plan, choice, command, None), found, agree), results)
    tell_compared(results, where)
    return results.exit_code(require_acceptance=False)


def tell_compared(results: Results, where: str | None) -> None:
    """The arms in a table, where they can be compared, and the commands that say more."""
    if not results.run or results.as_json:
        return
    from rich.console import Console

    from afterword.cli.compare import compared, print_comparison
    from afterword.cli.starting import JournalChoice

    console = Console()
    option = JournalChoice(where).option
    try:
        print_comparison(console, *compared([results.run], None, where))
    except InputError as error:  # there is nothing to compare, or scipy is not installed
        console.print(str(error), style="yellow", highlight=False, markup=False)
    for command in (
        f"afterword compare {results.run}{option}",
        f"afterword report {results.run}{option} --out DIR",
    ):
        console.print(f"more: {command}", style="dim", highlight=False, markup=False, soft_wrap=True)


@asynccontextmanager
async def _agreed(
    starting: AbstractAsyncContextManager[Start], found: Experiment, agree: _Agreement
) -> AsyncIterator[Start]:
    """A start that a person was asked about before its first call."""
    from afterword.cli.experiment_bound import bound_of

    async with starting as start:
        agree.ask(bound_of(start), found)
        yield start
