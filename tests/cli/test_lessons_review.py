"""A person decides on drafts of rules: what each answer does, and that nothing decided is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from afterword.cli.lessons_review import QUESTION, review
from afterword.experiments.lessons import Evidence, Rule, RuleFile, read_rule_file, write_rule_file

FIRST = Rule(
    "r1", "When a list may be empty, return early.", (Evidence("a", 1, "I indexed it.", 2), Evidence("b", 1, "x"))
)
SECOND = Rule("r2", "Compare dates in UTC.", (Evidence("c", 2, "naive dates", -1),), drafted_by="openai:m")


def answering(*lines: str) -> tuple[Callable[[str, str], str], list[tuple[str, str]]]:
    asked: list[tuple[str, str]] = []
    waiting = iter(lines)

    def read(prompt: str, initial: str) -> str:
        asked.append((prompt, initial))
        return next(waiting, "")

    return read, asked


def reviewed(file: Path, answers: Iterable[str], rules: RuleFile | None = None) -> tuple[RuleFile, str]:
    rules = rules or RuleFile((FIRST, SECOND))
    write_rule_file(file, rules)
    shown = StringIO()
    waiting = [rule for rule in rules.rules if rule.state == "draft"]
    left = review(file, rules, waiting, Console(file=shown, width=100), answering(*answers)[0])
    assert read_rule_file(file) == left
    return left, shown.getvalue()


@pytest.mark.parametrize(
    ("answers", "states", "version"),
    [
        (["a", "r"], ["accepted", "rejected"], 2),
        (["", ""], ["draft", "draft"], 0),
        (["a", "q"], ["accepted", "draft"], 1),
        (["q"], ["draft", "draft"], 0),
        ([], ["draft", "draft"], 0),
        (["what?", "A", "r"], ["accepted", "rejected"], 2),
    ],
)
def test_each_decision_is_kept_at_once(tmp_path: Path, answers: list[str], states: list[str], version: int) -> None:
    left, _ = reviewed(tmp_path / "rules.json", answers)
    assert [rule.state for rule in left.rules] == states
    assert left.version == version


def test_an_edited_rule_is_accepted_and_says_that_it_was_edited(tmp_path: Path) -> None:
    left, _ = reviewed(tmp_path / "rules.json", ["e", "  When a list is empty,\treturn. ", "q"])
    assert left.rules[0] == replace(FIRST, text="When a list is empty, return.", state="accepted", edited=True)


def test_the_text_stands_in_the_line_to_be_edited(tmp_path: Path) -> None:
    read, asked = answering("e", FIRST.text, "q")
    file = tmp_path / "rules.json"
    rules = RuleFile((FIRST, SECOND))
    left = review(file, rules, rules.rules, Console(file=StringIO()), read)
    assert asked[:2] == [(QUESTION, ""), ("rule: ", FIRST.text)]
    assert left.rules[0].edited is False


def test_an_edit_that_is_too_long_is_asked_for_again_and_an_empty_one_puts_the_rule_off(tmp_path: Path) -> None:
    left, shown = reviewed(tmp_path / "rules.json", ["e", "x" * 401, "", "q"])
    assert left.rules[0].state == "draft"
    assert "at most 400 characters, found 401" in shown


def test_the_evidence_is_shown_with_what_followed(tmp_path: Path) -> None:
    _, shown = reviewed(tmp_path / "rules.json", ["", ""])
    assert "from 2 lessons of 2 tasks: the next trial gained checks after 1, lost some after 0, of 1" in shown
    assert "a, trial 1 +2: I indexed it." in shown
    assert "worded by openai:m" in shown
    assert "c, trial 2 -1: naive dates" in shown


def test_hostile_lessons_do_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = Rule("r1\x1b[2J", "\x1b]0;x\x07 rule", (Evidence("a\x1b", 1, "\u202elesson\x1b[31m"),), drafted_by="\x9b")
    _, shown = reviewed(tmp_path / "rules.json", [""], RuleFile((hostile,)))
    assert not set("\x1b\x07\x9b\u202e") & set(shown)
