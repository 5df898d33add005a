from afterword.cli.text import counted, findings, money, plain, score, shortened
from afterword.core.records import CheckResult, Feedback


def test_escape_sequences_and_bidirectional_marks_are_replaced() -> None:
    assert plain("a\x1b[31mb\u202ec\x00d") == "a\ufffd[31mb\ufffdc\ufffdd"


def test_line_ends_tabs_and_letters_of_any_script_stay() -> None:
    assert plain("a\n\tä 漢 ✓") == "a\n\tä 漢 ✓"


def test_lone_surrogate_is_replaced() -> None:
    assert plain("\ud800") == "\ufffd"


def test_shortened_is_one_line_with_a_mark() -> None:
    assert shortened("a  b\n\nc", 10) == "a  b c", "spaces may be what a check is about"
    assert shortened("abcdef", 4) == "abc…"


def test_unknown_cost_is_not_zero() -> None:
    assert money(None) == "cost unknown"
    assert money(0.0) == "$0"


def test_small_cost_is_not_zero() -> None:
    assert money(0.00001) == "under $0.0001"
    assert money(0.01234) == "$0.0123"


def test_counted_takes_the_plural() -> None:
    assert counted(1, "trial") == "1 trial"
    assert counted(1200, "trial") == "1,200 trials"


def test_message_is_told_without_what_stands_beside_it() -> None:
    def lines(reason: str, message: str) -> list[str]:
        return findings(Feedback(False, 0.0, "isolated", reason, message, (CheckResult("test_a", False),)))

    assert lines("failed", "0 of 1 checks passed; failed\ntest_a: 1 != 2") == ["test_a: 1 != 2"]
    assert lines("timeout", "0 of 1 checks passed; timeout: over 5 s\ntest_a: not finished") == [
        "over 5 s",
        "test_a: not finished",
    ]
    assert lines("no_output", "The reply was empty.") == ["The reply was empty."]
    assert lines("failed", "") == []


def test_a_verdict_without_grade_or_checks_is_a_word() -> None:
    assert score(Feedback(False, 0.0, "exact")) == "failed"
    assert score(Feedback(True, 1.0, "exact")) == "passed"
    assert score(Feedback(False, 0.0, "exact", graded=True)) == "score 0.00"
    assert score(Feedback(False, 0.25, "exact")) == "score 0.25"
    assert (
        score(Feedback(False, 0.5, "exact", checks=(CheckResult("a", True), CheckResult("b", False)))) == "1/2 checks"
    )
