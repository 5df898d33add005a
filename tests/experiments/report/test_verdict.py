"""What a comparison comes to in sentences: golden ones, and that no name or number can break them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from afterword.core.records import Usage
from afterword.experiments.comparison import Comparison, compare
from afterword.experiments.report.verdict import evaluator_verdict, highlighted, verdict
from afterword.experiments.results import Result
from tests.experiments.made import experiment, result


def arms(first: str, second: str, *, tokens: tuple[int, int] = (100, 100), judged: bool = True) -> Comparison:
    """Two arms on the same tasks: `+` solved, `-` not, `x` passed and rejected by the held-out check."""
    rows: list[Result] = []
    for arm, outcomes, spent in (("retry", first, tokens[0]), ("reflexion", second, tokens[1])):
        for number, outcome in enumerate(outcomes):
            right = outcome == "+" if judged else None
            rows.append(result(f"t{number}", arm, passed=(outcome != "-",), accepted=right, tokens=spent))
    return compare(rows)


def test_an_arm_that_wins_is_told_with_its_interval_and_price() -> None:
    found = arms("+" * 20 + "-" * 20, "+" * 36 + "-" * 4, tokens=(100, 140))
    assert verdict(found) == "reflexion solved 40 points more than retry (95 %: 26 to 55) at 1.4 times the tokens."
    assert highlighted(found).arm == "reflexion"


def test_an_arm_that_loses_is_told_so() -> None:
    found = arms("+" * 36 + "-" * 4, "+" * 20 + "-" * 20, tokens=(100, 40))
    assert verdict(found) == (
        "No arm beat retry beyond chance. "
        "reflexion solved 40 points less than retry (95 %: \N{MINUS SIGN}55 to \N{MINUS SIGN}26) "
        "at 0.4 times the tokens."
    )
    assert highlighted(found).arm == "retry"


def test_chance_is_not_told_as_a_difference() -> None:
    assert verdict(arms("+" * 20 + "-" * 20, "+" * 21 + "-" * 19)) == (
        "No difference from retry beyond chance can be told on 40 tasks: "
        "reflexion solved 2 points more (95 %: \N{MINUS SIGN}6 to 13) at about the same tokens."
    )


def test_arms_alike_are_as_good() -> None:
    assert "reflexion solved as much (95 %:" in verdict(arms("+-+-", "-+-+"))


def test_with_many_arms_an_interval_alone_is_no_win() -> None:
    rows = [result(f"t{n}", "retry", passed=(n < 20,)) for n in range(60)]
    rows += [result(f"t{n}", "lucky", passed=(n < 26,)) for n in range(60)]
    rows += [result(f"t{n}", f"same {k}", passed=(n < 20,)) for n in range(60) for k in range(8)]
    found = compare(rows)
    assert next(one for one in found.against if one.arm == "lucky").paired.difference.low > 0
    assert verdict(found) == (
        "No difference from retry beyond chance can be told on 60 tasks: lucky solved 10 points more "
        "(95 %: 3 to 20) at about the same tokens; among 9 comparisons that may be chance (p = .28); "
        "the other differences are no larger."
    )


def test_every_arm_is_placed_when_one_wins() -> None:
    rows = [result(f"t{n}", "retry", passed=(n < 20,)) for n in range(60)]
    for arm, solved in (("best", 50), ("good", 40), ("like", 21), ("poor", 2)):
        rows += [result(f"t{n}", arm, passed=(n < solved,)) for n in range(60)]
    told = verdict(compare(rows))
    assert told.startswith("best solved 50 points more than retry")
    assert "good beat retry too." in told
    assert told.endswith("No difference from retry can be told for like.")
    assert "poor did worse." in told


def test_one_arm_is_held_against_nothing() -> None:
    rows = [result(f"t{n}", "reflexion", passed=(n < 6,)) for n in range(10)]
    assert verdict(compare(rows)) == (
        "reflexion solved 60 % of 10 tasks (95 %: 31 to 83); there is no other arm to hold it against."
    )


@pytest.mark.parametrize(
    ("marks", "said"), [("----", "No arm solved any of the 4 tasks"), ("++++", "Every arm solved")]
)
def test_none_or_all_solved_tells_nothing_apart(marks: str, said: str) -> None:
    assert verdict(arms(marks, marks)).startswith(said)


def test_no_common_task_and_one_task_are_said() -> None:
    apart = [result("a", "retry"), result("b", "reflexion", passed=(False,))]
    assert verdict(compare(apart)) == "Nothing can be compared: reflexion and retry have no task in common."
    assert verdict(arms("+", "-")) == "The arms have one task in common: nothing follows for other tasks."


def test_faults_only_say_nothing_of_any_arm() -> None:
    found = compare([result("a", arm, faulted=True) for arm in ("retry", "reflexion")])
    assert verdict(found) == "Every result has a fault: nothing can be said of any arm."


def test_how_often_the_evaluator_was_wrong_is_told_with_its_interval() -> None:
    found = arms("+" * 30 + "x" * 10, "+" * 32 + "x" * 8)
    assert evaluator_verdict(found) == (
        "Of what the evaluator passed for retry, 25 % was wrong by the held-out check (95 %: 14 to 40). "
        "In the other arm 20 % of what it passed was wrong."
    )


def test_without_a_held_out_check_nothing_is_known_of_the_evaluator() -> None:
    assert evaluator_verdict(arms("+-", "++", judged=False)).startswith(
        "How often the evaluator was wrong is not known"
    )


def test_an_evaluator_that_passed_nothing_is_said_to() -> None:
    assert "The evaluator passed nothing of retry." in evaluator_verdict(arms("---", "+--"))


def test_identical_arms_are_seldom_told_apart() -> None:
    chance = random.Random(5)  # noqa: S311 - no secret
    told = [
        verdict(compare(experiment({"retry": 1.0, "reflexion": 1.0, "best_of_n": 1.0}, tasks=40, chance=chance)))
        for _ in range(20)
    ]
    assert sum(not text.startswith("No difference") for text in told) <= 3


def judging_itself(*outcomes: tuple[bool, bool]) -> list[Result]:
    """Results of an arm whose model judged its own output, each with what it said and what is right."""
    rows = [result(f"t{n}", "self_refine", passed=(said,), accepted=right) for n, (said, right) in enumerate(outcomes)]
    return [replace(row, usage={**row.usage, "self_judge": Usage(1, 10, 10)}) for row in rows]


def test_a_model_that_judges_itself_is_not_the_evaluator_of_the_others() -> None:
    rows = [result(f"t{n}", "retry", accepted=n > 0) for n in range(4)]
    found = compare([*judging_itself((True, False), (True, True), (False, False), (False, True)), *rows])
    assert evaluator_verdict(found) == (
        "Of what the evaluator passed for retry, 25 % was wrong by the held-out check (95 %: 5 to 70). "
        "Of what the model found right of its own in self_refine, 50 % was wrong (9 to 91)."
    )


def test_a_model_that_judges_itself_says_nothing_of_an_evaluator_that_is_not_judged() -> None:
    found = compare([*judging_itself((False, True)), result("t0")])
    assert evaluator_verdict(found) == (
        "How often the evaluator was wrong is not known: no held-out check judged the results of the other arms, and "
        "solved means that the evaluator passed. In self_refine the model found nothing of its own right."
    )


def test_names_that_would_read_as_two_stand_in_quotes() -> None:
    rows = [result(f"t{n}", "retry") for n in range(40)]
    rows += [
        result(f"t{n}", arm, passed=(n < 10,)) for n in range(40) for arm in ("retry, own tests", "one and two", "x")
    ]
    assert '"retry, own tests" solved 75 points less than retry' in verdict(compare(rows))
    assert '"one and two" and x did worse too.' in verdict(compare(rows))


def test_why_nothing_can_be_compared_is_said() -> None:
    rows = [result("t", "retry", seed=0), result("t", "reflexion", seed=1)]
    assert verdict(compare(rows)) == "Nothing can be compared: reflexion and retry have no seed in common."


def test_an_exact_test_that_finds_nothing_is_told_by_itself() -> None:
    found = verdict(arms("+" * 16 + "-" * 3, "+" * 12 + "-" * 7))
    assert "; by the exact test that may be chance (p = .12)." in found


def test_arms_of_which_nothing_passed_are_no_part_of_the_range() -> None:
    rows = [result(f"t{n}", "retry", accepted=True) for n in range(4)]
    rows += [result(f"t{n}", "half", accepted=n < 2) for n in range(4)]
    rows += [result(f"t{n}", "none", passed=(False,), accepted=False) for n in range(4)]
    told = evaluator_verdict(compare(rows))
    assert told.endswith("In the other arm of which it passed anything 50 % of what it passed was wrong.")
