"""What the commands that look back at runs say, on a journal that was written through the public API."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import anyio
import pytest

from afterword import Fault, Feedback, Message, Reflexion, Task
from afterword.core.messages import ChatRequest
from afterword.core.protocols import ActContext, EvaluateContext
from afterword.core.records import CheckResult, Reflection
from afterword.journal import Run, RunSpec, open_journal
from tests.core.doubles import ListModel
from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import RIGHT, SAME, write_replies, write_task

HOSTILE = "\x1b[2Jtask\N{RIGHT-TO-LEFT OVERRIDE}"


class Parts:
    """A task that passes in its second trial; `broken` faults instead."""

    check_ids = ("case:1",)

    def __init__(self) -> None:
        self.model = ListModel(["first line\nwrong\n", "first line\nright\n"])

    async def act(self, context: ActContext) -> str:
        if context.task.id == "broken":
            raise Fault("no \x1b[31mmodel")
        request = ChatRequest((Message("system", "Be short."), Message("user", f"trial {context.number}")))
        return (await context.effects.complete("actor", self.model, request)).text

    async def judge(self, context: EvaluateContext) -> Feedback:
        passed = "right" in context.trajectory.output
        check = CheckResult("case:1", passed, "" if passed else "found \x1b[2Jwrong")
        return Feedback(passed, float(passed), "exact", "ok" if passed else "failed", check.message, (check,))

    async def reflect(self, context: object) -> Reflection:
        return Reflection("I wrote `wrong`\x1b[0m and next time I write `right`.", 1, problems=("too_vague",))


async def work(run: Run, name: str, *, held_out: bool = True) -> None:
    parts = Parts()
    loop = Reflexion(parts.act, parts.judge, parts.reflect, held_out=parts.judge if held_out else None)
    task = Task(name, "Write right.")
    outcome = await loop.run(task, recorder=run.recorder, events=run.events(arm="reflexion"))
    await run.finish(outcome, arm="reflexion")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A journal with a run of three tasks that is finished and one of a single task that is not."""
    file = tmp_path / "j.sqlite"

    async def write() -> None:
        async with open_journal(file) as journal:
            run = await journal.start(RunSpec(("afterword", "run", HOSTILE), seed=3))
            await work(run, HOSTILE)
            await work(run, "plain", held_out=False)
            await work(run, "broken")
            await run.note("burned", "plain", "its held-out checks were shown")
            await run.end()
            await work(await journal.start(RunSpec()), "single")

    anyio.run(write)
    return file


def names(afterword: Command, place: Path) -> list[str]:
    return [row["run"] for row in rows(afterword("runs", "--json", "--journal", place))]


def rows(ran: Ran) -> list[dict[str, Any]]:
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_runs_are_listed_with_state_progress_and_spending(afterword: Command, place: Path) -> None:
    ran = afterword("runs", "--journal", place)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == f"journal {place}: 2 runs"
    assert "interrupted  1 task: 1 accepted" in lines[1]
    assert "finished  3 tasks: 1 accepted, 1 faulted, 1 unverified" in lines[3]
    assert "4 trials · 4 calls" in lines[4]
    assert lines[-1] == "go on with one: afterword resume RUN"
    assert "\x1b" not in ran.out


def test_runs_as_json_are_one_object_a_line(afterword: Command, place: Path) -> None:
    found = rows(afterword("runs", "--json", "--journal", place))
    assert [row["state"] for row in found] == ["interrupted", "finished"]
    assert found[1]["statuses"] == {"accepted": 1, "faulted": 1, "unverified": 1}


def test_a_run_of_several_tasks_is_shown_task_by_task(afterword: Command, place: Path) -> None:
    ran = afterword("show", names(afterword, place)[1], "--journal", place)
    assert ran.code == 0
    assert "accepted   \N{REPLACEMENT CHARACTER}[2Jtask" in ran.out
    assert "faulted    broken  0 trials" in ran.out
    assert "burned: plain: its held-out checks were shown" in ran.out
    assert "\x1b" not in ran.out
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in ran.out


