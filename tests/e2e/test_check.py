"""`afterword check`: good checks pass, each kind of bad check is named, and nothing is kept."""

from __future__ import annotations

import gzip
import json
import textwrap
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import HELD_OUT, RIGHT, TABLE, write_task

EXAMPLES = Path(__file__).parents[2] / "examples"
IMPORT = "from solution import double\n"
TWO = "def test_two():\n    assert double(2) == 4\n"
FIVE = "def test_five():\n    assert double(5) == 10\n"

DURATION = """
import re

UNITS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text: str) -> int:
    if re.fullmatch("[0-9]+", text):
        return int(text)
    if not re.fullmatch("([0-9]+[hms])+", text):
        raise ValueError(f"not a duration: {text!r}")
    parts = re.findall("([0-9]+)([hms])", text)
    if len({unit for _, unit in parts}) < len(parts):
        raise ValueError(f"a unit is repeated in {text!r}")
    return sum(int(number) * UNITS[unit] for number, unit in parts)
"""


def check(afterword: Command, task: Path, *options: str | Path) -> Ran:
    """A quick one; options that are given again count."""
    quick = ("--repeats", "2", "--mutants", "6", "--json", "--allow-weak-isolation")
    return afterword("check", task, *quick, *options)


def findings(ran: Ran) -> list[tuple[str, str | None]]:
    """(kind, check) of all findings."""
    assert ran.code in (0, 1), ran.err
    found = ran.told["findings"]
    assert isinstance(found, list)
    return [(finding["kind"], finding["check"]) for finding in found]


def errors(ran: Ran) -> set[tuple[str, str | None]]:
    found = ran.told["findings"]
    assert isinstance(found, list)
    return {(finding["kind"], finding["check"]) for finding in found if finding["severity"] == "error"}


def write_tests(tmp_path: Path, *tests: str, toml: str = "", held_out: str | None = None) -> Path:
    return write_task(tmp_path / "task", visible=IMPORT + "\n\n".join(tests), held_out=held_out, toml=toml)


def write_solution(tmp_path: Path, source: str = RIGHT) -> Path:
    file = tmp_path / "right.py"
    file.write_text(source, encoding="utf-8")
    return file


