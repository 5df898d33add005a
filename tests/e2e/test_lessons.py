"""From runs to rules and back: distil, review, run --rules, transfer."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from afterword.experiments.lessons import Evidence, Rule, RuleFile, read_rule_file, write_rule_file
from tests.e2e.conftest import Command
from tests.e2e.processes import terminal

EXAMPLES = Path(__file__).parents[2] / "examples"
EMPTY = "`test_empty` failed since I indexed an empty list; I will return early for an empty list."
NONE = "I indexed the empty list in `test_none`; I will return 0 early for an empty list."
ACCEPTED = RuleFile(
    (Rule("r1", "When a list may be empty, return early.", (Evidence("t1", 1, EMPTY, 1),), "accepted"),), 1
)


def outcome(task: str, *passed: int, lesson: str | None = None, checks: int = 4) -> dict[str, object]:
    trials = [
        {
            "number": number,
            "passed": count == checks,
            "score": count / checks,
            "checks_passed": count,
            "checks_total": checks,
            "failed": [f"test_{n}" for n in range(checks - count)],
            "reflection": lesson if count < checks else None,
        }
        for number, count in enumerate(passed, start=1)
    ]
    return {"task": task, "status": "unverified", "trials": trials}


def write(file: Path, *rows: Mapping[str, object]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture
def past(tmp_path: Path) -> Path:
    return write(
        tmp_path / "past.jsonl",
        outcome("t1", 2, 4, lesson=EMPTY),
        outcome("t2", 1, 1, lesson=NONE),
        outcome("t3", 4),
    )


class TestDistil:
    def test_lessons_of_several_tasks_become_a_draft(self, afterword: Command, past: Path, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        ran = afterword("lessons", "distil", past, "--out", file)
        assert ran.code == 0, ran.err
        assert "r1  3 lessons of 2 tasks" in ran.out or "r1  2 lessons of 2 tasks" in ran.out
        (rule,) = read_rule_file(file).rules
        assert (rule.state, set(rule.tasks)) == ("draft", {"t1", "t2"})
        assert {(one.task, one.gained) for one in rule.evidence} >= {("t1", 2), ("t2", 0)}

    def test_a_model_can_word_it(self, afterword: Command, past: Path, tmp_path: Path) -> None:
        model = f"scripted:{write(tmp_path / 'm.jsonl', {'text': 'When a list may be empty, return early.'})}"
        file = tmp_path / "rules.json"
        ran = afterword("lessons", "distil", past, "--out", file, "--model", model, "--json")
        assert ran.code == 0, ran.err
        (rule,) = read_rule_file(file).rules
        assert (rule.text, rule.drafted_by) == ("When a list may be empty, return early.", model)

    def test_a_file_with_decisions_is_never_written_over(self, afterword: Command, past: Path, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, ACCEPTED)
        ran = afterword("lessons", "distil", past, "--out", file)
        assert ran.code == 2
        assert "there already" in ran.complaint
        assert read_rule_file(file) == ACCEPTED

    def test_lessons_of_one_task_alone_are_refused_with_what_to_do(
        self, afterword: Command, past: Path, tmp_path: Path
    ) -> None:
        ran = afterword("lessons", "distil", past, "--out", tmp_path / "r.json", "--min-tasks", "3")
        assert ran.code == 2
        assert "a smaller --min-tasks" in ran.complaint
        assert not (tmp_path / "r.json").exists()

    @pytest.mark.parametrize("argument", [("nowhere.jsonl",), ("--min-tasks", "0")])
    def test_bad_usage_is_one_line(self, afterword: Command, past: Path, argument: tuple[str, ...]) -> None:
        ran = afterword("lessons", "distil", past, *argument)
        assert ran.code == 2
        assert ran.complaint

    def test_the_lessons_of_a_run_in_the_journal(self, afterword: Command, tmp_path: Path) -> None:
        lessons = (EMPTY.replace("test_empty", "test_f"), NONE.replace("test_none", "test_f"))
        tasks = tmp_path / "tasks.jsonl"
        tests = "from solution import f\n\n\ndef test_f():\n    assert f([]) == 0\n"
        rows = [{"id": f"t{n}", "instructions": "Sum.", "entry_point": "f", "visible_tests": tests} for n in (1, 2)]
        write(tasks, *rows)
        wrong, right = (f"```python\ndef f(xs):\n    return {body}\n```" for body in ("xs[0]", "sum(xs)"))
        script = [
            row
            for number, lesson in enumerate(lessons, start=1)
            for row in (
                {"text": wrong, "role": "actor", "task": f"t{number}"},
                {"text": lesson, "role": "reflector", "task": f"t{number}"},
                {"text": right, "role": "actor", "task": f"t{number}"},
            )
        ]
        model = f"scripted:{write(tmp_path / 'script.jsonl', *script)}"
        journal = ("--journal", tmp_path / "journal.db")
        ran = afterword("run", tasks, "--model", model, *journal)
        assert ran.code == 0, ran.err
        run = json.loads(afterword("runs", *journal, "--json").out.splitlines()[0])["run"]
        ran = afterword("lessons", "distil", run, *journal, "--out", tmp_path / "rules.json")
        assert ran.code == 0, ran.err
        (rule,) = read_rule_file(tmp_path / "rules.json").rules
        assert {(one.task, one.trial, one.gained) for one in rule.evidence} == {("t1", 1, 1), ("t2", 1, 1)}


class TestReview:
    def test_a_person_decides_at_a_terminal_and_goes_on_later(self, past: Path, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        drafts = (Rule("r1", "One.", (Evidence("a", 1, "x"),)), Rule("r2", "Two.", (Evidence("b", 1, "y"),)))
        write_rule_file(file, RuleFile(drafts))
        with terminal(["lessons", "review", file]) as person:
            person.wait_for("[q] stop: ")
            person.type("a\n")
            person.wait_for("2 of 2 rules")
            person.type("q\n")
            assert person.finish() == 0
        assert "version 1: 1 accepted, 0 rejected, 1 left" in " ".join(person.shown.split())
        with terminal(["lessons", "review", file]) as person:
            person.wait_for("1 of 1 rule")
            person.type("r\n")
            assert person.finish() == 0
        assert [rule.state for rule in read_rule_file(file).rules] == ["accepted", "rejected"]

    def test_without_drafts_it_only_tells(self, afterword: Command, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, ACCEPTED)
        ran = afterword("lessons", "review", file)
        assert ran.out == f"version 1: 1 accepted, 0 rejected, 0 left; use it with: afterword run --rules {file}\n"


class TestRun:
    @pytest.fixture
    def task(self, tmp_path: Path) -> Path:
        folder = tmp_path / "task"
        folder.mkdir()
        (folder / "task.toml").write_text('id = "t9"\ninstructions = "Add one."\nentry_point = "f"\n')
        (folder / "visible_tests.py").write_text("from solution import f\n\n\ndef test_f():\n    assert f(1) == 2\n")
        return folder

    def _recorded(self, afterword: Command, task: Path, tmp_path: Path, *more: str | Path) -> str:
        reply = {"text": "```python\ndef f(x):\n    return x + 1\n```"}
        script, record = write(tmp_path / "script.jsonl", reply), tmp_path / "record.jsonl"
        record.unlink(missing_ok=True)
        ran = afterword("run", task, "--model", f"scripted:{script}", "--record", record, *more)
        assert ran.code == 0, ran.err
        return record.read_text()

    def test_accepted_rules_stand_in_the_actors_system_prompt(
        self, afterword: Command, task: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, ACCEPTED)
        assert "When a list may be empty" in self._recorded(afterword, task, tmp_path, "--rules", file)
        assert "When a list may be empty" not in self._recorded(afterword, task, tmp_path)

    @pytest.mark.parametrize("family", ["qa", "decision"])
    def test_rules_enter_every_family(
        self, afterword: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
    ) -> None:
        file, record = tmp_path / "rules.json", tmp_path / "record.jsonl"
        write_rule_file(file, ACCEPTED)
        if family == "qa":
            questions = write(tmp_path / "q.jsonl", {"id": 1, "question": "Where?", "answer": "Paris"})
            replies = write(tmp_path / "replies.jsonl", {"text": "Action: Finish[Paris]"})
            source: list[str | Path] = [questions, "--model", f"scripted:{replies}"]
        else:
            monkeypatch.chdir(EXAMPLES / "vault")
            source = ["vault:Vault", "--tasks", "tasks.jsonl", "--limit", "1", "--model", "scripted:replies.jsonl"]
        ran = afterword("run", "--family", family, *source, "--no-journal", "--rules", file, "--record", record)
        sys.modules.pop("vault", None)
        assert ran.code == 0, ran.err
        asked = [json.loads(line) for line in record.read_text().splitlines()]
        systems = [
            row["request"]["messages"][0]["content"] for row in asked if row.get("role") == "actor" and "request" in row
        ]
        assert systems
        assert all("When a list may be empty, return early." in system for system in systems)

    def test_a_task_that_gave_the_lesson_does_not_see_the_rule(
        self, afterword: Command, task: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, ACCEPTED)
        (task / "task.toml").write_text('id = "t1"\ninstructions = "Add one."\nentry_point = "f"\n')
        assert "Rules from earlier tasks" not in self._recorded(afterword, task, tmp_path, "--rules", file)

    def test_a_run_is_not_resumed_with_other_rules(self, afterword: Command, task: Path, tmp_path: Path) -> None:
        file, journal, script = tmp_path / "rules.json", tmp_path / "j.sqlite", tmp_path / "script.jsonl"
        write_rule_file(file, ACCEPTED)
        model = f"scripted:{write(script, {'text': 'no program'})}"
        again = ("--max-trials", "3", "--reflector-model", f"scripted:{write(tmp_path / 'r.jsonl', {'text': 'x'})}")
        ran = afterword("run", task, "--model", model, "--rules", file, "--journal", journal, *again)
        assert ran.code == 2, ran.err  # the script has ended, and the run can be resumed
        write_rule_file(file, RuleFile((replace(ACCEPTED.rules[0], text="Something else."),), 2))
        ran = afterword("resume", "--journal", journal)
        assert ran.code == 2
        assert "rules" in ran.complaint

    def test_drafts_are_refused(self, afterword: Command, task: Path, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, RuleFile((Rule("r1", "One.", (Evidence("a", 1, "x"),)),)))
        ran = afterword("run", task, "--rules", file)
        assert ran.code == 2
        assert "no rule of it is accepted" in ran.complaint

    def test_a_limit_without_rules_is_refused(self, afterword: Command, task: Path) -> None:
        ran = afterword("run", task, "--rules-limit", "3")
        assert ran.code == 2
        assert "give --rules FILE too" in ran.complaint


class TestTransfer:
    def test_first_trials_are_compared_on_foreign_tasks(self, afterword: Command, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, ACCEPTED)
        without = write(
            tmp_path / "a.jsonl", outcome("t1", 0, 4), outcome("t2", 0, 4), outcome("t3", 4), outcome("x", 4)
        )
        ruled = write(tmp_path / "b.jsonl", outcome("t1", 4), outcome("t2", 4), outcome("t3", 4))
        ran = afterword("lessons", "transfer", without, ruled, "--rules", file)
        assert ran.code == 0, ran.err
        assert "first trials on 2 tasks that gave no lesson" in ran.out
        assert "without rules  1 of 2 (50.0%" in ran.out
        assert "with rules     2 of 2 (100.0%" in ran.out
        assert "1 passed with them alone, 0 without them alone; p = 1" in ran.out
        assert "left out: 1 task that gave a lesson, 1 in one run only" in ran.out
        told = afterword("lessons", "transfer", without, ruled, "--rules", file, "--json").told
        assert (told["pairs"], told["gained"], told["lost"]) == (2, 1, 0)

    def test_nothing_in_common_is_said(self, afterword: Command, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, ACCEPTED)
        one = write(tmp_path / "a.jsonl", outcome("t1", 0))
        ran = afterword("lessons", "transfer", one, one, "--rules", file)
        assert ran.code == 0
        assert "nothing can be said (1 task of the rules' own" in ran.out
