"""`afterword evaluate`: verdicts in the order of the file, and the exit code of their agreement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import ENDLESS, PLUS_ONE, RIGHT, VISIBLE

KEYS = ["id", "passed", "reason", "checks_passed", "checks_total", "feedback", "trust", "isolation", "wall_s"]
SLOW = "import time\n\n\ndef double(n):\n    time.sleep(0.15)\n    return n + n\n"


def row(
    name: str, solution: str, *, tests: str = VISIBLE, expect: dict[str, object] | None = None
) -> dict[str, object]:
    values: dict[str, object] = {"id": name, "solution": solution, "tests": tests, "entry_point": "double"}
    return values if expect is None else {**values, "expect": expect}


def write(folder: Path, *rows: dict[str, object]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(values) + "\n" for values in rows))
    return file


def verdicts(ran: Ran) -> list[dict[str, object]]:
    return [json.loads(line) for line in ran.out.splitlines()]


def test_a_line_for_each_row_with_the_documented_keys(tmp_path: Path, afterword: Command) -> None:
    ran = afterword("evaluate", write(tmp_path, row("a", RIGHT), row("b", PLUS_ONE)), "--json")
    good, bad = verdicts(ran)
    assert ran.code == 0
    assert list(good) == list(bad) == KEYS
    assert (good["id"], good["passed"], good["reason"], good["feedback"]) == ("a", True, "ok", "")
    assert (good["checks_passed"], good["checks_total"], good["trust"]) == (4, 4, "isolated")
    assert (bad["id"], bad["passed"], bad["reason"], bad["checks_passed"]) == ("b", False, "failed", 1)
    assert "double(0) == 0" in str(bad["feedback"])


@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"], ["--jobs", "2"], ["--jobs", "3"]])
def test_order_is_kept_where_the_first_is_the_slowest(tmp_path: Path, afterword: Command, jobs: list[str]) -> None:
    names = ["slow", *(f"quick-{number}" for number in range(6))]
    rows = [row(name, SLOW if name == "slow" else RIGHT) for name in names]
    ran = afterword("evaluate", write(tmp_path, *rows), "--json", *jobs)
    assert [verdict["id"] for verdict in verdicts(ran)] == names
    assert all(verdict["passed"] for verdict in verdicts(ran))


def test_time_limit(tmp_path: Path, afterword: Command) -> None:
    rows = write(tmp_path, row("endless", ENDLESS), row("right", RIGHT))
    ended, right = verdicts(afterword("evaluate", rows, "--timeout-s", "0.5", "--json"))
    assert (ended["passed"], ended["reason"]) == (False, "timeout")
    assert right["passed"] is True
    assert isinstance(ended["wall_s"], float)
    assert 0.4 < ended["wall_s"] < 5


def test_memory_limit(tmp_path: Path, afterword: Command) -> None:
    greedy = "def double(n):\n    x = bytearray(200 << 20)\n    return n + n\n"
    rows = write(tmp_path, row("greedy", greedy))
    (refused,) = verdicts(afterword("evaluate", rows, "--memory-mb", "128", "--timeout-s", "60", "--json"))
    (allowed,) = verdicts(afterword("evaluate", rows, "--timeout-s", "60", "--json"))
    assert (refused["passed"], allowed["passed"]) == (False, True)


def test_agreement_decides_the_exit_code(tmp_path: Path, afterword: Command) -> None:
    agreeing = [
        row("a", RIGHT, expect={"passed": True, "reason": "ok"}),
        row("b", PLUS_ONE, expect={"passed": False, "reason": "failed"}),
        row("c", ENDLESS, expect={"passed": False, "reason": "memory", "also_ok": ["timeout"]}),
        row("d", PLUS_ONE),
    ]
    limit = ("--timeout-s", "0.5")
    assert afterword("evaluate", write(tmp_path, *agreeing), *limit).code == 0
    other_verdict = row("x", PLUS_ONE, expect={"passed": True, "reason": "ok"})
    assert afterword("evaluate", write(tmp_path, *agreeing, other_verdict), *limit).code == 1
    other_reason = row("x", PLUS_ONE, expect={"passed": False, "reason": "error"})
    told = afterword("evaluate", write(tmp_path, *agreeing, other_reason), *limit)
    assert told.code == 1
    assert told.out.count("NOT AS EXPECTED") == 1
    assert "4 of 4 as expected" not in told.out
    assert "3 of 4 as expected" in told.out


def test_tests_that_are_at_fault_are_a_verdict_and_stop_nothing(tmp_path: Path, afterword: Command) -> None:
    rows = write(
        tmp_path, row("none", RIGHT, tests="x = 1\n"), row("broken", RIGHT, tests="def test_a(:\n"), row("good", RIGHT)
    )
    ran = afterword("evaluate", rows, "--json")
    assert [verdict["reason"] for verdict in verdicts(ran)] == ["no_tests", "bad_tests", "ok"]
    assert [verdict["passed"] for verdict in verdicts(ran)] == [False, False, True]


def test_last_line_for_a_person_counts(tmp_path: Path, afterword: Command) -> None:
    ran = afterword("evaluate", write(tmp_path, row("a", RIGHT), row("b", PLUS_ONE), row("c", RIGHT)))
    lines = ran.out.splitlines()
    assert lines[-1] == "2 of 3 passed"
    assert [line[0] for line in lines[:-1]] == ["✓", "✗", "✓"]


def test_nothing_hostile_reaches_the_screen(tmp_path: Path, afterword: Command) -> None:
    noisy = "def double(n):\n    print('\\x1b[2J')\n    raise ValueError('\\x1b]0;owned\\x07')\n"
    ran = afterword("evaluate", write(tmp_path, row("a\x1b[31m", noisy)))
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out