def test_good_checks_are_fine_with_a_solution_and_without(afterword: Command, tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    before = sorted(tmp_path.rglob("*"))
    without = check(afterword, task)
    assert (without.code, without.told["status"], without.told["mutants"]) == (0, "fine", None)
    assert sorted(tmp_path.rglob("*")) == before  # nothing is kept
    ran = check(afterword, task, "--solution", write_solution(tmp_path))
    assert (ran.code, findings(ran)) == (0, [])
    assert ran.told["mutants"] == {"total": 2, "killed": {"visible": 2, "all": 2}, "survivors": []}


def test_a_solution_in_the_folder_is_used(afterword: Command, tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    (task / "solution.py").write_text(TABLE, encoding="utf-8")
    ran = check(afterword, task)
    assert ran.code == 1
    assert errors(ran) == {("wrong", "test_seven"), ("wrong", "test_wombat")}


def test_labelled_cases_are_examined_too(afterword: Command, tmp_path: Path) -> None:
    rows = [json.dumps({"args": [number], "expected": 0}) for number in range(3)]
    ran = check(afterword, write_task(tmp_path / "task", visible="\n".join(rows), held_out=None, cases=True))
    assert ran.code == 1
    assert errors(ran) == {("too_weak", None)}


FLAKY = {
    "random": "import random\ndef test_luck():\n    assert random.random() < 0.5 and double(1) == 2\n",
    "set order": "def test_luck():\n    assert list({'a', 'b', 'c', 'd'})[0] == 'a' and double(1) == 2\n",
    "time": "import time\ndef test_luck():\n    assert time.time_ns() // 1000 % 2 and double(1) == 2\n",
}


@pytest.mark.parametrize("kind", FLAKY)
def test_a_flaky_check_is_named_and_refused(afterword: Command, tmp_path: Path, kind: str) -> None:
    task = write_tests(tmp_path, TWO, FIVE, FLAKY[kind])
    ran = check(afterword, task, "--solution", write_solution(tmp_path), "--repeats", "8")
    assert ran.code == 1
    assert errors(ran) == {("flaky", "test_luck")}


def test_a_flaky_solution_is_found_as_well(afterword: Command, tmp_path: Path) -> None:
    luck = "import random\ndef double(n):\n    return n + n if random.random() < 0.5 else 0\n"
    ran = check(afterword, write_tests(tmp_path, TWO), "--solution", write_solution(tmp_path, luck), "--repeats", "12")
    assert ran.code == 1
    assert ("flaky", "test_two") in errors(ran)


def test_a_check_of_the_order_of_the_programs_set_is_flaky(afterword: Command, tmp_path: Path) -> None:
    listing = "def double(n):\n    return list({letter * 2 for letter in n})\n"
    tests = "def test_order():\n    assert double('abcd')[0] == 'aa'\n"
    some = "def test_all():\n    assert sorted(double('cd')) == ['cc', 'dd']\n"
    task = write_tests(tmp_path, tests, some)
    ran = check(afterword, task, "--solution", write_solution(tmp_path, listing), "--repeats", "8")
    assert (ran.code, errors(ran)) == (1, {("flaky", "test_order")})


def test_a_check_without_an_assertion_is_vacuous(afterword: Command, tmp_path: Path) -> None:
    swallowing = "def test_swallow():\n    try:\n        assert double(1) == 2\n    except Exception:\n        pass\n"
    ran = check(afterword, write_tests(tmp_path, TWO, FIVE, "def test_call():\n    double(3)\n", swallowing))
    assert ran.code == 1
    assert errors(ran) == {("vacuous", "test_call"), ("vacuous", "test_swallow")}


def test_a_suite_of_exceptions_only_is_too_weak(afterword: Command, tmp_path: Path) -> None:
    raising = "import pytest\ndef test_none():\n    with pytest.raises(TypeError):\n        double(None)\n"
    ran = check(afterword, write_tests(tmp_path, raising))
    assert ran.code == 1
    assert errors(ran) == {("too_weak", None)}
    assert "raises TypeError" in ran.out


def test_weak_held_out_checks_are_found_as_well(afterword: Command, tmp_path: Path) -> None:
    held_out = IMPORT + "def test_int():\n    assert isinstance(double(7), int)\n"
    ran = check(afterword, write_tests(tmp_path, TWO, FIVE, held_out=held_out))
    assert ran.code == 1
    (weak, *_) = [finding for finding in json.loads(ran.out)["findings"] if finding["kind"] == "too_weak"]
    assert (weak["part"], weak["check"]) == ("held_out", None)
    assert ("memorised", None) in errors(ran)


def test_held_out_checks_on_the_visible_inputs_add_nothing(afterword: Command, tmp_path: Path) -> None:
    held_out = IMPORT + "def test_both():\n    assert double(2) + 1 == 5\n    assert double(5) - 1 == 9\n"
    ran = check(afterword, write_tests(tmp_path, TWO, FIVE, held_out=held_out))
    assert (ran.code, errors(ran)) == (1, {("memorised", None)})


def test_changes_that_no_check_notices_are_listed_and_are_no_error(afterword: Command, tmp_path: Path) -> None:
    bounded = "def double(n):\n    if n > 100:\n        return 200\n    return n + n\n"
    ran = check(afterword, write_tests(tmp_path, TWO, FIVE), "--solution", write_solution(tmp_path, bounded))
    assert ran.code == 0
    assert set(findings(ran)) == {("survivor", None)}
    assert "in line 2 of the solution" in ran.out


def test_a_mutant_that_never_ends_is_noticed(afterword: Command, tmp_path: Path) -> None:
    looping = "def double(n):\n    total = 0\n    while n:\n        n -= 1\n        total += 2\n    return total\n"
    ran = check(
        afterword, write_tests(tmp_path, TWO, FIVE), "--solution", write_solution(tmp_path, looping), "--mutants", "12"
    )
    assert (ran.code, findings(ran)) == (0, [])


def test_a_slow_check_is_a_warning(afterword: Command, tmp_path: Path) -> None:
    slow = "import time\ndef test_slow():\n    assert double(5) == 10\n    time.sleep(2.2)\n"
    task = write_tests(tmp_path, TWO, slow, toml="timeout_s = 4.0\n")
    ran = check(afterword, task, "--solution", write_solution(tmp_path), "--mutants", "0")
    assert (ran.code, findings(ran)) == (0, [("slow", "test_slow")])


def test_classes_and_coroutines_are_examined(afterword: Command, tmp_path: Path) -> None:
    task = write_tests(tmp_path, "import asyncio\ndef test_a():\n    assert asyncio.run(double(2)) == 4\n", FIVE)
    toml = task / "task.toml"
    (task / "visible_tests.py").write_text(
        "import asyncio\nfrom solution import fetch, Box\ndef test_a():\n    assert asyncio.run(fetch(2)) == 4\n"
        "def test_b():\n    asyncio.run(fetch(3))\n    Box(1).put(2)\n",
        encoding="utf-8",
    )
    toml.write_text(
        'id = "fetch"\ninstructions = "x"\nentry_point = "fetch"\nsignature = "async def fetch(n):"\n', encoding="utf-8"
    )
    assert errors(check(afterword, task)) == {("vacuous", "test_b"), ("too_weak", None)}


def test_what_a_person_reads(afterword: Command, tmp_path: Path) -> None:
    task = write_tests(tmp_path, TWO, FIVE, "def test_call():\n    double(3)\n", held_out=HELD_OUT)
    ran = afterword("check", task, "--solution", write_solution(tmp_path), "--repeats", "2", "--allow-weak-isolation")
    assert ran.code == 1
    assert "the solution" in ran.out
    assert "3 of 3" in ran.out
    assert "changed solutions noticed" in ran.out
    assert "✗ visible: test_call: vacuous: it passes whatever the program returns; assert something" in ran.out
    assert ran.out.endswith("1 finding\n")


def test_the_examples_have_good_checks(afterword: Command, tmp_path: Path) -> None:
    solution = write_solution(tmp_path, DURATION)
    ran = check(afterword, EXAMPLES / "duration_parser", "--solution", solution, "--mutants", "30")
    assert (ran.code, errors(ran)) == (0, set())
    assert check(afterword, EXAMPLES / "track_order").code == 0


def exported(folder: Path, data_dir: Path, wanted: str) -> Path:
    """A task of HumanEval as a folder, with its reference program."""
    with gzip.open(data_dir / "programming" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as lines:
        row = next(row for row in map(json.loads, lines) if row["task_id"] == wanted)
    name = row["entry_point"]
    checks = textwrap.dedent(row["test"].partition("def check(candidate):")[2])
    task = write_task(folder, visible=f"from solution import {name}\ncandidate = {name}\n{checks}\n", held_out=None)
    toml = f'id = "{wanted}"\ninstructions = "x"\nentry_point = "{name}"\n'
    (task / "task.toml").write_text(toml, encoding="utf-8")
    (task / "solution.py").write_text(row["prompt"] + row["canonical_solution"], encoding="utf-8")
    return task


def test_published_checks_that_notice_each_mistake(afterword: Command, data_dir: Path, tmp_path: Path) -> None:
    ran = check(afterword, exported(tmp_path / "task", data_dir, "HumanEval/3"), "--mutants", "30")
    assert (ran.code, findings(ran)) == (0, [])


def test_published_checks_that_assert_only_true_are_named(afterword: Command, data_dir: Path, tmp_path: Path) -> None:
    ran = check(afterword, exported(tmp_path / "task", data_dir, "HumanEval/83"))
    assert (ran.code, errors(ran)) == (1, {("vacuous", "module:L6"), ("vacuous", "module:L14")})


def test_published_checks_that_miss_a_boundary(afterword: Command, data_dir: Path, tmp_path: Path) -> None:
    ran = check(afterword, exported(tmp_path / "task", data_dir, "HumanEval/59"), "--mutants", "30")
    assert ran.code == 0
    assert "`k < 2` → `k <= 2` in line 11" in str(ran.told)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--repeats", "0"), "--repeats"),
        (("--mutants", "-1"), "--mutants"),
        (("--jobs", "0"), "--jobs"),
        (("--seed", "-1"), "--seed"),
        (("--solution", "nowhere.py"), "nowhere.py"),
    ],
)
def test_bad_options_are_refused(afterword: Command, tmp_path: Path, options: tuple[str, str], words: str) -> None:
    ran = check(afterword, write_task(tmp_path / "task"), *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.complaint


def test_a_solution_that_does_not_compile_is_refused_with_its_line(afterword: Command, tmp_path: Path) -> None:
    file = write_solution(tmp_path, "def double(n):\n    return n +\n")
    ran = check(afterword, write_task(tmp_path / "task"), "--solution", file)
    assert ran.code == 2
    assert f"{file}:2: " in ran.complaint


def test_tests_that_cannot_run_are_refused(afterword: Command, tmp_path: Path) -> None:
    ran = check(afterword, write_tests(tmp_path, TWO, "raise RuntimeError('boom')\n"))
    assert ran.code == 2
    assert "visible_tests.py" in ran.complaint
    assert "boom" in ran.complaint


def test_a_folder_that_is_none_is_refused(afterword: Command, tmp_path: Path) -> None:
    ran = check(afterword, tmp_path / "nothing")
    assert ran.code == 2
    assert "afterword new" in ran.complaint
