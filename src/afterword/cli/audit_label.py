"""`afterword audit --label`: a person classes lessons one by one; what is classed is kept at once.

What followed a lesson is not shown before it is classed: who knows the score judges the diagnosis by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from afterword.cli.ask import read_line
from afterword.cli.display import print_wrapped
from afterword.cli.text import counted, plain
from afterword.core.bounds import cut
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
_MAX_SHOWN = 2_000


def ask_for_labels(
    lessons: Sequence[AuditedLesson], trials: Mapping[str, Trial], file: LabelFile, console: Console
) -> dict[str, Label]:
    """Asks about each of these lessons until the person stops; returns what was said."""
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


def _show(console: Console, lesson: AuditedLesson, trial: Trial, place: str) -> None:
    console.print()
    print_wrapped(console, Text(plain(f"{place}: task {lesson.task}, trial {lesson.trial}"), style="bold"))
    attempt = trial.trajectory.output or "\n".join(step.action for step in trial.trajectory.steps if step.action)
    for title, text in (("attempt", attempt), ("report", trial.feedback.message)):
        if text.strip():
            print_wrapped(console, Text(f"{title}:", style="cyan"), "  ")
            console.print(Text(plain(cut(text.strip(), _MAX_SHOWN))), highlight=False, soft_wrap=True)
    said = Text("lesson: ", style="cyan")
    said.append(plain(lesson.text), style="default")
    print_wrapped(console, said, "  ")
