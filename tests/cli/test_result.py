import json

from afterword.cli.result import exit_code, outcome_json
from afterword.core.records import (
    Acceptance,
    CheckResult,
    FaultRecord,
    Feedback,
    Outcome,
    Reflection,
    Status,
    StopReason,
    Trajectory,
    Trial,
    Usage,
)

FAILED = Trial(
    1,
    Trajectory("def f(): ..."),
    Feedback(
        False,
        0.5,
        "isolated",
        "failed",
        "test_b: 1 != 2",
        (CheckResult("test_a", True), CheckResult("test_b", False, "1 != 2")),
    ),
    Reflection("I will add one.", 1, retracts=(3,), disputes="test_b"),
    usage={"actor": Usage(1, 10, 5), "reflector": Usage(1, 20, 5, cost_usd=None)},
)
PASSED = Trial(
    2,
    Trajectory("def f(): return 2"),
    Feedback(True, 1.0, "isolated", "ok", checks=(CheckResult("test_a", True),)),
    None,
    (1,),
)


def outcome(status: Status, acceptance: Acceptance | None = None, fault: FaultRecord | None = None) -> Outcome:
    return Outcome("t", status, StopReason.PASSED, PASSED, (FAILED, PASSED), acceptance, FAILED.usage, fault)


def test_object_has_the_documented_keys_and_counts() -> None:
    told = json.loads(json.dumps(outcome_json(outcome("rejected", Acceptance(False, 11, 12, "isolated")))))
    assert told["task"] == "t"
    assert told["status"] == "rejected"
    assert told["stop_reason"] == "passed"
    assert told["best_trial"] == 2
    first = told["trials"][0]
    assert (first["number"], first["passed"], first["score"]) == (1, False, 0.5)
    assert (first["checks_passed"], first["checks_total"], first["failed"]) == (1, 2, ["test_b"])
    assert (first["feedback"], first["reflection"]) == ("test_b: 1 != 2", "I will add one.")
    assert (first["retracted"], first["disputed"], first["output"]) == ([3], "test_b", "def f(): ...")
    assert told["acceptance"] == {"passed": False, "checks_passed": 11, "checks_total": 12, "trust": "isolated"}
    assert (told["usage"]["calls"], told["usage"]["tokens_in"], told["usage"]["tokens_out"]) == (2, 30, 10)


def test_unknown_cost_is_null() -> None:
    usage = outcome_json(outcome("accepted"))["usage"]
    assert isinstance(usage, dict)
    assert usage["cost_usd"] is None


def test_exit_codes_follow_the_status() -> None:
    codes = {
        status: exit_code(outcome(status), require_acceptance=False)
        for status in ("accepted", "unverified", "rejected", "gave_up", "faulted")
    }
    assert codes == {"accepted": 0, "unverified": 0, "rejected": 1, "gave_up": 1, "faulted": 3}


def test_unverified_is_not_enough_where_acceptance_is_required() -> None:
    assert exit_code(outcome("unverified"), require_acceptance=True) == 1
    assert exit_code(outcome("accepted"), require_acceptance=True) == 0
