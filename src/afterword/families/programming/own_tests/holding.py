"""Which tests hold on a given program, one by one: a test is worth what it says of a program that is known to be right.

Apart from the evaluator, which wants one verdict on a program, while here each test is to be answered for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterword.core.records import Feedback, Limits
from afterword.evaluators.function_tests import JudgePool
from afterword.families.programming.own_tests.plain import OwnTest, read_test
from afterword.families.programming.own_tests.suite import suite_of
from afterword.families.programming.python_text import offered_names


@dataclass(frozen=True, slots=True)
class Held:
    """What became of one test."""

    text: str
    holds: bool
    plain: bool = True
    """Whether it is a plain assert on a function of the program; one that is not holds nowhere."""
    message: str = ""


async def holding(
    texts: Sequence[str], program: str, entry_point: str, judges: JudgePool, limits: Limits
) -> tuple[Held, ...]:
    """Each test judged on a program; a test may also be on one of the program's other functions."""
    names = [entry_point, *sorted(offered_names(program) - {entry_point})]
    read = [_read(text, names) for text in texts]
    found: dict[int, Held] = {}
    for name in names:
        chosen = {index: pair[1] for index, pair in enumerate(read) if pair is not None and pair[0] == name}
        if chosen:
            verdicts = await _judged(list(chosen.values()), program, name, judges, limits)
            found |= dict(zip(chosen, verdicts, strict=True))
    not_plain = "not a plain assert on the entry point"
    return tuple(found.get(index) or Held(text, False, False, not_plain) for index, text in enumerate(texts))


def _read(text: str, names: Iterable[str]) -> tuple[str, OwnTest] | None:
    """The name of the function that a test is on, and the test."""
    for name in names:
        test = read_test(text, name)
        if test is not None:
            return name, test
    return None


async def _judged(tests: list[OwnTest], program: str, name: str, judges: JudgePool, limits: Limits) -> list[Held]:
    """All at once; one by one where a test ended the verdict for those after it."""
    verdict = await judges.judge(program, suite_of(tests, name), limits)
    if verdict.reason in ("ok", "failed") or len(tests) == 1:
        return _answers(tests, verdict)
    answers: list[Held] = []
    for test in tests:
        answers += _answers([test], await judges.judge(program, suite_of([test], name), limits))
    return answers


def _answers(tests: list[OwnTest], verdict: Feedback) -> list[Held]:
    return [
        Held(test.text, check.passed, message=check.message)
        for test, check in zip(tests, verdict.checks, strict=True)
    ]  # fmt: skip
