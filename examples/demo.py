"""The main job, shown on real input: `make demo` runs this.

First a task that the local model fails at first and solves after its own lesson, live and then as it was
recorded; then a program that passes all it is shown and is caught by the held-out check. What cannot run here
is said in one line, and its transcript is shown instead.
"""

import os
import sys
from pathlib import Path

import anyio
from rich.console import Console
from rich.text import Text

from afterword.cli.families import Settings
from afterword.cli.model import install_model
from afterword.cli.plan import Plan
from afterword.cli.results import Results
from afterword.cli.roles import ModelChoice
from afterword.cli.session import work
from afterword.cli.starting import unkept
from afterword.cli.watched import WatchedScreen
from afterword.errors import AfterwordError
from afterword.models.inventory import availability
from afterword.models.recording_file import read_headers
from afterword.sandbox import STRONG, probe

HERE = Path(os.path.relpath(Path(__file__).parent))
LESSON = HERE / "mean_delay"
FALSE_POSITIVE = HERE / "duration_parser"


def main() -> int:
    """Shows all parts, whatever of them can run here."""
    console = Console()
    jail = any(report.works and report.level in STRONG for report in anyio.run(probe))
    if not jail:
        say(console, "This machine has no jail for programs (see: afterword doctor), so nothing is run; recorded:")
        told_of(console, LESSON / "recording.jsonl")
        transcript(console, LESSON)
        transcript(console, FALSE_POSITIVE)
        return 0
    title(console, "A lesson that helps: the local model, live")
    if fetch_model(console):
        play(console, LESSON, "local")
    title(console, "The same task as it was recorded")
    told_of(console, LESSON / "recording.jsonl")
    play(console, LESSON, f"recorded:{LESSON / 'recording.jsonl'}")
    title(console, "A false positive, caught: scripted replies that pass all they are shown")
    play(console, FALSE_POSITIVE, f"scripted:{FALSE_POSITIVE / 'replies.jsonl'}")
    return 0


def fetch_model(console: Console) -> bool:
    """Makes sure that the local model is there; says so in one line where it cannot be."""
    found = availability()
    if found.local:
        return True
    say(console, f"The local model is not here yet: fetching about 1.2 GB to {found.weights_path.parent}, once.")
    try:
        install_model()
    except AfterwordError as error:
        say(console, f"No live run: {error}")
        return False
    return availability().local


def play(console: Console, folder: Path, model: str) -> None:
    """Runs a task as `afterword run` does, with at most three trials."""
    plan = Plan("programming", (str(folder),), Settings(ModelChoice(model=model), max_trials=3))
    try:
        anyio.run(work, unkept(plan), WatchedScreen(console, Results()))
    except AfterwordError as error:
        say(console, f"This part could not run: {error}")
        transcript(console, folder)


def told_of(console: Console, recording: Path) -> None:
    """Says when and on what a recording was made."""
    header = read_headers(recording)[0]
    made_of = " ".join(str(value) for value in (header.model_extra or {}).values())
    say(console, f"recorded {header.written[:10]} on {header.model}: {made_of}")


def transcript(console: Console, folder: Path) -> None:
    """Shows what a run printed when it was recorded."""
    say(console, (folder / "transcript.txt").read_text(encoding="utf-8"))


def title(console: Console, text: str) -> None:
    """A heading."""
    console.print()
    console.rule(Text(text, style="bold"), align="left")


def say(console: Console, text: str) -> None:
    """Plain text, as it is."""
    console.print(Text(text), highlight=False, soft_wrap=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say(Console(stderr=True), "interrupted; make demo begins anew, and what was fetched is kept")
        sys.exit(130)
