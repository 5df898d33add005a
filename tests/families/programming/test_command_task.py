"""`[check]` and `[held_out_check]`: what a task folder with commands says, and what is refused in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.evaluators.command import CommandCheck
from afterword.evaluators.function_tests import Suite
from afterword.families.programming import ProgrammingTask, load_task_folder
from afterword.families.programming.file_reply import extract_file
from afterword.families.programming.task import JudgedByPerson

HEAD = 'id = "calc"\ninstructions = "Add two numbers."\n'
CHECK = '[check]\ncommand = "make test"\nfile = "src/calc.rb"\nresult = "tap:out.tap"\n'


def folder(tmp_path: Path, tables: str, *, head: str = HEAD, **files: str) -> Path:
    """A task folder; a file's name has `__` for `/` and loses what follows `___`, which stands for its dot."""
    task = tmp_path / "task"
    named = {"project__src__calc___rb": "# here\n", "project__Makefile": "test:\n"} | files
    for name, text in named.items():
        path = task / name.replace("___", ".").replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (task / "task.toml").write_text(head + tables)
    return task


def loaded(tmp_path: Path, tables: str, *, head: str = HEAD, **files: str) -> ProgrammingTask:
    return load_task_folder(folder(tmp_path, tables, head=head, **files))


def test_a_command_judges_a_file(tmp_path: Path) -> None:
    task = loaded(tmp_path, CHECK + 'protect = ["Makefile"]\nids = ["a", "b"]\ntimeout_s = 9.5\n')
    assert isinstance(task.visible, CommandCheck)
    assert task.held_out is None
    assert (task.visible.command, task.visible.candidate, str(task.visible.result)) == (
        "make test", "src/calc.rb", "tap:out.tap"
    )  # fmt: skip
    assert (task.visible.protect, task.visible.ids) == (("Makefile",), ("a", "b"))
    assert dict(task.visible.snapshot.files) == {"Makefile": b"test:\n", "src/calc.rb": b"# here\n"}
    assert task.limits.wall_s == 9.5
    assert task.task.inputs == {"entry_point": "", "language": "ruby", "file": "src/calc.rb", "content": "# here\n"}


def test_held_out_files_lie_over_the_project_for_the_held_out_check_only(tmp_path: Path) -> None:
    tables = CHECK + '[held_out_check]\ncommand = "make more"\n'
    task = loaded(tmp_path, tables, held_out__more___txt="secret", held_out__Makefile="more:\n")
    assert isinstance(task.visible, CommandCheck)
    assert isinstance(task.held_out, CommandCheck)
    assert "more.txt" not in task.visible.snapshot.files
    assert task.visible.snapshot.files["Makefile"] == b"test:\n"
    assert task.held_out.snapshot.files["more.txt"] == b"secret"
    assert task.held_out.snapshot.files["Makefile"] == b"more:\n"
    assert str(task.held_out.result) == "tap:out.tap"
    assert "secret" not in str(task.task)


def test_function_tests_can_be_followed_by_a_command(tmp_path: Path) -> None:
    head = HEAD + 'entry_point = "add"\n'
    tables = '[held_out_check]\ncommand = "sh judge.sh"\nfile = "calc.py"\nresult = "exit_code"\n'
    tests = "from solution import add\nassert add(1, 2) == 3\n"
    task = loaded(tmp_path, tables, head=head, visible_tests___py=tests)
    assert isinstance(task.visible, Suite)
    assert isinstance(task.held_out, CommandCheck)
    assert (task.limits.wall_s, task.held_out_limits and task.held_out_limits.wall_s) == (5.0, 60.0)
    assert "file" not in task.task.inputs


def test_examples_of_the_statement_are_the_visible_checks_and_a_person_judges(tmp_path: Path) -> None:
    statement = 'id = "x"\nentry_point = "f"\ninstructions = """\nDouble.\nInput: n = 2\nOutput: 4\n"""\n'
    task = loaded(tmp_path, 'held_out = "ask"\n', head=statement)
    assert isinstance(task.visible, Suite)
    assert task.visible.check_ids == ("case:1",)
    assert task.held_out == JudgedByPerson()


