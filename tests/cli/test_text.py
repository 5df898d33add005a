from afterword.cli.text import counted, money, plain, shortened


def test_escape_sequences_and_bidirectional_marks_are_replaced() -> None:
    assert plain("a\x1b[31mb\u202ec\x00d") == "a\ufffd[31mb\ufffdc\ufffdd"


def test_line_ends_tabs_and_letters_of_any_script_stay() -> None:
    assert plain("a\n\tä 漢 ✓") == "a\n\tä 漢 ✓"


def test_lone_surrogate_is_replaced() -> None:
    assert plain("\ud800") == "\ufffd"


def test_shortened_is_one_line_with_a_mark() -> None:
    assert shortened("a  b\nc", 10) == "a b c"
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
