"""Bad input: exit code 2 and one line on stderr that names the file, the line where there is one, and the remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import HELD_OUT, RIGHT, VISIBLE, write_replies, write_task

CASES = '{"args": [1], "expected": 2}\n{"args": [2], "expected": 4}\n'


def refused(ran: Ran, *words: str) -> None:
    """The command was refused in one line, and that line says these words."""
    assert (ran.code, ran.out) == (2, "")
    for word in words:
        assert word in ran.complaint


def run(afterword: Command, tmp_path: Path, task: Path, *options: str | Path) -> Ran:
    return afterword("run", task, "--model", write_replies(tmp_path / "replies.jsonl", RIGHT), "--json", *options)


Break = Callable[[Path], object]

FOLDERS: dict[str, tuple[Break, tuple[str, ...]]] = {
    "no task.toml": (lambda f: (f / "task.toml").unlink(), ("task.toml", "missing")),
    "empty task.toml": (lambda f: (f / "task.toml").write_text(" \n"), ("task.toml", "empty")),
    "broken task.toml": (lambda f: (f / "task.toml").write_text('id = "a"\nid =\n'), ("task.toml:2:", "TOML")),
    "binary task.toml": (lambda f: (f / "task.toml").write_bytes(b"id = 1\n\xff\xfe\x00"), ("task.toml:2:", "UTF-8")),
    "task.toml is a folder": (lambda f: replaced_by_folder(f / "task.toml"), ("task.toml",)),
    "unknown key": (lambda f: add(f, "entry_pont = 'x'\n"), ("task.toml:4:", "entry_point")),
    "missing key": (
        lambda f: (f / "task.toml").write_text('id = "a"\ninstructions = "b"\n'),
        ("task.toml", "entry_point"),
    ),
    "negative time": (lambda f: add(f, "timeout_s = -1\n"), ("task.toml:4:", "timeout_s")),
    "negative memory": (lambda f: add(f, "memory_mb = -5\n"), ("task.toml:4:", "memory_mb")),
    "time of a wrong type": (lambda f: add(f, 'timeout_s = "long"\n'), ("task.toml:4:", "timeout_s", "'long'")),
    "unknown language": (lambda f: add(f, 'language = "cobol"\n'), ("task.toml:4:", "cobol", "python")),
    "no such interpreter": (lambda f: add(f, 'python = "no/python"\n'), ("task.toml:4:", "no/python")),
    "split beside held-out tests": (lambda f: add(f, "split = 0.3\n"), ("task.toml", "split")),
    "split of no visible checks": (lambda f: only_split(f), ("task.toml", "split")),
    "empty tests": (lambda f: (f / "visible_tests.py").write_text(""), ("visible_tests.py", "empty")),
    "broken tests": (lambda f: (f / "visible_tests.py").write_text(VISIBLE + "def (\n"), ("visible_tests.py:18:",)),
    "no check in the tests": (
        lambda f: (f / "visible_tests.py").write_text("from solution import double\n"),
        ("check",),
    ),
    "no check in the held-out tests": (
        lambda f: (f / "held_out_tests.py").write_text("import double\n"),
        ("held_out_tests.py", "check"),
    ),
    "tests that fail on import": (
        lambda f: (f / "visible_tests.py").write_text(VISIBLE + "\nraise RuntimeError('boom')\n"),
        ("visible_tests.py", "boom"),
    ),
    "held-out tests that fail on import": (
        lambda f: (f / "held_out_tests.py").write_text(HELD_OUT + "\nimport no_such_module_anywhere\n"),
        ("held_out_tests.py", "no_such_module_anywhere"),
    ),
    "tests that use what is not supported": (
        lambda f: (f / "visible_tests.py").write_text(VISIBLE + "\ndef test_out(capsys):\n    double(1)\n"),
        ("visible_tests.py", "capsys"),
    ),
    "held-out equal to visible": (
        lambda f: (f / "held_out_tests.py").write_text(VISIBLE),
        ("held_out_tests.py", "visible_tests.py"),
    ),
    "held-out equal but for its layout": (
        lambda f: (f / "held_out_tests.py").write_text("# mine\n" + VISIBLE.replace("\n\n\n", "\n\n")),
        ("held_out_tests.py", "visible_tests.py"),
    ),
    "tests of another function": (
        lambda f: (f / "visible_tests.py").write_text("from solution import halve\n\ndef test_a():\n    halve(1)\n"),
        ("visible_tests.py", "double"),
    ),
    "binary tests": (
        lambda f: (f / "visible_tests.py").write_bytes(b"\x80\x81" * 99),
        ("visible_tests.py:1:", "UTF-8"),
    ),
    "tests with a null byte": (
        lambda f: (f / "visible_tests.py").write_bytes(VISIBLE.encode() + b"\x00\n"),
        ("visible_tests.py", "null"),
    ),
    "tests are a folder": (lambda f: replaced_by_folder(f / "visible_tests.py"), ("visible_tests.py",)),
    "misnamed held-out file": (
        lambda f: (f / "held_out_tests.py").rename(f / "heldout_tests.py"),
        ("heldout_tests.py", "held_out_tests.py"),
    ),
    "two kinds of visible checks": (
        lambda f: (f / "visible_cases.jsonl").write_text(CASES),
        ("visible_cases.jsonl", "visible_tests.py"),
    ),
}


def add(folder: Path, line: str) -> None:
    file = folder / "task.toml"
    file.write_text(file.read_text() + line)


def only_split(folder: Path) -> None:
    (folder / "visible_tests.py").unlink()
    add(folder, "split = 0.3\n")


def replaced_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("name", FOLDERS)
def test_task_folder(tmp_path: Path, afterword: Command, name: str) -> None:
    breaks, words = FOLDERS[name]
    task = write_task(tmp_path / "task")
    breaks(task)
    refused(run(afterword, tmp_path, task), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CASES + '{"args": [3], "expected": 6', ("visible_cases.jsonl:3:", "JSON")),
        (CASES + "[3]\n", ("visible_cases.jsonl:3:", "object")),
        (CASES + '{"args": [3]}\n', ("visible_cases.jsonl:3:", "expected")),
        (CASES + '{"args": 3, "expected": 6}\n', ("visible_cases.jsonl:3:", "args")),
        (CASES + '{"arg": [3], "expected": 6}\n', ("visible_cases.jsonl:3:", "'args'")),
        (CASES + '{"args": [3], "expected": 6, "tolerance": -1}\n', ("visible_cases.jsonl:3:", "tolerance")),
        ("\n\n", ("visible_cases.jsonl", "empty")),
    ],
)
def test_labelled_examples(tmp_path: Path, afterword: Command, text: str, words: tuple[str, ...]) -> None:
    task = write_task(tmp_path / "task", visible=text, held_out=None, cases=True)
    refused(run(afterword, tmp_path, task), *words)


def test_held_out_examples_equal_to_the_visible_ones(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=CASES, held_out=CASES, cases=True)
    refused(run(afterword, tmp_path, task), "held_out_cases.jsonl", "visible_cases.jsonl")


def test_split_of_too_few_checks(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task", visible=CASES, held_out=None, cases=True, toml="split = 0.3\n")
    refused(run(afterword, tmp_path, task), "4")


def test_no_such_folder(tmp_path: Path, afterword: Command) -> None:
    refused(run(afterword, tmp_path, tmp_path / "none"), str(tmp_path / "none"), "afterword new")


def test_file_instead_of_a_folder(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    refused(run(afterword, tmp_path, task / "task.toml"), "expected a task folder", repr(str(task)))


def test_endless_device_as_a_file_is_refused(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    (task / "visible_tests.py").unlink()
    (task / "visible_tests.py").symlink_to("/dev/zero")
    refused(run(afterword, tmp_path, task), "visible_tests.py")


def test_huge_file_is_refused(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    with (task / "visible_tests.py").open("wb") as file:
        file.truncate(3 << 30)  # a hole: it takes no room on the disk
    refused(run(afterword, tmp_path, task), "visible_tests.py", "large")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cost-usd", "-1"], ("cost", "-1")),
        (["--tokens", "-5"], ("tokens", "-5")),
        (["--calls", "0"], ("calls", "0")),
        (["--seconds", "-2"], ("seconds", "-2")),
        (["--cost-usd", "nan"], ("cost", "nan")),
        (["--seconds", "soon"], ("--seconds", "number")),
        (["--max-trials", "0"], ("trials", "0")),
        (["--max-trials", "many"], ("--max-trials", "integer")),
        (["--memory", "0"], ("memory", "0")),
        (["--temperature", "hot"], ("--temperature", "'hot'")),
        (["--temperature", "-1"], ("--temperature", "'-1'")),
        (["--temperature", "nan"], ("--temperature", "'nan'")),
        (["--reflector-temperature", "3"], ("--reflector-temperature", "'3'")),
        (["--price", "cheap"], ("--price", "'cheap'")),
        (["--price", "1"], ("--price", "'1'")),
        (["--price", "-1,2"], ("--price", "'-1,2'")),
        (["--max-tokens", "0"], ("max", "0")),
        (["--min-gain", "7"], ("gain", "7")),
        (["--patience", "0", "--min-gain", "0.1"], ("patience", "0")),
        (["--patience", "3"], ("--min-gain",)),
        (["--timeout-s", "0"], ("timeout", "0")),
        (["--requests-per-minute", "0"], ("requests", "0")),
        (["--strategy", "hope"], ("hope", "reflexion")),
        (["--base-url", "localhost:8000", "--model", "openai:m"], ("http://", "localhost:8000")),
        (["--model", "gpt-4o"], ("openai:NAME", "'gpt-4o'")),
        (["--model", "openai:"], ("openai:",)),
        (["--model", "mistral:small"], ("openai:NAME", "mistral:small")),
        (["--model", "scripted:/no/such/file"], ("/no/such/file",)),
        (["--reflector-model", "nobody"], ("openai:NAME", "'nobody'")),
        (["--model", "local:/no/such.gguf"], ("/no/such.gguf",)),
        (["--strategy", "retry", "--ask"], ("--ask", "retry")),
        (["--colour"], ("--colour",)),
    ],
)
def test_options(tmp_path: Path, afterword: Command, options: list[str], words: tuple[str, ...]) -> None:
    refused(run(afterword, tmp_path, write_task(tmp_path / "task"), *options), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("replies.jsonl", "empty")),
        ('{"text": "a"}\n{"text": \n', ("replies.jsonl:2:",)),
        ('{"txt": "a"}\n', ("replies.jsonl:1:", "txt")),
        ('{"text": 3}\n', ("replies.jsonl:1:", "text")),
    ],
)
def test_script(tmp_path: Path, afterword: Command, text: str, words: tuple[str, ...]) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text(text)
    refused(afterword("run", write_task(tmp_path / "task"), "--model", f"scripted:{script}", "--json"), *words)


def test_script_for_another_role(tmp_path: Path, afterword: Command) -> None:
    script = tmp_path / "replies.jsonl"
    script.write_text('{"role": "actress", "text": "a"}\n')
    ran = afterword("run", write_task(tmp_path / "task"), "--model", f"scripted:{script}")
    assert ran.code == 2
    assert "holds 0 replies for the role 'actor'" in ran.complaint


@pytest.mark.parametrize("text", ["", "{}\n", '{"kind": "header"}\n', "\x00\x01"])
def test_file_that_is_no_recording(tmp_path: Path, afterword: Command, text: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text(text)
    task = write_task(tmp_path / "task")
    refused(afterword("run", task, "--model", f"recorded:{file}", "--json"), "calls.jsonl", "recording")


@pytest.mark.parametrize("option", ["--record", "--out"])
@pytest.mark.parametrize("place", ["folder", "in_a_file/file", "/dev/full", "/proc/afterword"])
def test_file_that_cannot_be_written_is_found_before_anything_is_asked(
    tmp_path: Path, afterword: Command, option: str, place: str
) -> None:
    if (option, place) == ("--out", "/dev/full"):
        pytest.skip("opening it succeeds, and nothing is written before the end")
    (tmp_path / "folder").mkdir()
    (tmp_path / "in_a_file").write_text("not a recording")
    script = tmp_path / "empty.jsonl"  # any call would be refused for another reason
    script.write_text('{"role": "nobody", "text": "a"}\n')
    target = tmp_path / place
    ran = afterword("run", write_task(tmp_path / "task"), "--model", f"scripted:{script}", "--json", option, target)
    refused(ran, str(target))


def test_record_does_not_overwrite_another_kind_of_file(tmp_path: Path, afterword: Command) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    refused(run(afterword, tmp_path, write_task(tmp_path / "task"), "--record", precious), "thesis.txt")
    assert precious.read_text() == "years of work"


def test_refused_run_leaves_no_empty_program(tmp_path: Path, afterword: Command) -> None:
    out = tmp_path / "best.py"
    refused(run(afterword, tmp_path, write_task(tmp_path / "task"), "--out", out, "--temperature", "hot"), "hot")
    assert not out.exists()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("", ("rows.jsonl", "empty")),
        ('{"id": "a"\n', ("rows.jsonl:1:", "JSON")),
        ('\n{"id": "a"}\n', ("rows.jsonl:2:", "'solution'")),
        ('{"id": [3], "solution": "", "tests": "", "entry_point": "f"}\n', ("rows.jsonl:1:", "'id'")),
        ("[" * 100_000, ("rows.jsonl:1:", "JSON")),
    ],
)
def test_evaluate(tmp_path: Path, afterword: Command, row: str, words: tuple[str, ...]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(row)
    refused(afterword("evaluate", rows, "--json"), *words)


@pytest.mark.parametrize(
    "options", [["--jobs", "0"], ["--timeout-s", "-1"], ["--timeout-s", "nan"], ["--memory-mb", "0"]]
)
def test_options_of_evaluate(tmp_path: Path, afterword: Command, options: list[str]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "a", "solution": "", "tests": "", "entry_point": "f"}))
    refused(afterword("evaluate", rows, *options), options[0])


@pytest.mark.parametrize("command", ["evaluate", "extract"])
def test_file_of_rows_that_cannot_be_read(tmp_path: Path, afterword: Command, command: str) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\x00\xfe" * 1000)
    refused(afterword(command, tmp_path), str(tmp_path), "directory")
    refused(afterword(command, tmp_path / "none.jsonl"), "none.jsonl")
    refused(afterword(command, binary), "binary.jsonl", "UTF-8")
    refused(afterword(command), "Missing argument")


def test_unknown_command(afterword: Command) -> None:
    refused(afterword("ran"), "ran")
