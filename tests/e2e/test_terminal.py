"""What a person sees in a terminal: whole words, no spaces at the ends of lines, and nothing hostile."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from afterword.cli.display import MEANINGS
from tests.e2e.processes import terminal
from tests.e2e.tasks import HELD_OUT, LESSON_1, PLUS_ONE, SAME, TABLE, VISIBLE, fenced, write_replies, write_task

_PIECE = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)|(.)", re.DOTALL)


def screen_of(shown: str) -> list[str]:
    """The lines that are left on the screen; sequences that a progress display does not need are a failure."""
    lines = [""]
    row = column = 0
    for argument, letter, control, text, other in _PIECE.findall(shown):
        assert not other, repr(shown)
        if control == "\n":
            row += 1
            lines.extend([""] * (row + 1 - len(lines)))
        elif control == "\r":
            column = 0
        elif letter == "A":
            row -= int(argument or 1)
        elif letter == "K":
            lines[row] = ""
        elif letter:
            assert letter == "m" or argument == "?25", (argument, letter)  # colours, and the cursor
        if text:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
        if control == "\n":
            column = 0
    return lines


def show(tmp_path: Path, columns: int, *options: str) -> list[str]:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, TABLE)
    with terminal(["run", task, "--model", name, *options], columns=columns) as screen:
        assert screen.finish() == 1
    return screen_of(screen.shown)


@pytest.mark.parametrize("columns", [40, 80, 132])
def test_lines_break_between_words_and_have_no_spaces_at_their_ends(tmp_path: Path, columns: int) -> None:
    lines = show(tmp_path, columns)
    assert lines[0].startswith("model scripted:")
    assert all(line == line.rstrip() for line in lines), lines
    told = lines[1 : next(number for number, line in enumerate(lines) if line.startswith("the program of"))]
    assert max(map(len, told)) <= columns
    words = set(" ".join(lines).split())
    assert words.issuperset(LESSON_1.split())
    assert words.issuperset(MEANINGS["rejected"].split())
    assert not any(line[:1] in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" for line in lines if line)


def test_colours_can_be_turned_off(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", TABLE)
    with terminal(["run", task, "--model", name], environment={"NO_COLOR": "1"}) as screen:
        screen.finish()
    assert not re.search(r"\x1b\[[\d;]*3\dm", screen.shown)


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[5;5H\x9b2J\u202eevil\u2066\x08\x00"


def test_nothing_hostile_reaches_the_terminal(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task", visible=VISIBLE, held_out=HELD_OUT)
    noisy = f"# {HOSTILE[:-1]}\ndef double(n):\n    print({HOSTILE!r})\n    raise ValueError({HOSTILE!r})\n"
    script = tmp_path / "a.jsonl"
    rows = [{"role": "actor", "text": fenced(noisy)}, {"role": "reflector", "text": f"{LESSON_1}{HOSTILE}"}]
    rows += [{"role": "actor", "text": f"{HOSTILE} no code [red]here[/red] {HOSTILE}"}]
    script.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with terminal(["run", task, "--model", f"scripted:{script}", "--max-trials", "2"]) as screen:
        assert screen.finish() == 1
    for hostile in ("\x1b]", "\x07", "\x1b[2J", "\x1b[5;5H", "\x9b", "\u202e", "\u2066", "\x08", "\x00"):
        assert hostile not in screen.shown, repr(hostile)
    screen_of(screen.shown)


def test_verdicts_fit_the_terminal(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = {"id": "a-rather-long-name-of-a-solution", "solution": PLUS_ONE, "tests": VISIBLE, "entry_point": "double"}
    rows.write_text(json.dumps(row) + "\n")
    for columns in (40, 60, 80):
        with terminal(["evaluate", rows], columns=columns) as screen:
            assert screen.finish() == 0
        assert max(map(len, screen.shown.splitlines())) <= columns
