"""What a report says the arms of a run are."""

from __future__ import annotations

from afterword.experiments.comparison import compare
from afterword.experiments.report.played_arms import PlayedArm, played_arms
from afterword.experiments.report.sections import played
from tests.experiments.made import result


def test_an_arm_is_told_by_its_kind_and_by_what_is_other_in_it() -> None:
    plain: dict[str, object] = {"name": "retry", "arm": "retry", "memory": None, "without": [], "options": {}}
    other: dict[str, object] = {
        "name": "mine",
        "arm": "reflexion",
        "memory": 3,
        "without": ["diagnosis"],
        "options": {"own_tests": True},
    }
    assert played_arms({"arms": [plain, other]}) == {
        "retry": PlayedArm("retry", "attempts until one passes", ""),
        "mine": PlayedArm("reflexion", "sees the lessons", 'memory 3, without ["diagnosis"], own_tests true'),
    }


def test_a_switch_that_is_off_where_it_is_usually_on_is_told() -> None:
    arm: dict[str, object] = {"name": "all trials", "arm": "reflexion", "stop_on_repetition": False}
    assert played_arms({"arms": [arm]})["all trials"].other == "stop_on_repetition false"


def test_a_plain_run_has_the_arm_of_its_strategy() -> None:
    found = played_arms({"settings": {"strategy": "last_attempt"}, "arms": []})
    assert found == {"last_attempt": PlayedArm("last_attempt", "sees the attempt before and its report", "")}


def test_a_run_of_another_program_or_version_tells_what_it_can() -> None:
    assert played_arms({}) == {}
    assert played_arms({"arms": [{"name": "x", "arm": "new kind"}]}) == {"x": PlayedArm("new kind", "", "")}


def test_what_ended_the_loops_stands_beside_what_an_arm_is() -> None:
    rows = [result("a", "mine"), result("b", "mine", passed=(False, False)), result("a", "retry")]
    arms = {"mine": PlayedArm("reflexion", "sees the lessons", "memory 3")}
    assert played(compare(rows), arms).rows == (
        ("mine", "reflexion: sees the lessons", "memory 3", "1 by a trial that passed, 1 by the number of trials"),
        ("retry", "\N{EM DASH}", "\N{EM DASH}", "1 by a trial that passed"),
    )