def test_a_task_is_shown_trial_by_trial_with_what_changed(afterword: Command, place: Path) -> None:
    word = names(afterword, place)[0].rpartition("-")[2]
    ran = afterword("show", word, "--journal", place)
    assert ran.code == 0
    for line in (
        "✗ 0/1 checks  failed  (exact)",
        "    wrong",
        "    -wrong",
        "    +right",
        "trial 2, with the lesson of trial 1",
        "  weak lesson: too vague",
        "accepted  stopped: passed",
        "  1/1 held-out checks (exact)",
    ):
        assert line in ran.out.splitlines(), ran.out
    assert "\x1b" not in ran.out


def test_a_fault_is_shown(afterword: Command, place: Path) -> None:
    ran = afterword("show", names(afterword, place)[1], "broken", "--journal", place)
    assert "Fault in trial 1: no \N{REPLACEMENT CHARACTER}[31mmodel" in ran.out


def test_show_as_json_gives_the_trials(afterword: Command, place: Path) -> None:
    found = rows(afterword("show", names(afterword, place)[1], "plain", "--json", "--journal", place))
    assert [row.get("task") for row in found] == [None, "plain"]
    trials = found[1]["trials"]
    assert [trial["output"] for trial in trials] == ["first line\nwrong\n", "first line\nright\n"]


def test_a_run_or_task_that_is_not_there_is_refused(afterword: Command, place: Path) -> None:
    assert "holds no run 'nothing'" in afterword("show", "nothing", "--journal", place).complaint
    name = names(afterword, place)[1]
    assert "has no task 'x'" in afterword("show", name, "x", "--journal", place).complaint
    ran = afterword("runs", "--journal", place.with_name("none.sqlite"))
    assert ran.code == 2
    assert "there is no journal here" in ran.complaint


def test_jsonl_holds_all_that_is_recorded(afterword: Command, place: Path) -> None:
    found = rows(afterword("export", names(afterword, place)[1], "--journal", place))
    kinds = [row["record"] for row in found]
    assert list(dict.fromkeys(kinds)) == ["run", "note", "effect", "trial", "outcome"]
    assert kinds.count("trial") == 4
    assert kinds.count("outcome") == 3
    (call, *_) = [row for row in found if row.get("kind") == "Reply"]
    assert call["result"]["text"] == "first line\nwrong\n"
    assert call["usage"]["calls"] == 1


def test_csv_has_a_row_for_each_trial_of_every_run(afterword: Command, place: Path, tmp_path: Path) -> None:
    ran = afterword("export", "--format", "csv", "--out", tmp_path / "t.csv", "--journal", place)
    assert (ran.code, ran.out) == (0, "")
    found = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text(encoding="utf-8"))))
    assert [(row["task"], row["trial"], row["status"], row["passed"]) for row in found[2:4]] == [
        ("plain", "1", "unverified", "False"),
        ("plain", "2", "unverified", "True"),
    ]
    assert len(found) == 6
    came_to = {(row["task"], row["trial"]): (row["stop_reason"], row["submitted"], row["accepted"]) for row in found}
    assert (came_to["plain", "1"], came_to["plain", "2"]) == (("passed", "False", ""), ("passed", "True", ""))
    accepted = [row for row in found if row["status"] == "accepted"]
    assert {row["accepted"] for row in accepted} == {"True"}
    assert [row["trial"] for row in accepted if row["submitted"] == "True"] == ["2", "2"]


