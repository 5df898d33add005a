"""What a comparison comes to in plain sentences, worded by rules from the numbers and by nothing else.

A difference is told as one only where its interval leaves out zero and its p-value, adjusted for the number of arms,
is under .05.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from afterword.experiments.comparison import Against, ArmReport, Comparison
from afterword.experiments.report.wording import counted, interval, p_value, percent, points, times

LEVEL = 0.05

Say = Callable[[str], str]
"""How the name of an arm is written."""


def verdict(comparison: Comparison, say: Say = str) -> str:
    """One or two sentences: which arm won, at what price, and how sure that is."""
    say = _in_quotes(say)
    known = [arm for arm in comparison.arms if arm.solved.value is not None]
    if not known:
        return "Every result has a fault: nothing can be said of any arm."
    if len(comparison.arms) == 1:
        arm = comparison.arms[0]
        return (
            f"{say(arm.arm)} solved {percent(arm.solved.value)} of {counted(arm.solved.n, 'task')} "
            f"(95 %: {interval(arm.solved)}); there is no other arm to hold it against."
        )
    pairs = [one for one in comparison.against if one.paired.difference.value is not None]
    if not pairs:
        first = comparison.against[0]
        return f"Nothing can be compared: {say(first.arm)} and {say(first.baseline)} {first.apart}."
    whole = comparison.common == comparison.tasks and not any(arm.faults for arm in comparison.arms)
    if whole and all(arm.solved.value == 0 for arm in known):
        which = "the one task" if comparison.tasks == 1 else f"any of the {comparison.tasks:,} tasks"
        return f"No arm solved {which}: the arms cannot be told apart."
    if whole and all(arm.solved.value == 1 for arm in known):
        which = "the one task" if comparison.tasks == 1 else f"all of the {comparison.tasks:,} tasks"
        return f"Every arm solved {which}: the arms cannot be told apart."
    if max(one.tasks for one in pairs) < 2:
        return "The arms have one task in common: nothing follows for other tasks."
    return _compared(comparison, pairs, say)


def _in_quotes(say: Say) -> Say:
    """A name with a comma or an "and" in it would read as two."""
    return lambda name: f'"{say(name)}"' if "," in name or " and " in name else say(name)


def highlighted(comparison: Comparison) -> ArmReport:
    """The arm that the verdict is about: the best of those that beat the baseline, else the baseline itself."""
    better = [one for one in comparison.against if beats(one)]
    name = max(better, key=_difference).arm if better else comparison.baseline
    return next(arm for arm in comparison.arms if arm.arm == name)


def beats(one: Against) -> bool:
    """Whether it solved more than the baseline, beyond chance and whatever the faults would have come to."""
    sure = one.with_faults is None or one.with_faults[0] > 0
    return sure and _told_apart(one) and one.paired.difference.low > 0


def loses(one: Against) -> bool:
    """Whether it solved less than the baseline, beyond chance and whatever the faults would have come to."""
    sure = one.with_faults is None or one.with_faults[1] < 0
    return sure and _told_apart(one) and one.paired.difference.high < 0


def _told_apart(one: Against) -> bool:
    return one.p_adjusted is not None and one.p_adjusted < LEVEL


def _compared(comparison: Comparison, pairs: Sequence[Against], say: Say) -> str:
    base = say(comparison.baseline)
    better = sorted((one for one in pairs if beats(one)), key=_difference, reverse=True)
    worse = sorted((one for one in pairs if loses(one)), key=_difference)
    unclear = [say(one.arm) for one in pairs if not beats(one) and not loses(one)]
    untold = f" No difference from {base} can be told for {_listed(unclear)}." if unclear else ""
    if better:
        best, *others = better
        rest = f" {_listed([say(one.arm) for one in others])} beat {base} too." if others else ""
        rest += f" {_listed([say(one.arm) for one in worse])} did worse." if worse else ""
        return f"{_told(best, say, base)}.{rest}{untold}"
    if worse:
        least, *others = worse
        rest = f" {_listed([say(one.arm) for one in others])} did worse too." if others else ""
        return f"No arm beat {base} beyond chance. {_told(least, say, base)}.{rest}{untold}"
    largest = max(pairs, key=lambda one: abs(_difference(one)))
    away = largest.paired.difference
    by_chance = ""
    if (away.low > 0 or away.high < 0) and _told_apart(largest):
        by_chance = "; what the faults would have come to could turn that round"
    elif away.low > 0 or away.high < 0:
        alone, adjusted = largest.paired.p_value or 0.0, largest.p_adjusted or 0.0
        by_chance = (
            f"; among {counted(len(pairs), 'comparison')} that may be chance ({p_value(adjusted)})"
            if alone < LEVEL
            else f"; by the exact test that may be chance ({p_value(alone)})"
        )
    smaller = "" if len(pairs) == 1 else "; the other differences are no larger"
    return (
        f"No difference from {base} beyond chance can be told on {counted(largest.tasks, 'task')}: "
        f"{_told(largest, say, '')}{by_chance}{smaller}."
    )


def _told(one: Against, say: Say, base: str) -> str:
    """`reflexion solved 12 points more than retry (95 %: 3 to 21) at 1.4 times the tokens`."""
    difference = one.paired.difference
    value = _difference(one)
    than = f" than {base}" if base else ""
    more = "as much" if value == 0 else f"{points(value)} {'more' if value > 0 else 'less'}{than}"
    told = f"{say(one.arm)} solved {more} (95 %: {interval(difference)})"
    price = times(one.times_tokens, "tokens")
    return f"{told} {price}" if price else told


def _difference(one: Against) -> float:
    return one.paired.difference.value or 0.0


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def evaluator_verdict(comparison: Comparison, say: Say = str) -> str:
    """How often the evaluator was wrong, in a sentence about the highlighted arm and the range of all."""
    say = _in_quotes(say)
    judged = [arm for arm in comparison.arms if arm.judged and not arm.judges_itself]
    told = [_of_itself(arm, say) for arm in comparison.arms if arm.judged and arm.judges_itself]
    if not judged:
        of = "the results of the other arms" if told else "the results"
        unknown = (
            f"How often the evaluator was wrong is not known: no held-out check judged {of}, "
            "and solved means that the evaluator passed."
        )
        return " ".join([unknown, *told])
    arm = next((one for one in judged if one is highlighted(comparison)), judged[0])
    return " ".join([f"{' '.join(_wrong(arm, say))}{_elsewhere(judged, arm)}", *told])


def _of_itself(arm: ArmReport, say: Say) -> str:
    """Of an arm whose evaluator is the actor's own model, which no other arm has."""
    wrong = arm.false_positives
    if wrong.value is None:
        return f"In {say(arm.arm)} the model found nothing of its own right."
    return (
        f"Of what the model found right of its own in {say(arm.arm)}, {percent(wrong.value)} was wrong "
        f"({interval(wrong)})."
    )


def _wrong(arm: ArmReport, say: Say) -> Iterator[str]:
    passed, failed = arm.false_positives, arm.false_negatives
    if passed.value is None:
        yield f"The evaluator passed nothing of {say(arm.arm)}."
    else:
        yield (
            f"Of what the evaluator passed for {say(arm.arm)}, {percent(passed.value)} was wrong by the held-out check "
            f"(95 %: {interval(passed)})."
        )
    if failed.value is not None:
        yield f"Of what it failed, {percent(failed.value)} was right ({interval(failed)})."


def _elsewhere(judged: Sequence[ArmReport], arm: ArmReport) -> str:
    rest = [one for one in judged if one is not arm]
    others = [one.false_positives.value for one in rest if one.false_positives.value is not None]
    if not others or arm.false_positives.value is None:
        return ""
    low, high = min(others), max(others)
    span = percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"
    which = "arm" if len(others) == 1 else "arms"
    passing = "" if len(others) == len(rest) else " of which it passed anything"
    return f" In the other {which}{passing} {span} of what it passed was wrong."
