"""`afterword lessons review`: a person decides on each drafted rule; every decision is on the disk at once.

Apart from the command, since it is a talk: what is shown, what may be answered, and what an answer means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from afterword.cli.display import print_wrapped
from afterword.cli.text import counted, plain, shortened
from afterword.experiments.lessons import Evidence, Rule, RuleFile, write_rule_file
from afterword.experiments.lessons.rules import MAX_RULE_CHARS

QUESTION = "[a] accept, [e] edit and accept, [r] reject, [Enter] later, [q] stop: "
_MOST_EVIDENCE = 5

Read = Callable[[str, str], str]
"""Asks with a prompt and a text to start from; returns the line, empty at the end of the input."""


def review(file: Path, rules: RuleFile, waiting: Sequence[Rule], console: Console, read: Read) -> RuleFile:
    """Asks about each of these rules until the person stops; returns the file as it is then."""
    for number, rule in enumerate(waiting, start=1):
        _show(console, rule, f"{number} of {counted(len(waiting), 'rule')}")
        answer = _answer(console, read)
        if answer == "q":
            break
        decided = _decided(rule, answer, console, read)
        if decided is not None:
            rules = rules.with_rule(decided)
            write_rule_file(file, rules)
    return rules


def _decided(rule: Rule, answer: str, console: Console, read: Read) -> Rule | None:
    """The rule as the person left it; None where it was put off."""
    if answer == "a":
        return replace(rule, state="accepted")
    if answer == "r":
        return replace(rule, state="rejected")
    if answer != "e":
        return None
    text = rule.text
    while True:
        text = " ".join(read("rule: ", text).split())
        if not text:
            return None
        if len(text) <= MAX_RULE_CHARS:
            return replace(rule, text=text, state="accepted", edited=rule.edited or text != rule.text)
        console.print(f"a rule has at most {MAX_RULE_CHARS} characters, found {len(text)}; shorten it", highlight=False)


def _answer(console: Console, read: Read) -> str:
    while True:
        answer = read(QUESTION, "").strip().lower()
        if answer in ("", "a", "e", "r", "q"):
            return answer
        console.print(Text(f"expected a, e, r, q or Enter, found {shortened(answer, 40)!r}"), highlight=False)


def _show(console: Console, rule: Rule, place: str) -> None:
    by = "a lesson as it was" if rule.drafted_by == "medoid" else f"worded by {rule.drafted_by}"
    state = "" if rule.state == "draft" else f", {rule.state}"
    console.print()
    print_wrapped(console, Text(plain(f"{place}: {rule.id}{state}, {by}"), style="bold"))
    print_wrapped(console, Text(plain(rule.text), style="cyan"), "  ")
    told = (
        f"from {counted(len(rule.evidence), 'lesson')} of {counted(len(rule.tasks), 'task')}: {_effect(rule.evidence)}"
    )
    print_wrapped(console, Text(told, style="dim"), "  ", hang=2)
    for one in rule.evidence[:_MOST_EVIDENCE]:
        gained = "" if one.gained is None else f" {one.gained:+d}"
        line = f"{shortened(one.task, 30)}, trial {one.trial}{gained}: {shortened(one.lesson, 300)}"
        print_wrapped(console, Text(line, style="dim"), "    ", hang=2)


def _effect(evidence: Sequence[Evidence]) -> str:
    """What followed the lessons, in one phrase."""
    known = [one.gained for one in evidence if one.gained is not None]
    if not known:
        return "no trial followed them"
    gained, lost = sum(value > 0 for value in known), sum(value < 0 for value in known)
    return f"the next trial gained checks after {gained}, lost some after {lost}, of {len(known)}"
