"""`afterword audit --label`: a person classes lessons one by one; what is classed is kept at once.

What the reflector was shown of the trial is shown to the person, who could not tell what was not there otherwise. What
followed a lesson is not shown before it is classed: who knows the score judges the diagnosis by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from afterword.cli.ask import read_line
from afterword.cli.display import print_wrapped
from afterword.cli.text import counted, plain
from afterword.core.bounds import cut, show_steps
from afterword.core.records import Trial
from afterword.experiments.audit import LABELS, MEANINGS, AuditedLesson, Label, LabelFile

KEYS: Mapping[str, Label] = {
    "r": "right",
    "p": "wrong prescription",
    "m": "misdiagnosis",
    "v": "vague",
    "h": "hallucinated",
}
_QUESTION = "[r/p/m/v/h, Enter to skip, q to stop]: "
_MAX_SHOWN = 8_000
_MAX_STEPS = 4_000


def ask_for_labels(
    lessons: Sequence[AuditedLesson], trials: Mapping[str, str], file: LabelFile, console: Console
) -> dict[str, Label]:
    """Asks about each of these lessons until the person stops; returns what was said.

    `trials` has, by the lesson's key, what the trial was.
    """
    said: dict[str, Label] = {}
    if not lessons:
        console.print("all lessons are classed", highlight=False)
        return said
    key_of = {label: key for key, label in KEYS.items()}
    for label in LABELS:
        print_wrapped(console, Text(f"[{key_of[label]}] {label}: {MEANINGS[label]}", style="dim"), hang=4)
    for number, lesson in enumerate(lessons, start=1):
        _show(console, lesson, trials[lesson.key], f"{number} of {counted(len(lessons), 'lesson')}")
        answer = _answer(console)
        if answer == "q":
            break
        if answer:
            said[lesson.key] = KEYS[answer]
            file.add(lesson.key, lesson.task, lesson.trial, lesson.text, KEYS[answer])
    console.print(f"{counted(len(said), 'label')} kept in {file.path}", highlight=False, markup=False, soft_wrap=True)
    return said


def _answer(console: Console) -> str:
    while True:
        answer = read_line(_QUESTION, "").strip().lower()
        if answer in ("", "q", *KEYS):
            return answer
        console.print(Text(f"expected one of {', '.join(KEYS)}, Enter or q, found {plain(answer)!r}"), highlight=False)


def trial_text(trial: Trial) -> str:
    """A trial whose prompts are not at hand: its steps or its output, and its report."""
    steps = show_steps(trial.trajectory.steps, _MAX_STEPS)
    parts = (("attempt", steps or trial.trajectory.output), ("report", trial.feedback.message))
    return "\n\n".join(f"# {title}\n\n{text.strip()}" for title, text in parts if text.strip())


def _show(console: Console, lesson: AuditedLesson, trial: str, place: str) -> None:
    console.print()
    print_wrapped(console, Text(plain(f"{place}: task {lesson.task}, trial {lesson.trial}"), style="bold"))
    console.print(Text(plain(cut(trial.strip(), _MAX_SHOWN))), highlight=False, soft_wrap=True)
    console.print()
    said = Text("lesson: ", style="cyan")
    said.append(plain(lesson.text), style="default")
    print_wrapped(console, said, "  ")
