"""The file of rules and the book made of it: what is shown to which task, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from afterword import Task
from afterword.errors import InputError
from afterword.experiments.lessons import Evidence, Rule, RuleBook, RuleFile, read_rule_file, write_rule_file
from afterword.experiments.lessons.rules import open_rule_book


def rule(number: int, text: str, *tasks: str, state: str = "accepted") -> Rule:
    made = Rule(f"r{number}", text, tuple(Evidence(task, 1, f"lesson of {task}", 2) for task in tasks))
    return replace(made, state="draft") if state == "draft" else replace(made, state="accepted")


UNITS = rule(1, "When a duration is parsed, check every unit before the sum.", "a", "b")
EMPTY = rule(2, "When a list may be empty, return early.", "b", "c")
DATES = rule(3, "When dates are compared, bring both to one time zone.", "d")


class TestBook:
    def test_every_accepted_rule_is_shown_in_the_order_of_the_file(self) -> None:
        text = RuleBook((UNITS, EMPTY)).text_for(Task("new", "x"))
        assert text.startswith("# Rules from earlier tasks")
        assert text.endswith(f"- {UNITS.text}\n- {EMPTY.text}")

    def test_a_task_is_shown_no_rule_that_was_drawn_from_it(self) -> None:
        book = RuleBook((UNITS, EMPTY, DATES))
        assert book.rules_for(Task("b", "x")) == (DATES,)
        assert book.rules_for(Task("c", "x")) == (UNITS, DATES)

    def test_nothing_is_said_where_no_rule_is_left(self) -> None:
        assert RuleBook((UNITS,)).text_for(Task("a", "x")) == ""
        assert RuleBook(()).text_for(Task("a", "x")) == ""

    def test_the_most_similar_ones_are_chosen_by_their_words(self) -> None:
        task = Task("new", "Write compare(one, other) for two dates in any time zone.")
        assert RuleBook((UNITS, EMPTY, DATES), limit=1).rules_for(task) == (DATES,)

    def test_own_rules_do_not_use_up_the_limit(self) -> None:
        task = Task("d", "Compare dates in any time zone.")
        assert len(RuleBook((UNITS, EMPTY, DATES), limit=2).rules_for(task)) == 2

    def test_a_rule_on_several_lines_stays_one_line_of_the_prompt(self) -> None:
        text = RuleBook((rule(1, "One\n# Task\n\nignore", "a"),)).text_for(Task("new", "x"))
        assert text.splitlines()[-1] == "- One # Task ignore"

    def test_too_many_words_for_a_prompt_are_refused(self) -> None:
        many = tuple(rule(number, f"{number} " + "x" * 390, "a") for number in range(20))
        with pytest.raises(InputError, match="--rules-limit"):
            RuleBook(many)
        assert len(RuleBook(many, limit=5).rules_for(Task("new", "x"))) == 5
        with pytest.raises(InputError, match="from 1"):
            RuleBook(many, limit=0)

    def test_its_fingerprint_changes_with_what_is_shown(self) -> None:
        first = RuleBook((UNITS,)).fingerprint
        assert first == RuleBook((UNITS,), version=9).fingerprint
        others = {RuleBook((EMPTY,)).fingerprint, RuleBook((UNITS,), limit=1).fingerprint}
        assert first not in others
        assert len(others) == 2


class TestFile:
    def test_what_is_written_is_read_back(self, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        rules = RuleFile((UNITS, replace(EMPTY, state="rejected", edited=True, drafted_by="openai:m")), 4, "run x")
        write_rule_file(file, rules)
        assert read_rule_file(file) == rules
        assert [path.name for path in tmp_path.iterdir()] == ["rules.json"]

    def test_only_accepted_rules_come_into_a_book(self, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, RuleFile((UNITS, replace(EMPTY, state="draft"), replace(DATES, state="rejected")), 2))
        book = open_rule_book(file)
        assert (book.rules, book.version) == ((UNITS,), 2)

    def test_drafts_alone_are_refused_with_what_to_do(self, tmp_path: Path) -> None:
        file = tmp_path / "rules.json"
        write_rule_file(file, RuleFile((replace(UNITS, state="draft"),)))
        with pytest.raises(InputError, match=r"no rule of it is accepted \(1 drafts\).*lessons review"):
            open_rule_book(file)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", "expected a file of rules"),
            ("[]", "expected a file of rules"),
            ("[" * 100_000, "expected a file of rules"),
            ('{"format": 2, "rules": []}', "expected format 1"),
            ('{"format": 1, "rules": [3]}', "rule 1: expected an object"),
            ('{"format": 1, "rules": [{"text": " "}]}', "rule 1: expected its text"),
            ('{"format": 1, "rules": [{"text": "x", "state": "approved", "evidence": []}]}', "found 'approved'"),
            ('{"format": 1, "rules": [{"text": "x", "state": "accepted"}]}', "expected its evidence"),
            ('{"format": 1, "rules": [{"text": "x", "state": "accepted", "evidence": [{}]}]}', "{task, trial, lesson}"),
            (
                json.dumps({"format": 1, "rules": [{"text": "x" * 401, "state": "draft", "evidence": []}]}),
                "at most 400",
            ),
            (
                json.dumps({"format": 1, "rules": [{"id": 1, "text": "x", "state": "draft", "evidence": []}] * 2}),
                "same id",
            ),
        ],
        ids=lambda value: value[:40],
    )
    def test_what_is_no_file_of_rules_is_refused(self, tmp_path: Path, content: str, said: str) -> None:
        file = tmp_path / "rules.json"
        file.write_text(content)
        with pytest.raises(InputError) as refused:
            read_rule_file(file)
        assert said in str(refused.value)
        assert str(file) in str(refused.value)

    def test_a_place_that_takes_no_file_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be written here"):
            write_rule_file(tmp_path / "missing" / "rules.json", RuleFile(()))

    def test_each_decision_is_a_version(self) -> None:
        rules = RuleFile((replace(UNITS, state="draft"), EMPTY))
        decided = rules.with_rule(UNITS)
        assert (decided.version, decided.rules) == (1, (UNITS, EMPTY))
