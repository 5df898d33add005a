"""The page that holds the paper's tables against its logs and against what executing these again finds.

Everything but the paper's own values and the caveats is taken from the scores, so that the page cannot drift.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from afterword.experiments.rescore.findings import findings
from afterword.experiments.rescore.scores import RunScore
from afterword.families.programming.own_tests.confusion import Share


@dataclass(frozen=True, slots=True)
class Claim:
    """A value of the paper, and the run that stands behind it."""

    place: str
    what: str
    value: str
    run: str


PAPER = (
    Claim("Table 1", "HumanEval Python, GPT-4", "80.1", "simple_test_run_gpt-4"),
    Claim("Table 1", "HumanEval Python, Reflexion", "91.0", "reflexion_humaneval_py_pass_at_1"),
    Claim("Table 1", "HumanEval Rust, 50 hardest, GPT-4", "60.0", "simple_humaneval_rs_hard50"),
    Claim("Table 1", "HumanEval Rust, 50 hardest, Reflexion", "68.0", "reflexion_humaneval_rs_hard50"),
    Claim("Table 1", "MBPP Python, GPT-4", "80.1", "simple_mbpp_py"),
    Claim("Table 1", "MBPP Python, Reflexion", "77.1", "reflexion_mbpp_py"),
    Claim("Table 1", "MBPP Rust, GPT-4", "70.9", "simple_mbpp_rs"),
    Claim("Table 1", "MBPP Rust, Reflexion", "75.4", "reflexion_mbpp_rs"),
    Claim("Table 3", "Rust 50: no tests, no reflection", "60", "simple_humaneval_rs_hard50"),
    Claim("Table 3", "Rust 50: reflection without tests", "52", "immediate_reflexion_humaneval_rs_hardest50"),
    Claim("Table 3", "Rust 50: tests without reflection", "60", "immediate_refinement_humaneval_rs_hardest50"),
    Claim("Table 3", "Rust 50: both", "68", "reflexion_humaneval_rs_hard50"),
)

FALSE_POSITIVES = {"reflexion_humaneval_py_pass_at_1": "1.4%", "reflexion_mbpp_py": "16.3%"}
"""Table 2: of what the model's own tests passed, what is wrong."""


@dataclass(frozen=True, slots=True)
class CurveClaim:
    """What the paper says of a run by trial."""

    place: str
    what: str
    said: str
    run: str
    trial: int | None = None
    """By this trial, from 1; None: by the last one."""


CURVES = (
    CurveClaim("4.1", "ALFWorld, Reflexion", "130 of 134 within 12 trials", "alfworld_reflexion", 12),
    CurveClaim("4.1", "ALFWorld, retrying", "no gain after trial 6 to 7", "alfworld_base"),
    CurveClaim("4.2", "HotPotQA, paragraphs given, Reflexion", "61 to 75", "hotpotqa_cot_gt_reflexion"),
    CurveClaim("4.2", "the same with the last attempt alone", "about 67", "hotpotqa_cot_gt_last_trial"),
    CurveClaim("4.2", "HotPotQA, thoughts alone, Reflexion", "about +20 %", "hotpotqa_cot_reflexion"),
    CurveClaim("4.2", "HotPotQA, thoughts alone, retrying", "no failure solved", "hotpotqa_cot_base"),
    CurveClaim("4.2", "HotPotQA, articles looked up, Reflexion", "about +20 %", "hotpotqa_react_reflexion"),
    CurveClaim("4.2", "HotPotQA, articles looked up, retrying", "no failure solved", "hotpotqa_react_base"),
    CurveClaim("Appendix", "WebShop, Reflexion", "no gain within 4 trials", "webshop_reflexion_1"),
    CurveClaim("Appendix", "WebShop, Reflexion", "no gain within 4 trials", "webshop_reflexion_2"),
)

CAVEATS = (
    "Leetcode Hard (Python, 40 tasks: 7.5 % for GPT-4, 15.0 % for Reflexion) is not among these runs: its verdicts "
    "came from an online judge that cannot be asked again.",
    "Solutions of the runs with `ucs` in their name are the first attempts and not what was judged; their loops and "
    "the early Rust runs (156 tasks) accepted what passed the model's own tests, or did not compile.",
    "ALFWorld and WebShop were published without trajectories: their successes can be counted and not checked.",
    'WebShop: in every published version the actor\'s prompt never contains the memory, so that its "no gain" says '
    "nothing about reflections.",
    "The ALFWorld harness ended an episode, done, at 50 steps and took `done` as success.",
    "The paper says temperature 0.7 for questions; the code beside the logs says 0.",
)


def paper_page(scores: Sequence[RunScore], *, whole: bool = True) -> str:
    """The page as Markdown; it says so where it is not of all runs."""
    by_run = {score.run: score for score in scores}
    parts = [
        "# The paper, its logs, and what executing them again finds\n",
        "Made by `afterword rescore DIR --paper FILE` from the published runs; each program is executed in a jail of "
        "its own, by the tests of its benchmark, with 10 s. Where a verdict is not the claimed one it is reached "
        "several times and its cause is looked for by trying it; that of a Rust program with a hash map, whose order "
        'is random, is reached several times in any case. "Logged" is what the log claims, "found" is ours.\n',
        "" if whole else f"**Only of these runs**: {', '.join(_safe(score.run) for score in scores)}.\n",
        _lines("## Programs: the paper's values", _claims(by_run)),
        _lines("## The model's own tests (table 2)", _matrices(scores)),
        _lines("## Tests that GPT-4 wrote, on the reference programs", _tests(scores)),
        _lines("## Questions and games: the paper's values", _curve_claims(by_run)),
        _lines("## Questions: correct by trial", _curves(scores, "questions")),
        _lines("## Games: won by trial", _curves(scores, "games")),
        _lines("## What the numbers say together", (f"- **{one.run}**: {_safe(one.text)}" for one in findings(scores))),
        _lines("## Caveats", (f"- {caveat}" for caveat in CAVEATS)),
        _lines("## All runs of programs", _runs(scores)),
        _lines("## Every difference", _differences(scores)),
    ]
    return "\n".join(part for part in parts if part)


