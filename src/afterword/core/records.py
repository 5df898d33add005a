"""What a run leaves behind: frozen, serialisable records in the vocabulary of the field.

The loop makes new records and never edits an old one. `Acceptance` is a type of its own so that the
held-out verdict cannot be handed to an actor or a reflector by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

End = Literal["finished", "stuck", "step_limit", "no_output"]
"""How a trajectory ended."""

Trust = Literal["isolated", "shared_process", "exit_code", "exact", "environment", "person", "heuristic", "model"]
"""How a verdict was reached, from a jail of its own down to a person's word, a rule of thumb and a model's opinion."""

Status = Literal["accepted", "rejected", "unverified", "gave_up", "faulted"]


class StopReason(StrEnum):
    """Why the loop ended."""

    PASSED = "passed"
    MAX_TRIALS = "max_trials"
    CALLS = "calls"
    COST = "cost"
    TOKENS = "tokens"
    TIME = "time"
    PLATEAU = "plateau"
    REPEATED_REFLECTION = "repeated_reflection"
    REPEATED_OUTPUT = "repeated_output"
    CANCELLED = "cancelled"


class Strategy(StrEnum):
    """What a trial hands to the next (paper, section 4.2)."""

    RETRY = "retry"
    """Nothing: the paper's "none"."""
    LAST_ATTEMPT = "last_attempt"
    """The last trajectory and its feedback: the paper's episodic memory."""
    REFLEXION = "reflexion"
    """The lessons."""
    LAST_ATTEMPT_AND_REFLEXION = "last_attempt_and_reflexion"
    """Both."""

    @property
    def reflects(self) -> bool:
        return self in (Strategy.REFLEXION, Strategy.LAST_ATTEMPT_AND_REFLEXION)

    @property
    def shows_last_attempt(self) -> bool:
        return self in (Strategy.LAST_ATTEMPT, Strategy.LAST_ATTEMPT_AND_REFLEXION)


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls consumed. Two usages add up; an unknown cost makes the sum unknown."""

    calls: int = 0
    tokens_in: int = 0
    """All prompt tokens, cached ones included."""
    tokens_out: int = 0
    """All generated tokens, reasoning included."""
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    cost_usd: float | None = 0.0
    """None when the price is unknown; 0.0 for local and scripted models."""
    seconds: float = 0.0
    """Time spent waiting for the calls."""

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.tokens_cached + other.tokens_cached,
            self.tokens_reasoning + other.tokens_reasoning,
            cost,
            self.seconds + other.seconds,
        )

    @property
    def tokens(self) -> int:
        """Prompt and reply tokens together."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done, as the actor may see it. How it is judged is the evaluator's."""

    id: str
    instructions: str
    inputs: Mapping[str, object] = field(default_factory=dict)
    """What the family needs besides, as plain JSON data, e.g. `entry_point` of a program."""


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a trajectory; a part that does not apply is empty."""

    thought: str = ""
    action: str = ""
    observation: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What the actor did in one trial, and its final output."""

    output: str
    steps: tuple[Step, ...] = ()
    end: End = "finished"
    detail: str = ""
    """Why there is no output, when `end` is `no_output`, or why it is `stuck`: goes into the feedback."""
    won: bool = False
    """Whether the world it acted in says that the goal is reached."""
    reward: float = 0.0
    """How far it says that the goal was reached in the end, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One judged item. `message` is empty when it passed."""

    id: str
    passed: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the evaluator lets the loop see of a verdict."""

    passed: bool
    score: float
    """In [0, 1]: passed / total of the checks, or graded by the evaluator."""
    trust: Trust
    reason: str = ""
    """One word: `ok`, `failed`, or what went wrong (see `verdicts` in the docs)."""
    message: str = ""
    """Short and specific, cut visibly; it enters prompts, so it never holds held-out text."""
    checks: tuple[CheckResult, ...] = ()
    graded: bool = False
    """The score is a grade between 0 and 1 and not only passed or failed."""
    isolation: str = ""
    """The sandbox level that the candidate ran under, where there was one."""
    wall_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 1:
            raise ValueError(f"a score must be in [0, 1], found {self.score!r}")

    @property
    def failed_ids(self) -> tuple[str, ...]:
        return tuple(check.id for check in self.checks if not check.passed)

    @property
    def checks_passed(self) -> int:
        return sum(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class Reflection:
    """The verbal lesson of a failed trial."""

    text: str
    trial: int
    """The trial it was drawn from."""
    evidence: str = ""
    """What it quotes from the trial."""
    retracts: tuple[int, ...] = ()
    """Trials whose lessons it withdraws."""
    disputes: str | None = None
    """The id of a check that it holds to be wrong."""
    problems: tuple[str, ...] = ()
    """What is wrong with its shape, after the one re-ask."""
    source: Literal["model", "person", "placeholder"] = "model"
    """Who wrote it; a placeholder stands where an ablation leaves the lesson out, and says nothing."""
    merges: tuple[int, ...] = ()
    """Trials whose lessons a memory condensed into this one; its own `trial` is the newest of them."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt in a fresh environment, judged, with its lesson if it failed."""

    number: int
    """From 1; the paper counts from 0."""
    trajectory: Trajectory
    feedback: Feedback
    reflection: Reflection | None = None
    lessons_shown: tuple[int, ...] = ()
    """Trials whose lessons were in this trial's prompt."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """By role."""
    digests: tuple[Reflection, ...] = ()
    """Those of the lessons shown that a memory had condensed from several, and no trial's own."""
    retired: tuple[int, ...] = ()
    """Trials whose lessons are no longer shown after this one: the score fell too often with them in the prompt."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The held-out verdict: counts and no text, reached after the loop has stopped."""

    passed: bool
    checks_passed: int
    checks_total: int
    trust: Trust
    reason: str = ""
    isolation: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program in the sandbox may use."""

    wall_s: float = 5.0
    cpu_s: float | None = None
    """None: as much as `wall_s` allows on every core."""
    memory_mb: int = 1024
    processes: int = 64
    file_mb: int = 64
    output_bytes: int = 1_000_000
    """More captured output than this ends the program with `output_limit`."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a command in the sandbox ended."""

    exit_code: int | None
    """None when a limit or a signal ended it; `reason` says which."""
    reason: Literal["exited", "signal", "timeout", "memory", "output_limit"]
    stdout: str
    stderr: str
    wall_s: float
    isolation: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files asked for with `collect`, as they were when the command ended."""


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A fault as it is kept: what failed, where, and the last lines of its traceback."""

    kind: str
    """The name of the exception class, e.g. `RateLimited`."""
    message: str
    trial: int
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Leak:
    """Held-out text that was found where the agent could see it."""

    trial: int
    where: str
    """`lesson`, or the role whose prompt held it."""
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of the loop on one task came to."""

    task_id: str
    status: Status
    stop_reason: StopReason | None
    """None when a fault ended the loop."""
    best: Trial | None
    """The passing trial, or else the one with the highest score, the latest among equals."""
    trials: tuple[Trial, ...]
    acceptance: Acceptance | None
    usage: Mapping[str, Usage]
    """By role, of all trials and of one that could not be finished."""
    fault: FaultRecord | None = None
    leaks: tuple[Leak, ...] = ()
    """Held-out text in lessons or prompts, looked for after the loop: the acceptance may be worth less than it says."""
    accepted_by_trial: tuple[bool | None, ...] = ()
    """With `Reflexion(accept_each=True)`: whether what had been submitted if that trial were the last is accepted."""

    @property
    def passed(self) -> bool:
        """Whether the visible evaluator passed; `status` says what the held-out check made of it."""
        return self.best is not None and self.best.feedback.passed

    @property
    def total_usage(self) -> Usage:
        return sum(self.usage.values(), Usage())
