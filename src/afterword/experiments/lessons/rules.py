"""The file of general rules, and `RuleBook`, which puts the accepted ones into prompts.

A rule that nobody accepted is never shown, and no rule is shown to a task that it was drawn from.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from afterword.core.effects import fingerprint
from afterword.core.records import Task
from afterword.errors import InputError
from afterword.files import read_bounded
from afterword.memories.overlap import overlap

FORMAT = 1
MAX_RULE_CHARS = 400
MAX_PROMPT_CHARS = 6_000
"""Of all rules together; a long list dilutes attention."""
_MAX_FILE_MB = 16
_HEAD = """# Rules from earlier tasks

They were learnt on other tasks and approved by a person. Apply those that fit this task."""

State = Literal["draft", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A lesson that a rule rests on, and what followed it."""

    task: str
    trial: int
    lesson: str
    gained: int | None = None
    """Checks that the next trial passed more (or fewer: below 0); None if there was no next one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A general rule, as it stands in the file."""

    id: str
    text: str
    evidence: tuple[Evidence, ...]
    state: State = "draft"
    drafted_by: str = "medoid"
    """`medoid`: the lesson that is most like the others of its kind; else the model that wrote it."""
    edited: bool = False
    """Whether a person changed its text."""

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that it was drawn from."""
        return frozenset(one.task for one in self.evidence)


@dataclass(frozen=True, slots=True)
class RuleFile:
    """All rules of a file. `version` counts the decisions that a person took on it."""

    rules: tuple[Rule, ...]
    version: int = 0
    source: str = ""
    """What it was distilled from."""

    @property
    def accepted(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.state == "accepted")

    def with_rule(self, rule: Rule) -> RuleFile:
        """The next version, with this rule in the place of the one that has its id."""
        rules = tuple(rule if one.id == rule.id else one for one in self.rules)
        return replace(self, rules=rules, version=self.version + 1)


@dataclass(frozen=True)
class RuleBook:
    """The accepted rules, for the loop: `Reflexion(…, rules=RuleBook(…))`.

    Raises:
        InputError: all of them together are too long for a prompt, and `limit` does not choose among them.
    """

    rules: tuple[Rule, ...]
    version: int = 0
    limit: int | None = None
    """At most so many a task, those whose words are most like its instructions; None: all."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise InputError(f"--rules-limit takes a number from 1, found {self.limit}")
        longest = sorted((len(rule.text) for rule in self.rules), reverse=True)[: self.limit]
        if sum(longest) > MAX_PROMPT_CHARS:
            raise InputError(
                f"the accepted rules have {sum(longest):,} characters, and a prompt takes {MAX_PROMPT_CHARS:,}; "
                "choose the most similar ones with --rules-limit, or reject some"
            )

    @property
    def fingerprint(self) -> str:
        """Changes with whatever decides what a task is shown."""
        return fingerprint("rules", self.limit, [(rule.text, sorted(rule.tasks)) for rule in self.rules])

    def rules_for(self, task: Task) -> tuple[Rule, ...]:
        """The rules that a task is shown, in the order of the file; none that was drawn from the task itself."""
        foreign = [rule for rule in self.rules if task.id not in rule.tasks]
        if self.limit is not None and len(foreign) > self.limit:
            near = sorted(foreign, key=lambda rule: -overlap(rule.text, task.instructions))[: self.limit]
            foreign = [rule for rule in foreign if rule in near]
        return tuple(foreign)

    def text_for(self, task: Task) -> str:
        """What stands in the actor's system prompt; empty where no rule is left for this task."""
        lines = [f"- {' '.join(rule.text.split())}" for rule in self.rules_for(task)]
        return "\n".join([_HEAD, "", *lines]) if lines else ""


def open_rule_book(file: Path, limit: int | None = None) -> RuleBook:
    """The accepted rules of a file.

    Raises:
        InputError: the file cannot be used, or nobody has accepted a rule of it.
    """
    read = read_rule_file(file)
    if not read.accepted:
        drafts = sum(rule.state == "draft" for rule in read.rules)
        raise InputError(
            f"no rule of it is accepted ({drafts} drafts); decide on them with: afterword lessons review {file}",
            file=file,
        )
    try:
        return RuleBook(read.accepted, read.version, limit)
    except InputError as error:
        raise InputError(error.message, file=file) from None


def read_rule_file(file: Path) -> RuleFile:
    """The rules of a file.

    Raises:
        InputError: it is none, or of another format.
    """
    try:
        values: object = json.loads(read_bounded(file, _MAX_FILE_MB).decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; check the path", file=file) from None
    except (ValueError, RecursionError) as error:
        said = str(error).splitlines()[0]
        raise InputError(f"expected a file of rules (see: afterword lessons distil), found {said}", file=file) from None
    if not isinstance(values, dict) or not isinstance(values.get("rules"), list):
        raise InputError("expected a file of rules (see: afterword lessons distil)", file=file)
    if values.get("format") != FORMAT:
        raise InputError(
            f"expected format {FORMAT} of a file of rules, found {values.get('format')!r}; distil it again", file=file
        )
    rules = tuple(_rule(row, number, file) for number, row in enumerate(values["rules"], start=1))
    if len({rule.id for rule in rules}) < len(rules):
        raise InputError("two rules have the same id; give each its own", file=file)
    version = values.get("version")
    return RuleFile(rules, version if type(version) is int else 0, str(values.get("source", "")))


def write_rule_file(file: Path, rules: RuleFile) -> None:
    """Writes all of it in one step, so that a reader or a kill never meets half of it.

    Raises:
        InputError: it cannot be written there.
    """
    told = {
        "format": FORMAT,
        "version": rules.version,
        "source": rules.source,
        "rules": [_told(r) for r in rules.rules],
    }
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"the rules cannot be written here: {error.strerror}; give another file", file=file) from None


def _told(rule: Rule) -> dict[str, object]:
    return asdict(rule)


def _rule(row: object, number: int, file: Path) -> Rule:
    def wrong(what: str) -> InputError:
        return InputError(f"rule {number}: {what}", file=file)

    if not isinstance(row, dict):
        raise wrong(f"expected an object, found {type(row).__name__}")
    text, state, evidence = row.get("text"), row.get("state"), row.get("evidence")
    if not isinstance(text, str) or not text.strip():
        raise wrong("expected its text")
    if len(text) > MAX_RULE_CHARS:
        raise wrong(f"a rule has at most {MAX_RULE_CHARS} characters, found {len(text)}; shorten it")
    known = next((one for one in get_args(State) if one == state), None)
    if known is None:
        raise wrong(f"expected the state {', '.join(get_args(State))}, found {state!r}")
    if not isinstance(evidence, list):
        raise wrong("expected its evidence, a list: without it the rule's own tasks are not known")
    found = tuple(_evidence(one, wrong("expected evidence as {task, trial, lesson}")) for one in evidence)
    return Rule(
        str(row.get("id", number)),
        text,
        found,
        known,
        str(row.get("drafted_by", "medoid")),
        row.get("edited") is True,
    )


def _evidence(row: object, error: InputError) -> Evidence:
    if not isinstance(row, dict):
        raise error
    task, trial, lesson, gained = (row.get(name) for name in ("task", "trial", "lesson", "gained"))
    if not isinstance(task, str) or type(trial) is not int or not isinstance(lesson, str):
        raise error
    return Evidence(task, trial, lesson, gained if type(gained) is int else None)