def test_training_data_holds_accepted_outputs_only_and_says_where_they_come_from(
    afterword: Command, place: Path
) -> None:
    found = rows(afterword("export", names(afterword, place)[1], "--format", "sft", "--journal", place))
    (sample,) = found
    assert sample["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "trial 2"},
        {"role": "assistant", "content": "first line\nright\n"},
    ]
    assert sample["output"] == "first line\nright\n"
    provenance = sample["provenance"]
    assert (provenance["task"], provenance["trial"], provenance["lessons_shown"]) == (HOSTILE, 2, [1])
    assert (provenance["held_out_passed"], provenance["held_out_total"], provenance["trust"]) == (1, 1, "exact")


def test_no_training_data_is_told(afterword: Command, tmp_path: Path) -> None:
    place = tmp_path / "failed.sqlite"
    replies = write_replies(tmp_path / "replies.jsonl", SAME)
    afterword("run", write_task(tmp_path / "double"), "--model", replies, "--max-trials", 1, "--journal", place)
    ran = afterword("export", "--format", "sft", "--journal", place)
    assert (ran.code, ran.out, ran.err) == (0, "", "no task was accepted: nothing is written\n")


def test_parquet_reads_back_as_the_same_table(afterword: Command, place: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra `parquet`")
    assert "say with --out" in afterword("export", "--format", "parquet", "--journal", place).complaint
    file = tmp_path / "t.parquet"
    assert afterword("export", "--format", "parquet", "--out", file, "--journal", place).code == 0
    table = parquet.read_table(file).to_pylist()
    assert [(row["task"], row["trial"], row["score"]) for row in table][2:4] == [("plain", 1, 0.0), ("plain", 2, 1.0)]


def test_a_sound_journal_is_found_sound(afterword: Command, place: Path) -> None:
    ran = afterword("journal", "check", "--journal", place)
    assert ran.code == 0
    assert "no problem" in ran.out


def test_a_journal_that_was_changed_by_hand_is_found_out(afterword: Command, place: Path) -> None:
    connection = sqlite3.connect(place)
    with connection:
        connection.execute("UPDATE effects SET request = replace(request, 'trial 1', 'trial 9') WHERE unit = 0")
        connection.execute("UPDATE effects SET result = 'no JSON' WHERE unit = 1 AND seq = 0")
        connection.execute("DELETE FROM tasks WHERE unit = 2")
    connection.close()
    ran = afterword("journal", "check", "--journal", place)
    assert ran.code == 1
    assert "its request does not have the fingerprint beside it, so it was changed" in ran.out
    assert "effect 1.1.0 (actor/actor, trial 1): its result is no JSON" in ran.out
    assert "outcomes: 1 rows belong to no task" in ran.out


def test_compacting_leaves_the_journal_as_it_is(afterword: Command, place: Path) -> None:
    before = rows(afterword("export", "--journal", place))
    (sizes,) = rows(afterword("journal", "compact", "--json", "--journal", place))
    assert int(sizes["bytes_after"]) <= int(sizes["bytes_before"])
    assert rows(afterword("export", "--journal", place)) == before


def test_a_copied_run_is_exported_alike(afterword: Command, place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    run = names(afterword, place)[-1]
    before = rows(afterword("export", run, "--journal", place))
    ran = afterword("journal", "copy", run, "--journal", place, "--to", other)
    assert (ran.code, ran.out) == (0, f"run {run} is copied\n")
    assert rows(afterword("export", run, "--journal", other)) == before
    again = afterword("journal", "copy", run, "--journal", place, "--to", other)
    assert (again.code, again.complaint.endswith(f"holds the run {run} already; give another one")) == (2, True)


def test_the_reply_that_holds_a_program_is_not_shown_beside_it(afterword: Command, tmp_path: Path) -> None:
    replies = write_replies(tmp_path / "replies.jsonl", SAME, RIGHT)
    place = tmp_path / "programs.sqlite"
    afterword("run", write_task(tmp_path / "double"), "--model", replies, "--journal", place)
    ran = afterword("show", names(afterword, place)[0], "--journal", place)
    assert "    def double(n):" in ran.out.splitlines()
    assert "    +    return n + n" in ran.out.splitlines()
    assert "```" not in ran.out
