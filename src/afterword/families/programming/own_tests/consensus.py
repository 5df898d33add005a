"""Own tests by agreement: several suites are written, and a test stands if more than half of them state it.

What a model works out wrongly, it seldom works out wrongly twice in the same way. A suite that does not ask about a
call does not state its value either: it counts against it.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from afterword.core.effects import Effects, fingerprint
from afterword.core.protocols import Model
from afterword.core.records import Task
from afterword.errors import InputError, NoOwnTests
from afterword.families.programming.own_tests.plain import OwnTest, key_of
from afterword.families.programming.own_tests.writing import ROLE, TestWriting, sample, write_tests

_ALL = 1_000
"""Of each suite all tests have a voice; only of those that stand some may be left out."""


async def write_agreed_tests(
    task: Task, effects: Effects, model: Model, settings: TestWriting, *, suites: int
) -> tuple[OwnTest, ...]:
    """Has several suites written, each without a look at the others, and returns the tests that most of them state.

    Raises:
        InputError: several suites are asked of a model that is not sampled.
        NoOwnTests: no test is in more than half of them.
        BudgetExhausted, ModelFault: as `Effects.complete`.
    """
    if suites > 1 and settings.temperature == 0:
        raise InputError(f"{suites} suites at temperature 0 are one suite; sample the test writer, e.g. at 0.7")
    written: list[tuple[OwnTest, ...]] = []
    for suite in range(suites):
        try:
            written.append(await write_tests(task, effects, model, replace(settings, most=_ALL), suite=suite))
        except NoOwnTests:
            written.append(())
    agreed = majority(written)
    if not agreed:
        raise NoOwnTests(task.id, model.name)
    choice = random.Random(fingerprint(task.id, effects.seed, ROLE, "choice"))  # noqa: S311
    return sample(agreed, settings.most, choice)


def majority(suites: list[tuple[OwnTest, ...]]) -> tuple[OwnTest, ...]:
    """The tests that more than half of the suites state, as the first of these words them."""
    counts = Counter(key for suite in suites for key in {key_of(test) for test in suite})
    first: dict[str, OwnTest] = {}
    for suite in suites:
        for test in suite:
            first.setdefault(key_of(test), test)
    return tuple(test for key, test in first.items() if 2 * counts[key] > len(suites))
