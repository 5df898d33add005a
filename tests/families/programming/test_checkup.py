"""What a check-up reads from suites, the programs it makes of that, and what it concludes from verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from afterword.core.records import CheckResult, Feedback, Limits
from afterword.evaluators.function_tests import Suite
from afterword.families.programming.checkup import Examination, Finding, MutantVerdict, Part, PartVerdicts, findings_of
from afterword.families.programming.checkup.expected import as_source, expected_errors, expected_values, known_answers
from afterword.families.programming.checkup.records import Repeated
from afterword.families.programming.checkup.trivial import Trivial, memorising, shape_of, trivial_programs
from afterword.families.programming.mutants import Mutant

TESTS = """import pytest
from solution import f


def test_a():
    assert f(1) == 10
    assert f(2) == 20


def test_b():
    assert f(3) == 20


def test_c():
    with pytest.raises(KeyError):
        f("x")
"""
ROWS: list[dict[str, object]] = [
    {"args": [1], "expected": [1, 2]},
    {"args": [2], "raises": "TypeError"},
    {"args": [3], "expected": None},
]
HUMANEVAL = (
    "def check(candidate):\n    assert candidate(1) == 5\n    assert candidate(2) == 5\n    x = 3\n    assert x == x\n"
)


def suite(text: str = TESTS, entry_point: str = "f") -> Suite:
    return Suite.from_source(text, entry_point=entry_point)


def run(source: str, name: str, *arguments: object, **named: object) -> object:
    """Calls a function of one of the programs that the check-up makes; they are ours, not a model's."""
    names: dict[str, object] = {}
    exec(source, names)  # noqa: S102
    function = names[name]
    assert callable(function)
    return function(*arguments, **named)


def test_expected_values_are_the_most_frequent_first() -> None:
    assert expected_values(suite()) == ["20", "10"]
    assert expected_values(Suite.from_cases(ROWS, entry_point="f")) == ["[1, 2]", "None"]
    assert expected_values(Suite.from_humaneval(HUMANEVAL, "f"))[0] == "5"


def test_expected_exceptions() -> None:
    assert expected_errors(suite()) == ["KeyError"]
    assert expected_errors(Suite.from_cases(ROWS, entry_point="f")) == ["TypeError"]
    in_unittest = (
        "import unittest\nfrom solution import f\nclass A(unittest.TestCase):\n    def test_a(self):\n"
        "        with self.assertRaises(OSError):\n            f()\n        self.assertEqual(f(1), 'one')\n"
    )
    assert expected_errors(suite(in_unittest)) == ["OSError"]
    assert expected_values(suite(in_unittest)) == ["'one'"]


def test_known_answers_are_calls_on_literals_of_any_kind_of_suite() -> None:
    found = [(row.args, row.how, row.expected) for row in known_answers(suite())]
    assert sorted(found, key=repr) == [
        (("x",), "raises", "KeyError"),
        ((1,), "equal", 10),
        ((2,), "equal", 20),
        ((3,), "equal", 20),
    ]
    assert [row.args for row in known_answers(Suite.from_cases(ROWS, entry_point="f"))] == [(1,), (2,), (3,)]
    assert {row.args for row in known_answers(Suite.from_humaneval(HUMANEVAL, "f"))} == {(1,), (2,)}


def test_known_answers_are_those_of_the_selected_checks() -> None:
    chosen = Suite.from_cases(ROWS, entry_point="f").select(["case:3"])
    assert [row.args for row in known_answers(chosen)] == [(3,)]
    assert expected_errors(chosen) == []


@pytest.mark.parametrize("value", [None, 1.5, "a\n'", [1, (2, {"a": {3}})], set(), b"x"])
def test_a_value_that_source_can_tell(value: object) -> None:
    text = as_source(value)
    assert text is not None
    assert eval(text) == value  # noqa: S307


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("inf")], object(), "x" * 3_000, frozenset({1})])
def test_a_value_that_source_cannot_tell(value: object) -> None:
    assert as_source(value) is None


def test_trivial_programs_do_what_their_name_says() -> None:
    programs = {program.name: program.source for program in trivial_programs(suite(), shape_of(suite(), ""))}
    assert run(programs["returns None"], "f", 1) is None
    assert run(programs["returns 20"], "f", 1) == 20
    assert run(programs["returns []"], "f") == []
    assert run(programs["returns its first argument"], "f", 7, 8) == 7
    assert run(programs["returns its first argument"], "f", n=9) == 9
    for name, error in (("raises ValueError", ValueError), ("raises KeyError", KeyError)):
        with pytest.raises(error):
            run(programs[name], "f", 1)
    assert programs["is an empty file"].strip() == ""
    assert len(set(programs)) == len(programs)


def test_a_class_answers_with_every_method() -> None:
    tests = "from solution import Stack, StackError\ndef test_a():\n    assert Stack(3).pop() == 4\n"
    found = suite(tests, "Stack")
    program = next(one for one in trivial_programs(found, shape_of(found, "")) if one.name == "returns 4")
    names: dict[str, object] = {}
    exec(program.source, names)  # noqa: S102
    made = names["Stack"]
    error = names["StackError"]
    assert isinstance(made, type)
    assert isinstance(error, type)
    assert made(1, key=2).anything(5) == 4
    assert issubclass(error, Exception)


def test_the_model_says_what_a_name_is() -> None:
    tests = "from solution import maker, Point\ndef test_a():\n    assert maker(1) == Point(1)\n"
    assert shape_of(suite(tests, "maker"), "").classes == ("Point",)
    assert shape_of(suite(tests, "maker"), "def Point(x): ...\nclass maker: ...\n").classes == ("maker",)
    assert shape_of(suite(), "async def f(x):").asynchronous


