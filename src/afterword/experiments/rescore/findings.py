"""What the scores of published runs say together: patterns that no single verdict shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from afterword.experiments.rescore.scores import RunScore

MANY = 20
"""Under so many first attempts, having no failure among them says little."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a reader of the published numbers should know."""

    run: str
    text: str


def findings(scores: Sequence[RunScore]) -> list[Finding]:
    """All findings, in the order of the runs."""
    return [
        finding for score in scores for finding in (_leak(score, scores), _namespace(score), _memory(score)) if finding
    ]


def _leak(score: RunScore, scores: Sequence[RunScore]) -> Finding | None:
    """First attempts that never fail: their verdict was not the model's own."""
    if score.unreflected is None or score.own_tests is None:
        return None
    n, claimed, solved = score.unreflected
    if n < MANY or claimed < n:
        return None
    if solved < n:
        return Finding(
            score.run,
            f"all {n} items with zero reflections are called solved, and {n - solved} of them fail: what passed the "
            "model's own tests was counted without running the hidden ones.",
        )
    said = [
        f"no item with zero reflections failed: {solved} of {n} are solved. A loop that goes on its own tests alone "
        "stops at wrong first attempts too"
    ]
    other = max(
        (one for one in scores if one.unreflected and one.own_tests and one.unreflected[1] < one.unreflected[0]),
        key=lambda one: (one.benchmark.partition("_")[2] == score.benchmark.partition("_")[2], one.items),
        default=None,
    )
    if other is not None and other.unreflected is not None:
        said.append(f" (in {other.run}, {other.unreflected[0] - other.unreflected[1]} of {other.unreflected[0]})")
    writer = next((one for one in scores if one.tests and one.benchmark == score.benchmark), None)
    if writer is not None:
        share = writer.found / writer.items
        said.append(
            f", and goes on after right ones (all own tests hold on the reference for only {writer.found} of "
            f"{writer.items} tasks, {share:.0%})"
        )
    said.append(
        ". So the first attempts were most likely judged by the hidden tests, and the share of false positives "
        f"({_false_positives(score)}) rests on that"
    )
    if score.after_reflection is not None:
        said.append(f": of the items that stopped after a reflection, {score.after_reflection[1]} of "
                    f"{score.after_reflection[0]} are right")  # fmt: skip
    return Finding(score.run, "".join(said) + ".")


def _false_positives(score: RunScore) -> str:
    if score.own_tests is None or not score.own_tests.claimed.passed:
        return "none"
    matrix = score.own_tests.claimed
    return f"{matrix.false_positive} of {matrix.passed}, {matrix.false_positive / matrix.passed:.2%}"


def _namespace(score: RunScore) -> Finding | None:
    """Verdicts that one item decided for another."""
    shared = [one for one in score.differences if "shared interpreter" in one.cause]
    if not shared:
        return None
    wronged = sum(not one.claimed for one in shared)
    helped = len(shared) - wronged
    parts = [f"{count} {what}" for count, what in ((wronged, "failed"), (helped, "passed")) if count]
    return Finding(
        score.run,
        f"{' and '.join(parts)} only because of what earlier items had left in the shared interpreter: "
        f"{score.claimed} claimed, {score.found} found of {score.items}.",
    )


def _memory(score: RunScore) -> Finding | None:
    """Games whose successes cannot be told from step limits."""
    if score.kind != "games" or not score.benchmark.startswith("alfworld"):
        return None
    return Finding(
        score.run,
        "the harness of the time took `done` as success while an episode also ends, done, at its step limit; without "
        "trajectories the successes cannot be told from step limits.",
    )
