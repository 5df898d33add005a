"""`afterword exam` with scripted models: what is counted, and what is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anyio
import pytest

from afterword.evaluators.function_tests import JudgePool
from afterword.experiments.exam import PlantedBug, known_right_programs, plant
from afterword.sandbox import open_sandbox
from tests.e2e.conftest import Command

ITEMS = 3


@pytest.fixture(scope="module")
def bugs() -> list[PlantedBug]:
    """The bugs that `exam --seed 0` plants first."""

    async def planted() -> list[PlantedBug]:
        found: list[PlantedBug] = []
        async with open_sandbox(workers=1, allow_weak=True) as sandbox, JudgePool(sandbox, workers=1) as judges:
            async for bug in plant(known_right_programs(), judges, seed=0):
                found.append(bug)
                if len(found) == ITEMS:
                    break
        return found

    return anyio.run(planted)


def lesson(bug: PlantedBug, *, names: bool) -> str:
    check = bug.verdict.failed_ids[0]
    if not names:
        return f"`{check}` failed since my values came out wrong. I will compute every value of the result again."
    return f"`{check}` failed since I wrote `{bug.wrong or bug.fix}`. I will write `{bug.fix or 'nothing'}` there."


def script(file: Path, role: str, texts: list[str]) -> str:
    file.write_text("".join(json.dumps({"text": text, "role": role}) + "\n" for text in texts))
    return f"scripted:{file}"


def code(source: str) -> str:
    return f"```python\n{source}```"


def test_lessons_and_repairs_are_counted_against_no_lesson(
    afterword: Command, bugs: list[PlantedBug], tmp_path: Path
) -> None:
    reflector = script(
        tmp_path / "reflector.jsonl",
        "reflector",
        [
            lesson(bugs[0], names=True),
            lesson(bugs[1], names=False),
            lesson(bugs[1], names=False),
            lesson(bugs[2], names=True),
        ],
    )
    attempts = []
    for number, bug in enumerate(bugs):
        attempts += [code(bug.buggy), code(bug.right if number != 1 else bug.buggy)]
    actor = script(tmp_path / "actor.jsonl", "actor", attempts)
    arguments = ["exam", "--model", actor, "--reflector-model", reflector, "--items", str(ITEMS), "--json"]
    ran = afterword(*arguments)
    assert ran.code == 0, ran.err
    told = ran.told
    reflectors, table, items = told["reflectors"], told["table"], told["items"]
    assert isinstance(reflectors, dict)
    assert isinstance(table, list)
    assert isinstance(items, list)
    assert reflectors[reflector]["named"]["count"] == 2
    assert [(row["reflector"], row["repaired"]["count"], row["repaired"]["total"]) for row in table] == [
        ("(no lesson)", 0, 3),
        (reflector, 2, 3),
    ]
    assert [item["id"] for item in items] == [bug.id for bug in bugs]
    assert table[1]["repaired"]["low"] < 2 / 3 < table[1]["repaired"]["high"]


def test_the_table_for_a_person(afterword: Command, bugs: list[PlantedBug], tmp_path: Path) -> None:
    reflector = script(tmp_path / "r.jsonl", "reflector", [lesson(bugs[0], names=True)])
    actor = script(tmp_path / "a.jsonl", "actor", [code(bugs[0].right)])
    ran = afterword("exam", "--model", actor, "--reflector-model", reflector, "--items", "1", "--no-baseline")
    assert ran.code == 0, ran.err
    assert "reflector, by 1 planted bug" in ran.out
    assert re.search(r"1/1 21-100%\s+1/1 21-100%\s+1/1 21-100%", ran.out)
    assert "(no lesson)" not in ran.out.split("each as")[0]
    run, first = ran.err.splitlines()
    assert run.startswith("run ")
    assert first.startswith("1/1  exam/")
    assert f"kept as {run}" in ran.out


def test_every_actor_meets_every_reflector(afterword: Command, bugs: list[PlantedBug], tmp_path: Path) -> None:
    good = script(tmp_path / "good.jsonl", "reflector", [lesson(bugs[0], names=True)])
    vague = script(tmp_path / "vague.jsonl", "reflector", [lesson(bugs[0], names=False)] * 2)
    right = script(tmp_path / "right.jsonl", "actor", [code(bugs[0].right)] * 3)
    wrong = script(tmp_path / "wrong.jsonl", "actor", [code(bugs[0].buggy)] * 3)
    models = ("--model", right, "--model", wrong, "--reflector-model", good, "--reflector-model", vague)
    ran = afterword("exam", *models, "--items", "1", "--json")
    assert ran.code == 0, ran.err
    table = ran.told["table"]
    assert isinstance(table, list)
    repaired = {(row["actor"], row["reflector"]): row["repaired"]["count"] for row in table}
    assert repaired == {
        (actor, reflector): int(actor == right)
        for actor in (right, wrong)
        for reflector in ("(no lesson)", good, vague)
    }


def test_a_reply_without_a_program_repairs_nothing(afterword: Command, bugs: list[PlantedBug], tmp_path: Path) -> None:
    reflector = script(tmp_path / "r.jsonl", "reflector", [lesson(bugs[0], names=True)])
    actor = script(tmp_path / "a.jsonl", "actor", ["no program here"])
    ran = afterword("exam", "--model", actor, "--reflector-model", reflector, "--items", "1", "--no-baseline", "--json")
    assert ran.code == 0, ran.err
    table = ran.told["table"]
    assert isinstance(table, list)
    assert [(row["repaired"]["count"], row["repaired"]["total"]) for row in table] == [(0, 1)]


def test_models_that_cannot_be_reached_end_it_at_once(afterword: Command) -> None:
    ran = afterword(
        "exam", "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--api-key", "k", "--items", "2"
    )
    assert ran.code == 3
    assert ran.complaint


def test_a_budget_ends_it_with_what_is_known(afterword: Command, bugs: list[PlantedBug], tmp_path: Path) -> None:
    reflector = script(tmp_path / "r.jsonl", "reflector", [lesson(bug, names=True) for bug in bugs])
    actor = script(tmp_path / "a.jsonl", "actor", [code(bug.right) for bug in bugs])
    ran = afterword(
        "exam", "--model", actor, "--reflector-model", reflector, "--items", "3", "--no-baseline", "--calls", "3"
    )
    assert ran.code == 0, ran.err
    assert "by 1 planted bug" in ran.out
    assert "ended early: calls budget of 3" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--items", "0"), "--items takes a number from 1"),
        (("--model", "nobody:x"), "expected a model as"),
        (("--data", "/nonexistent"), "no such data folder"),
    ],
)
def test_bad_usage_is_one_line(afterword: Command, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    model = script(tmp_path / "m.jsonl", "actor", ["x"])
    ran = afterword("exam", *(("--model", model) if "--model" not in arguments else ()), *arguments)
    assert ran.code == 2
    assert said in ran.complaint


def test_an_exam_that_ended_early_is_gone_on_with_and_pays_nothing_twice(
    afterword: Command, bugs: list[PlantedBug], tmp_path: Path
) -> None:
    reflector = script(tmp_path / "r.jsonl", "reflector", [lesson(bug, names=True) for bug in bugs])
    actor = script(tmp_path / "a.jsonl", "actor", [code(bug.right) for bug in bugs])
    exam = ("exam", "--model", actor, "--reflector-model", reflector, "--items", "3", "--no-baseline")
    ran = afterword(*exam, "--calls", "3")
    assert "the same command goes on with it" in ran.out
    assert afterword("resume").complaint.endswith(
        "one of `afterword exam`; give that command again, and it goes on with it"
    )
    ran = afterword(*exam, "--json", "--record", tmp_path / "calls.jsonl")
    assert ran.code == 0, ran.err
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    asked = [call["role"] for call in calls if call["kind"] == "call"]
    assert asked == ["actor", "reflector", "actor"]  # what came before is in the journal
    table = ran.told["table"]
    assert isinstance(table, list)
    assert [(row["repaired"]["count"], row["repaired"]["total"]) for row in table] == [(3, 3)]
    (run,) = [json.loads(line) for line in afterword("runs", "--json").out.splitlines()]
    assert (run["run"], run["state"]) == (ran.told["run"], "finished")
    shown = afterword("show", run["run"], bugs[0].id).out
    assert lesson(bugs[0], names=True) in shown
    assert "trial 2, with the lesson of trial 1" in shown


def test_an_exam_is_kept_nowhere_where_that_is_asked_for(
    afterword: Command, bugs: list[PlantedBug], tmp_path: Path
) -> None:
    reflector = script(tmp_path / "r.jsonl", "reflector", [lesson(bugs[0], names=True)] * 2)
    actor = script(tmp_path / "a.jsonl", "actor", [code(bugs[0].right)] * 2)
    exam = ("exam", "--model", actor, "--reflector-model", reflector, "--items", "1", "--no-baseline", "--no-journal")
    ran = afterword(*exam, "--json")
    assert ran.code == 0, ran.err
    assert ran.told["run"] is None
    assert afterword("runs").code == 2
    assert "--no-journal keeps the exam nowhere" in afterword(*exam, "--journal", tmp_path / "j").complaint


def test_what_an_exam_was_asked_is_told_by_its_settings(
    afterword: Command, bugs: list[PlantedBug], tmp_path: Path
) -> None:
    reflector = script(tmp_path / "r.jsonl", "reflector", [lesson(bugs[0], names=True)])
    actor = script(tmp_path / "a.jsonl", "actor", [code(bugs[0].right)])
    exam = ("exam", "--model", actor, "--reflector-model", reflector, "--items", "1", "--no-baseline", "--json")
    first = afterword(*exam).told["run"]
    assert afterword(*exam).told["run"] != first  # that one is finished