def test_a_memorising_program_knows_the_visible_answers() -> None:
    source = memorising(known_answers(suite()), shape_of(suite(), ""))
    assert source is not None
    assert [run(source, "f", number) for number in (1, 2, 3, 4)] == [10, 20, 20, 20]
    with pytest.raises(KeyError):
        run(source, "f", "x")


def test_nothing_is_memorised_where_no_answer_is_given_away() -> None:
    tests = "from solution import f\ndef test_a():\n    x = [2, 1]\n    f(x)\n    assert x[0] < x[1]\n"
    assert memorising(known_answers(suite(tests)), shape_of(suite(tests), "")) is None


IDS = ("test_a", "test_b", "test_c")
NAMES = ("None", "0", "1", "''", "[]", "{}", "True", "False")


def verdict(passed: str, *, wall_s: float = 0.01) -> Feedback:
    """One that passes the checks of these letters."""
    checks = tuple(CheckResult(one, one[-1] in passed, "" if one[-1] in passed else f"{one} is wrong") for one in IDS)
    whole = all(check.passed for check in checks)
    return Feedback(whole, len(passed) / 3, "isolated", "ok" if whole else "failed", "", checks, wall_s=wall_s)


def seen(
    trivial: Mapping[str, str] | None = None,
    *,
    raising: str = "",
    solution: str | None = "abc",
    repeated: Sequence[str] = ("abc", "abc"),
    memorised: str | None = None,
    slowest_s: float = 0.1,
    alone_s: Mapping[str, float] | None = None,
    mutants: tuple[MutantVerdict, ...] | None = None,
) -> Examination:
    """A check-up in which each trivial program passes the checks of its letters."""
    programs = [(Trivial(f"returns {n}", "constant", n, ""), verdict((trivial or {}).get(n, ""))) for n in NAMES]
    programs.append((Trivial("raises ValueError", "raises", "ValueError", ""), verdict(raising)))
    one = PartVerdicts(
        Part("visible", suite(), Limits(wall_s=1.0)),
        tuple(programs),
        (Repeated("the solution", tuple(verdict(passed) for passed in repeated)),),
        None if solution is None else verdict(solution),
        None if memorised is None else verdict(memorised),
        alone_s or {},
        slowest_s,
    )
    return Examination("t", "namespaces", len(repeated), (one,), mutants)


def told(examination: Examination) -> list[tuple[str, str | None, bool]]:
    return [(finding.kind, finding.check, finding.is_error) for finding in findings_of(examination)]


def only(examination: Examination) -> Finding:
    (finding,) = findings_of(examination)
    return finding


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert told(seen({"0": "a", "False": "a", "1": "b", "True": "b", "None": "c"})) == []


def test_a_suite_that_a_constant_passes_is_too_weak() -> None:
    finding = only(seen({"0": "abc", "False": "abc"}))
    assert (finding.kind, finding.is_error) == ("too_weak", True)
    assert finding.message == (
        "a program that returns 0, or returns False passes all 3 checks (test_a, test_b, test_c)"
    )


def test_a_suite_of_exceptions_only_is_too_weak_and_told_what_it_lacks() -> None:
    finding = only(seen(raising="abc"))
    assert finding.kind == "too_weak"
    assert "good input" in finding.remedy


def test_a_check_that_passes_whatever_is_returned_is_vacuous() -> None:
    everything = dict.fromkeys(NAMES, "b")
    assert told(seen(everything)) == [("vacuous", "test_b", True)]
    assert "even if it raises" in only(seen(everything, raising="b")).message


def test_a_check_that_expects_none_is_not_vacuous() -> None:
    assert told(seen({"None": "b"})) == []


def test_a_check_of_truth_is_not_loose_and_one_of_the_type_alone_is() -> None:
    assert told(seen(dict.fromkeys(("None", "0", "''", "[]", "{}", "False"), "a"))) == []
    assert told(seen({"1": "a", "True": "a"})) == []
    assert told(seen({"0": "a", "1": "a"})) == [("loose", "test_a", False)]


def test_a_check_that_fails_the_solution_is_wrong() -> None:
    assert told(seen(solution="ac", repeated=["ac", "ac"])) == [("wrong", "test_b", True)]
    assert "test_b is wrong" in only(seen(solution="ac", repeated=["ac"])).message


def test_a_flaky_check_is_named_once_and_not_called_wrong() -> None:
    finding = only(seen(solution="ac", repeated=["ac", "abc", "abc"]))
    assert (finding.kind, finding.check, finding.is_error) == ("flaky", "test_b", True)
    assert "passed 2 of 3 times; otherwise: test_b is wrong" in finding.message


def test_held_out_checks_that_memory_passes_are_an_error() -> None:
    assert told(seen(memorised="abc")) == [("memorised", None, True)]
    assert told(seen(memorised="ab")) == []


def test_a_slow_check_is_a_warning_by_name() -> None:
    assert told(seen(slowest_s=0.9, alone_s={"test_a": 0.1, "test_b": 0.8})) == [("slow", "test_b", False)]
    whole = only(seen(slowest_s=0.9, alone_s={"test_a": 0.3, "test_b": 0.4}))
    assert whole.check is None
    assert "most of it test_b" in whole.message


def mutant(killed_by: str | None) -> MutantVerdict:
    return MutantVerdict(Mutant("", 3, "`a < b` → `a <= b`"), killed_by)


def test_a_surviving_mutant_is_a_warning_and_only_survivors_are_an_error() -> None:
    some = seen(mutants=(mutant("visible"), mutant(None)))
    assert told(some) == [("survivor", None, False)]
    assert "`a < b` → `a <= b` in line 3" in only(some).message
    assert [kind for kind, _, _ in told(seen(mutants=(mutant(None),)))] == ["no_mutant_killed", "survivor"]
    assert told(seen(mutants=())) == []
