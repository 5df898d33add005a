"""Tokens, and what a test program's output proves by them.

Solution and tests share a process at run time, so anything the tests could print the solution could print. Each check
therefore has a random token of its own, which the test program takes before the solution runs and prints only when
that check has passed. What has no token has not passed.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

_RECORD = r"\n?{mark} (begun|passed|failed|stopped|done) (\d{{1,9}}) ?([0-9a-f]*)\n?"
_MAX_RECORDS = 100_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """The secrets of one verdict."""

    mark: str
    """Begins each record, so that they can be told from the solution's own output; it proves nothing."""
    checks: tuple[str, ...]
    done: str

    @classmethod
    def drawn(cls, count: int) -> Tokens:
        """Fresh ones for so many checks."""
        return cls(secrets.token_hex(8), tuple(secrets.token_hex(16) for _ in range(count)), secrets.token_hex(16))

    @property
    def file(self) -> bytes:
        """What the test program reads: the mark, a token for each check, the last one for the end."""
        return "\n".join([self.mark, *self.checks, self.done, ""]).encode()


@dataclass(slots=True)
class Proof:
    """What was printed, read."""

    passed: set[int]
    failed: dict[int, str]
    begun: int | None
    """The last check that began."""
    stopped: str | None
    """What ended the tests outside of a check."""
    done: bool
    forged: bool
    """A record has a wrong token, or says both that a check passed and that it failed."""
    output: str
    """What the solution printed."""


def read(output: str, tokens: Tokens) -> Proof:
    """What the output of a test program proves."""
    proof = Proof(set(), {}, None, None, False, False, "")
    record = re.compile(_RECORD.format(mark=tokens.mark))
    for number, found in enumerate(record.finditer(output)):
        if number >= _MAX_RECORDS:
            proof.forged = True
            break
        _take(proof, tokens, found[1], int(found[2]), found[3])
    proof.forged |= not proof.passed.isdisjoint(proof.failed)
    proof.output = record.sub("", output).strip("\n")  # records bring their own line breaks
    return proof


def _take(proof: Proof, tokens: Tokens, word: str, index: int, value: str) -> None:
    known = index < len(tokens.checks)
    if word == "begun":
        proof.begun = index if known else proof.begun
    elif word == "passed" and known and secrets.compare_digest(value, tokens.checks[index]):
        proof.passed.add(index)
    elif word == "done" and secrets.compare_digest(value, tokens.done):
        proof.done = True
    elif word == "failed" and known:
        proof.failed.setdefault(index, _text(value))
    elif word == "stopped":
        proof.stopped = _text(value)
    else:
        proof.forged = True


def _text(value: str) -> str:
    try:
        return bytes.fromhex(value).decode("utf-8", "backslashreplace")
    except ValueError:
        return ""