def test_the_signature_of_a_judge_s_class_is_taken(tmp_path: Path) -> None:
    head = (
        'id = "x"\nentry_point = "Solution"\ninstructions = """\nInput: n = 2\nOutput: 4\n"""\n'
        'signature = """\nclass Solution:\n    def double(self, n: int) -> int:\n"""\n'
    )
    task = loaded(tmp_path, "", head=head)
    assert isinstance(task.visible, Suite)
    assert "Solution().double(2) == 4" in task.visible.text


TESTS = "from solution import add\nassert add(1, 2) == 3\n"


@pytest.mark.parametrize(
    ("tables", "line", "said"),
    [
        ('[check]\nfile = "a.py"\nresult = "tap"\n', 3, "[check] needs the key 'command'"),
        ('[check]\ncommand = "x"\nresult = "tap"\n', 3, "the program needs a file"),
        ('[check]\ncommand = "x"\nfile = "a.py"\n', 3, "how the command tells its result is missing"),
        ('[check]\ncommand = "x"\nfile = "a.py"\nresult = "junit"\n', 3, "expected a result such as"),
        ('[check]\ncommand = "x"\nfile = "../a.py"\nresult = "tap"\n', 3, "path of a file inside the folder"),
        ('[check]\ncommand = " "\nfile = "a.py"\nresult = "tap"\n', 3, "the command is empty"),
        (CHECK + 'protekt = ["x"]\n', 7, "unknown key 'protekt' in [check]; did you mean 'protect'?"),
        (CHECK + "protect = 3\n", 7, "protect in [check] must be a list of patterns, found 3"),
        (CHECK + "ids = [1]\n", 7, "ids in [check] must be a list of names"),
        (CHECK + "timeout_s = 0\n", 7, "timeout_s must be above 0"),
        (CHECK + 'protect = ["src"]\n', 3, "covers 'src/calc.rb'"),
        (CHECK + 'folder = "nowhere"\n', 7, "expected a folder 'nowhere' beside task.toml, found none"),
        (CHECK + 'folder = "."\n', 7, "holds task.toml, and with it what is held out"),
        (CHECK + 'folder = ".."\n', 7, "holds task.toml, and with it what is held out"),
        (CHECK + 'overlay = "x"\n', 7, "an overlay is for [held_out_check]"),
        (CHECK + '[held_out_check]\ncommand = "make test"\n', 7, "it is the same check again"),
        (CHECK + '[held_out_check]\ncommand = "y"\noverlay = "none"\n', 9, "expected a folder 'none' beside task.toml"),
        (CHECK + '[held_out_check]\ncommand = "y"\noverlay = "project/src"\n', 9, "would be in sight"),
        ("check = 3\n", 3, "check must be a table"),
        ('held_out = "later"\n', 3, 'held_out must be the word "ask"'),
        ("split = 0.3\n" + CHECK, None, "split is for one file of checks"),
        ('held_out = "ask"\n' + CHECK + '[held_out_check]\ncommand = "y"\n', None, "without held-out checks"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path: Path, tables: str, line: int | None, said: str) -> None:
    with pytest.raises(InputError) as refused:
        loaded(tmp_path, tables)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("visible_tests___py", "there is [check] in task.toml too"),
        ("held_out_tests___py", "write entry_point into task.toml"),
    ],
)
def test_two_judges_are_refused(tmp_path: Path, file: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        loaded(tmp_path, CHECK, **{file: TESTS})
    assert said in str(refused.value)


def test_without_a_command_the_entry_point_is_still_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the key 'entry_point' is missing"):
        loaded(tmp_path, "", visible_tests___py=TESTS)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("Here:\n```js\nlet a = 1;\n```\nRun:\n```sh\nnode a.js\n```\n", "let a = 1;\n"),
        ("```js\nold\n```\n```js\nnew\n```\n", "new\n"),
        ("```\nplain\n```\n```text\noutput\n```\n", "plain\n"),
        ("```js:src/a.js\nlet b;\n```", "let b;\n"),
        ("<think>\n```js\nno\n```\n</think>\n```javascript\nyes\n```", "yes\n"),
        ("let a = 1;\nlet b = 2;\n", "let a = 1;\nlet b = 2;\n"),
        ("I cannot do that.", None),
        ("```text\nonly output\n```", None),
        ("```js\ncut in the mid", None),
        ("", None),
    ],
)
def test_the_file_in_a_reply(reply: str, found: str | None) -> None:
    assert extract_file(reply, "src/a.js", "javascript", "") == found
