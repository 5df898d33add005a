"""Task folders: what they give, and one line of error for each way in which they can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from afterword.core.records import Limits
from afterword.errors import BadTests, InputError, NoTests
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.task_folder import load_task_folder

TOML = 'id = "sum"\ninstructions = "Add."\nentry_point = "f"\n'
TESTS = (
    "from solution import f\n\n\ndef test_a():\n    assert f(1, 2) == 3\n\n\ndef test_b():\n    assert f(0, 0) == 0\n"
)
MORE = TESTS + "\n\ndef test_c():\n    assert f(2, 2) == 4\n\n\ndef test_d():\n    assert f(3, 3) == 6\n"
HELD_OUT = "from solution import f\n\n\ndef test_negative():\n    assert f(-1, -2) == -3\n"
CASES = '{"args": [1, 2], "expected": 3}\n{"args": [1], "kwargs": {"b": 1}, "expected": 2, "tolerance": 0.1}\n'


def folder(path: Path, **files: str) -> Path:
    names = {"toml": "task.toml", "visible": "visible_tests.py", "held_out": "held_out_tests.py"}
    names |= {"cases": "visible_cases.jsonl", "held_out_cases": "held_out_cases.jsonl"}
    for key, text in files.items():
        (path / names[key]).write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_task_folder(path)
    assert "\n" not in str(caught.value)
    return caught.value


def test_folder_with_both_files(tmp_path: Path) -> None:
    task = load_task_folder(folder(tmp_path, toml=TOML, visible=TESTS, held_out=HELD_OUT))
    assert (task.task.id, task.task.instructions) == ("sum", "Add.")
    assert task.task.inputs == {"entry_point": "f", "language": "python"}
    assert task.checks.check_ids == ("test_a", "test_b")
    assert isinstance(task.held_out, Suite)
    assert task.held_out.check_ids == ("test_negative",)
    assert task.limits == Limits(wall_s=5.0)
    assert task.python is None


def test_optional_keys(tmp_path: Path) -> None:
    toml = (
        f'{TOML}signature = "f(a: int, b: int) -> int"\nlanguage = "python"\ntimeout_s = 2\nmemory_mb = 512\nseed = 3\n'
    )
    task = load_task_folder(folder(tmp_path, toml=toml, visible=TESTS))
    assert task.task.inputs["signature"] == "def f(a: int, b: int) -> int:"
    assert task.limits == Limits(wall_s=2.0, memory_mb=512)
    assert task.held_out is None


def test_cases_for_both(tmp_path: Path) -> None:
    hidden = '{"args": [5, 5], "expected": 10}\n'
    task = load_task_folder(folder(tmp_path, toml=TOML, cases=CASES, held_out_cases=hidden))
    assert task.checks.check_ids == ("case:1", "case:2")
    assert isinstance(task.held_out, Suite)
    assert task.held_out.check_ids == ("case:1",)


def test_tests_and_cases_together(tmp_path: Path) -> None:
    task = load_task_folder(folder(tmp_path, toml=TOML, visible=TESTS, held_out_cases=CASES))
    assert isinstance(task.held_out, Suite)
    assert len(task.held_out.check_ids) == 2


def test_split_holds_out_a_share_by_seed(tmp_path: Path) -> None:
    folder(tmp_path, toml=f"{TOML}split = 0.3\nseed = 1\n", visible=MORE)
    task = load_task_folder(tmp_path)
    assert isinstance(task.held_out, Suite)
    assert len(task.held_out.check_ids) == 1
    assert set(task.checks.check_ids) | set(task.held_out.check_ids) == {"test_a", "test_b", "test_c", "test_d"}
    assert load_task_folder(tmp_path).held_out == task.held_out


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    folder(tmp_path, visible=TESTS)
    (tmp_path / "task.toml").write_bytes(b"\xef\xbb\xbf" + TOML.replace("\n", "\r\n").encode())
    assert load_task_folder(tmp_path).task.id == "sum"


def test_interpreter_is_found_beside_the_task(tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\n")
    interpreter.chmod(0o755)
    task = load_task_folder(folder(tmp_path, toml=f'{TOML}python = "python"\n', visible=TESTS))
    assert task.python == interpreter


BAD_TOML = {
    "empty": ("", None, "the file is empty; write id"),
    "syntax": ('id = "x"\ninstructions = \n', 2, "not valid TOML"),
    "unclosed string": ('id = "x"\nentry_point = "f\n', 2, "not valid TOML"),
    "key twice": (TOML + 'id = "y"\n', 4, "not valid TOML"),
    "missing id": (
        'instructions = "Add."\nentry_point = "f"\n',
        None,
        "the key 'id' is missing; add a line such as: id =",
    ),
    "missing instructions": ('id = "x"\nentry_point = "f"\n', None, "'instructions' is missing"),
    "missing entry point": ('id = "x"\ninstructions = "Add."\n', None, "'entry_point' is missing"),
    "misspelt": (TOML + "timout_s = 3\n", 4, "unknown key 'timout_s'; did you mean 'timeout_s'?"),
    "misspelt and so missing": (
        'id = "x"\ninstructions = "Add."\nentrypoint = "f"\n',
        3,
        "unknown key 'entrypoint'; did you mean 'entry_point'?",
    ),
    "unknown": (TOML + "zzz = 3\n", 4, "unknown key 'zzz'; known keys are id, instructions"),
    "table": (TOML + "[limits]\ntimeout_s = 3\n", 4, "unknown key 'limits'"),
    "number for a text": ('id = 3\ninstructions = "Add."\nentry_point = "f"\n', 1, "id must be a name, found 3"),
    "list for a text": ('id = "x"\ninstructions = ["Add."]\nentry_point = "f"\n', 2, "instructions must be a text"),
    "text for a number": (TOML + 'timeout_s = "5"\n', 4, "timeout_s must be a number of seconds, found '5'"),
    "boolean for a number": (
        TOML + "memory_mb = true\n",
        4,
        "memory_mb must be a whole number of megabytes, found True",
    ),
    "fraction of a megabyte": (TOML + "memory_mb = 64.5\n", 4, "memory_mb must be a whole number"),
    "negative time": (TOML + "timeout_s = -1\n", 4, "timeout_s must be above 0 seconds, found -1"),
    "no time": (TOML + "timeout_s = 0\n", 4, "timeout_s must be above 0"),
    "endless time": (TOML + "timeout_s = inf\n", 4, "timeout_s must be a number of seconds, found inf"),
    "time that is no number": (TOML + "timeout_s = nan\n", 4, "timeout_s must be"),
    "negative memory": (TOML + "memory_mb = -5\n", 4, "memory_mb must be at least 64, found -5"),
    "negative seed": (TOML + "seed = -5\n", 4, "seed must not be negative, found -5"),
    "negative split": (TOML + "split = -0.3\n", 4, "split must be between 0 and 1, found -0.3"),
    "split of all": (TOML + "split = 1.0\n", 4, "split must be between 0 and 1, found 1.0"),
    "blank id": ('id = " "\ninstructions = "Add."\nentry_point = "f"\n', 1, "id must be one short line"),
    "id of two lines": ('id = "a\\nb"\ninstructions = "Add."\nentry_point = "f"\n', 1, "id must be one short line"),
    "blank instructions": ('id = "x"\ninstructions = " "\nentry_point = "f"\n', 2, "instructions are empty"),
    "no name": (
        'id = "x"\ninstructions = "Add."\nentry_point = "f()"\n',
        3,
        "entry_point must be a Python name, found 'f()'",
    ),
    "keyword": ('id = "x"\ninstructions = "Add."\nentry_point = "def"\n', 3, "entry_point must be a Python name"),
    "language": (TOML + 'language = "cobol"\n', 4, "unsupported language 'cobol'; supported: python"),
    "signature of another": (TOML + 'signature = "def g(a):"\n', 4, "signature does not define 'f'"),
    "broken signature": (TOML + 'signature = "def f(a"\n', 4, "signature is not valid Python: 'def f(a:'"),
    "interpreter that is not there": (
        TOML + 'python = "/no/such/python"\n',
        4,
        "python names no file: '/no/such/python'",
    ),
    "interpreter of a wrong type": (
        TOML + "python = 3.11\n",
        4,
        "python must be the path of an interpreter, found 3.11",
    ),
}


@pytest.mark.parametrize(("toml", "line", "message"), BAD_TOML.values(), ids=BAD_TOML.keys())
def test_task_file_is_refused_with_its_line(tmp_path: Path, toml: str, line: int | None, message: str) -> None:
    error = refusal(folder(tmp_path, toml=toml, visible=MORE))
    assert message in error.message
    assert error.file == tmp_path / "task.toml"
    assert error.line == line


def test_file_that_is_no_text(tmp_path: Path) -> None:
    folder(tmp_path, visible=TESTS)
    (tmp_path / "task.toml").write_bytes(b'id = "x"\ninstructions = "\xff"\n')
    error = refusal(tmp_path)
    assert (error.line, error.message) == (2, "expected UTF-8 text, found other bytes; save it as UTF-8")


def test_interpreter_that_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("")
    error = refusal(folder(tmp_path, toml=f'{TOML}python = "python"\n', visible=TESTS))
    assert "cannot be executed" in error.message


def test_no_folder(tmp_path: Path) -> None:
    assert "afterword new FOLDER" in refusal(tmp_path / "none").message


def test_file_for_a_folder(tmp_path: Path) -> None:
    folder(tmp_path, toml=TOML)
    error = refusal(tmp_path / "task.toml")
    assert str(tmp_path) in error.message


def test_folder_without_task_file(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, visible=TESTS))
    assert error.file == tmp_path / "task.toml"
    assert "the file is missing" in error.message


def test_folder_in_place_of_the_task_file(tmp_path: Path) -> None:
    (tmp_path / "task.toml").mkdir()
    assert "cannot be read" in refusal(tmp_path).message


def test_no_checks_at_all(tmp_path: Path) -> None:
    task = load_task_folder(folder(tmp_path, toml=TOML))
    assert (task.visible, task.held_out) == (None, None)
    with pytest.raises(InputError, match="the task 'sum' has no visible checks"):
        _ = task.checks


def test_held_out_checks_alone(tmp_path: Path) -> None:
    task = load_task_folder(folder(tmp_path, toml=TOML, held_out=HELD_OUT))
    assert task.visible is None
    assert isinstance(task.held_out, Suite)
    assert task.held_out.check_ids == ("test_negative",)


@pytest.mark.parametrize(
    ("name", "right"), [("tests.py", "visible_tests.py"), ("my_cases.jsonl", "visible_cases.jsonl")]
)
def test_file_of_checks_that_nobody_would_read(tmp_path: Path, name: str, right: str) -> None:
    folder(tmp_path, toml=TOML)
    (tmp_path / name).write_text(TESTS, encoding="utf-8")
    error = refusal(tmp_path)
    assert error.message == f"a file of this name is not read; rename it to {right}"
    assert error.file == tmp_path / name


def test_split_without_visible_checks(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=f"{TOML}split = 0.3\n", held_out=HELD_OUT))
    assert "there is no file of visible checks" in error.message


def test_two_visible_files(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=TOML, visible=TESTS, cases=CASES))
    assert error.message == "found visible_tests.py and visible_cases.jsonl; keep one of them"


@pytest.mark.parametrize("name", ["visible_test.py", "heldout_tests.py", "Held_out_tests.py", "held_out_cases.json"])
def test_misnamed_file_is_not_left_out_silently(tmp_path: Path, name: str) -> None:
    folder(tmp_path, toml=TOML, visible=TESTS)
    if name.startswith("visible"):
        (tmp_path / "visible_tests.py").unlink()
    (tmp_path / name).write_text(HELD_OUT)
    error = refusal(tmp_path)
    assert "a file of this name is not read; rename it to" in error.message
    assert error.file == tmp_path / name


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    folder(tmp_path, toml=TOML, visible=TESTS)
    for name in ("replies.jsonl", "README.md", "solution.py", "notes.py"):
        (tmp_path / name).write_text("")
    assert load_task_folder(tmp_path).held_out is None


@pytest.mark.parametrize("held", [True, False])
def test_empty_tests(tmp_path: Path, held: bool) -> None:
    folder(tmp_path, toml=TOML, visible=TESTS if held else "\n", held_out=" " if held else HELD_OUT)
    error = refusal(tmp_path)
    assert error.message == "the file is empty; write checks of f into it"


def test_tests_without_a_check(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=TOML, visible="from solution import f\n\n\ndef helper():\n    return f\n"))
    assert isinstance(error, NoTests)
    assert error.file == tmp_path / "visible_tests.py"


def test_tests_with_a_syntax_error_name_its_line(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=TOML, visible=TESTS, held_out="from solution import f\n\ndef test_x(:\n"))
    assert isinstance(error, BadTests)
    assert (error.file, error.line) == (tmp_path / "held_out_tests.py", 3)


def test_tests_of_another_function(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=TOML, visible=TESTS.replace("f(", "g(").replace("import f", "import g")))
    assert "the tests never use 'f'" in error.message


SAME = {
    "bytes": TESTS,
    "comments and spacing": "# hidden\n" + TESTS.replace("f(1, 2)", "f( 1,2 )"),
    "order": TESTS.split("\n\n\n")[0] + "\n\n\n" + "\n\n\n".join(TESTS.split("\n\n\n")[:0:-1]),
    "a part": "from solution import f\n\ndef test_b():\n    assert f(0, 0) == 0\n",
}


@pytest.mark.parametrize("held_out", SAME.values(), ids=SAME.keys())
def test_held_out_tests_that_are_all_visible(tmp_path: Path, held_out: str) -> None:
    error = refusal(folder(tmp_path, toml=TOML, visible=TESTS, held_out=held_out))
    assert "stands in visible_tests.py too" in error.message
    assert error.file == tmp_path / "held_out_tests.py"


def test_held_out_cases_that_are_all_visible(tmp_path: Path) -> None:
    hidden = '{"expected": 3, "args": [1,2], "label": "x"}\n'
    error = refusal(folder(tmp_path, toml=TOML, cases=CASES, held_out_cases=hidden))
    assert "stands in visible_cases.jsonl too" in error.message


def test_split_beside_a_held_out_file(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=f"{TOML}split = 0.3\n", visible=MORE, held_out=HELD_OUT))
    assert "split is for one file of checks" in error.message


def test_split_of_too_few_checks(tmp_path: Path) -> None:
    error = refusal(folder(tmp_path, toml=f"{TOML}split = 0.3\n", visible=TESTS))
    assert "split needs 4 checks or more, found 2" in error.message


BAD_CASES = {
    "no json": ('{"args": [1], "expected": 1}\n{"args": [1]\n', 2, "not valid JSON"),
    "after blank lines": ('\n\n{"args": [1],}\n', 3, "not valid JSON"),
    "list": ("[1, 2]\n", 1, "expected a JSON object with args and expected, found list"),
    "number": ("3\n", 1, "found int"),
    "unknown key": ('{"arg": [1], "expected": 1}\n', 1, "unknown key 'arg'; did you mean 'args'?"),
    "key twice": ('{"args": [1], "args": [2], "expected": 1}\n', 1, "the key 'args' stands twice"),
    "not a number": ('{"args": [NaN], "expected": 1}\n', 1, "NaN is not JSON"),
    "no expected": ('{"args": [1]}\n', 1, "expected or raises"),
    "args no list": ('{"args": 1, "expected": 1}\n', 1, "args must be a list"),
    "kwargs no object": ('{"kwargs": [1], "expected": 1}\n', 1, "kwargs must be an object"),
    "negative tolerance": ('\n{"args": [1], "expected": 1, "tolerance": -1}\n', 2, "tolerance must not be negative"),
    "tolerance no number": ('{"args": [1], "expected": 1, "tolerance": "x"}\n', 1, "tolerance must be a number"),
    "nested": ('{"args": ' + "[" * 100_000 + "\n", 1, "this line cannot be read"),
    "endless number": ('{"args": [' + "9" * 10_000 + '], "expected": 1}\n', 1, "this line cannot be read"),
}


@pytest.mark.parametrize(("cases", "line", "message"), BAD_CASES.values(), ids=BAD_CASES.keys())
def test_case_file_is_refused_with_its_line(tmp_path: Path, cases: str, line: int, message: str) -> None:
    error = refusal(folder(tmp_path, toml=TOML, cases=cases))
    assert message in error.message
    assert (error.file, error.line) == (tmp_path / "visible_cases.jsonl", line)


def test_held_out_text_is_not_part_of_the_task(tmp_path: Path) -> None:
    canary = "canary-5b1c"
    task = load_task_folder(
        folder(tmp_path, toml=TOML, visible=TESTS, held_out=f"{HELD_OUT}\n# {canary}\nX = '{canary}'\n")
    )
    assert canary not in json.dumps([task.task.id, task.task.instructions, dict(task.task.inputs)])
    assert canary not in task.checks.text