def _lines(title: str, lines: Iterator[str]) -> str:
    body = list(lines)
    return f"{title}\n\n" + "\n".join(body) + "\n" if body else ""


def _claims(by_run: Mapping[str, RunScore]) -> Iterator[str]:
    if not any(claim.run in by_run for claim in PAPER):
        return
    yield "| in the paper | | value, % | logged | found | run |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for claim in PAPER:
        score = by_run.get(claim.run)
        if score is not None:
            logged, found = _percent(score.claimed, score.items), _percent(score.found, score.items)
            unstable = f" (± {len(score.unstable)}, a matter of luck)" if score.unstable else ""
            yield f"| {claim.place} | {claim.what} | {claim.value} | {logged} | {found}{unstable} | `{claim.run}` |"


def _matrices(scores: Sequence[RunScore]) -> Iterator[str]:
    with_tests = [score for score in scores if score.own_tests is not None]
    if not with_tests:
        return
    yield "| run | | tests passed, program wrong | tests failed, program right |"
    yield "| --- | --- | --- | --- |"
    for score in with_tests:
        if score.run in FALSE_POSITIVES:
            yield f"| `{score.run}` | in the paper | {FALSE_POSITIVES[score.run]} | |"
        for name in ("claimed", "found"):
            shares = getattr(score.own_tests, name).conditional()
            label = "logged" if name == "claimed" else "found"
            wrong, right = _share(shares["wrong_given_passed"]), _share(shares["right_given_failed"])
            yield f"| `{score.run}` | {label} | {wrong} | {right} |"


def _tests(scores: Sequence[RunScore]) -> Iterator[str]:
    for score in scores:
        if score.tests is not None:
            count, hold = score.tests
            yield (
                f"`{score.run}`: {hold} of {count} tests ({hold / max(count, 1):.1%}) hold; all tests of a task hold "
                f"for {score.found} of {score.items} tasks ({score.claimed} logged)."
            )


def _curve_claims(by_run: Mapping[str, RunScore]) -> Iterator[str]:
    if not any(claim.run in by_run for claim in CURVES):
        return
    yield "| in the paper | | said | logged: first trial, later | found | run |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for claim in CURVES:
        score = by_run.get(claim.run)
        if score is None or not score.by_trial:
            continue
        last = min(claim.trial or len(score.by_trial), len(score.by_trial))
        first, then = score.by_trial[0], score.by_trial[last - 1]
        logged = f"{first.claimed}, {then.claimed} of {score.items} by trial {last}"
        found = (
            "the same" if (first.found, then.found) == (first.claimed, then.claimed) else f"{first.found}, {then.found}"
        )
        yield f"| {claim.place} | {claim.what} | {claim.said} | {logged} | {found} | `{claim.run}` |"


def _curves(scores: Sequence[RunScore], kind: str) -> Iterator[str]:
    chosen = [score for score in scores if score.kind == kind]
    if not chosen:
        return
    yield "| run | of | logged | found |"
    yield "| --- | --- | --- | --- |"
    for score in chosen:
        logged = " ".join(str(at.claimed) for at in score.by_trial)
        found = " ".join(str(at.found) for at in score.by_trial)
        yield f"| `{score.run}` | {score.items} | {logged} | {'the same' if logged == found else found} |"


def _runs(scores: Sequence[RunScore]) -> Iterator[str]:
    chosen = [score for score in scores if score.kind == "programs"]
    if not chosen:
        return
    yield "| run | items | logged | found | differ | a matter of luck |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for score in chosen:
        yield (
            f"| `{score.run}` | {score.items} | {score.claimed} | {score.found} | {len(score.differences)} | "
            f"{', '.join(f'{one.task_id} ({one.passed} of {one.of})' for one in score.unstable) or 'none'} |"
        )


def _differences(scores: Sequence[RunScore]) -> Iterator[str]:
    if not any(score.differences for score in scores):
        return
    yield "| run | item | logged | found | cause |"
    yield "| --- | --- | --- | --- | --- |"
    for score in scores:
        for one in score.differences:
            yield f"| `{score.run}` | {one.task_id} | {one.claimed} | {one.found} | {_safe(one.cause)} |"


def _percent(count: int, of: int) -> str:
    return f"{count} of {of}, {count / of:.1%}" if of else "0 of 0"


def _share(share: Share) -> str:
    if share.value is None or share.interval is None:
        return "none"
    low, high = share.interval
    return f"{share.count} of {share.total}, {share.value:.2%} ({low:.1%} to {high:.1%})"


def _safe(text: str) -> str:
    """Text of a log within a table: no cell, line or markup of its own."""
    kept = "".join(char if char.isprintable() else " " for char in text)
    for char in "\\|<>[]*_`":
        kept = kept.replace(char, "\\" + char)
    return kept
