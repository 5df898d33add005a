"""Runs of questions, games and written tests, scored again; what they say together; the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.experiments.rescore import Difference, Log, OwnTestScore, RunScore, find_logs, findings
from afterword.experiments.rescore.answers import score_games, score_questions
from afterword.experiments.rescore.paper import paper_page
from afterword.families.programming.own_tests.confusion import Confusion
from tests.experiments.rescore.logs import write


def answer(trial: int, answer: str, gold: str, status: str) -> dict[str, object]:
    return {
        "setting": "cot",
        "trial": trial,
        "question_id": f"q{gold}",
        "answer": answer,
        "gold": gold,
        "status": status,
    }


def test_answers_are_matched_again_by_trial(tmp_path: Path) -> None:
    rows = [
        answer(1, "The Thing", "thing", "correct"),
        answer(1, "", "x", "absent"),
        answer(2, "thing.", "thing", "correct"),
        answer(2, "y", "x", "correct"),
    ]
    found = score_questions(Log("qa", "questions", write(tmp_path / "qa.jsonl", rows)))
    assert [(at.trial, at.claimed, at.found) for at in found.by_trial] == [(1, 1, 1), (2, 2, 1)]
    assert (found.items, found.claimed, found.found) == (2, 2, 1)
    assert found.differences == (Difference("qx (trial 2)", True, False, "the answer 'y' against 'x'"),)


def test_games_are_counted_again(tmp_path: Path) -> None:
    envs = [{"benchmark": "alfworld_3", "solved_at_trial": at} for at in (0, 1, None)]
    write(tmp_path / "g_per_trial.jsonl", [{"trial": 0, "successes": 1}, {"trial": 1, "successes": 3}])
    found = score_games(Log("g", "games", write(tmp_path / "g_envs.jsonl", envs)))
    assert [(at.trial, at.claimed, at.found) for at in found.by_trial] == [(1, 1, 1), (2, 3, 2)]
    assert found.differences[0].cause == "claims 3 games, lists 2"
    assert "no trajectory" in found.note


def test_games_without_their_totals_are_refused(tmp_path: Path) -> None:
    (tmp_path / "g_per_trial.jsonl").write_text("", encoding="utf-8")
    log = Log("g", "games", write(tmp_path / "g_envs.jsonl", [{"benchmark": "alfworld_3", "solved_at_trial": 0}]))
    with pytest.raises(InputError, match="found nothing"):
        score_games(log)


MATRIX = Confusion(36, 1, 2, 1)
LEAKY = RunScore(
    "leaky", "humaneval", "programs", 40, 38, 38, own_tests=OwnTestScore(MATRIX, MATRIX),
    unreflected=(30, 30, 30), after_reflection=(7, 6),
)  # fmt: skip
HONEST = replace(LEAKY, run="honest", benchmark="mbpp", unreflected=(30, 24, 24))
WRITER = RunScore("writer", "humaneval", "own_tests", 40, 20, 20, tests=(100, 80))


def test_first_attempts_that_never_fail_are_found() -> None:
    (found,) = findings([LEAKY, HONEST, WRITER])
    assert found.run == "leaky"
    for said in (
        "no item with zero reflections failed: 30 of 30",
        "in honest, 6 of 30",
        "20 of 40 tasks, 50%",
        "judged by the hidden tests",
        "1 of 37, 2.70%",
        "6 of 7 are right",
    ):
        assert said in found.text


def test_first_attempts_that_were_never_checked_are_found() -> None:
    (found,) = findings([replace(LEAKY, unreflected=(30, 30, 27))])
    assert "all 30 items with zero reflections are called solved, and 3 of them fail" in found.text


@pytest.mark.parametrize(
    "score",
    [replace(LEAKY, unreflected=(30, 29, 30)), replace(LEAKY, unreflected=(5, 5, 5)), replace(LEAKY, own_tests=None)],
)
def test_what_says_little_is_no_finding(score: RunScore) -> None:
    assert findings([score]) == []


def test_verdicts_that_one_item_decided_for_another_are_found() -> None:
    cause = "failed since a had redefined 'sum' in the shared interpreter"
    score = replace(HONEST, claimed=37, differences=(Difference("b", False, True, cause),))
    assert "1 failed only because of what earlier items had left" in findings([score])[0].text


def test_the_page_holds_the_papers_values_against_what_was_found() -> None:
    run = replace(LEAKY, run="reflexion_mbpp_py", benchmark="mbpp_py_397", items=397, claimed=306, found=311)
    page = paper_page([replace(run, differences=(Difference("a|b", False, True, "<b>x</b>"),)), WRITER])
    assert "| Table 1 | MBPP Python, Reflexion | 77.1 | 306 of 397, 77.1% | 311 of 397, 78.3% |" in page
    assert "80 of 100 tests (80.0%) hold" in page
    assert "<b>" not in page
    assert "## Games" not in page
    assert "| `reflexion_mbpp_py` | in the paper | 16.3% | |" in page
    assert "Only of these runs" not in page
    assert r"**Only of these runs**: reflexion\_mbpp\_py." in paper_page([run], whole=False)


def test_the_published_questions_and_games(data_dir: Path) -> None:
    """All nine curves and the games, as the paper has them."""
    logs = {log.run: log for log in find_logs(data_dir / "reflexion_logs") if log.kind in ("questions", "games")}
    curves = {
        "hotpotqa_cot_gt_reflexion": [61, 69, 69, 70, 72, 74, 75, 75],
        "hotpotqa_cot_gt_last_trial": [62, 66, 66, 66, 66],
        "hotpotqa_cot_gt_last_trial_and_reflexion": [63, 70, 72, 74, 74],
        "hotpotqa_cot_base": [32, 33, 33, 33, 33],
        "hotpotqa_cot_last_trial": [32, 34, 35, 36, 37, 38],
        "hotpotqa_cot_reflexion": [32, 37, 40, 40, 40],
        "hotpotqa_cot_last_trial_and_reflexion": [31, 33, 34, 35, 35, 35],
        "hotpotqa_react_base": [34, 34, 34, 34, 34],
        "hotpotqa_react_reflexion": [32, 42, 48, 50, 51, 53, 53],
        "alfworld_reflexion": [84, 103, 111, 113, 117, 118, 123, 126, 128, 129, 130, 130, 131, 133, 134],
        "webshop_reflexion_1": [33, 33, 34, 35],
        "webshop_base_2": [33, 34, 34, 34],
    }
    for run, curve in curves.items():
        log = logs[run]
        score = score_questions(log) if log.kind == "questions" else score_games(log)
        assert [at.found for at in score.by_trial] == curve, run
        assert (score.differences, score.claimed) == ((), curve[-1])


def test_the_page_holds_what_the_paper_says_of_questions_and_games(data_dir: Path) -> None:
    logs = {log.run: log for log in find_logs(data_dir / "reflexion_logs") if log.kind in ("questions", "games")}
    page = paper_page([score_questions(log) if log.kind == "questions" else score_games(log) for log in logs.values()])
    for row in (
        "| 4.1 | ALFWorld, Reflexion | 130 of 134 within 12 trials | 84, 130 of 134 by trial 12 | the same |",
        "| 4.2 | HotPotQA, paragraphs given, Reflexion | 61 to 75 | 61, 75 of 100 by trial 8 | the same |",
        "| 4.2 | HotPotQA, articles looked up, retrying | no failure solved | 34, 34 of 100 by trial 5 | the same |",
    ):
        assert row in page
