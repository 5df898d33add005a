"""The answer of a pilot in words, by rules from its numbers, so that terminal and JSON say the same."""

from __future__ import annotations

from collections.abc import Iterator

from afterword.experiments.pilot.deciding import Answer, Rules
from afterword.experiments.pilot.evidence import confidence_sequence
from afterword.experiments.pilot.ladder import Ladder, Rung
from afterword.experiments.pilot.tally import Standing
from afterword.experiments.statistics import Estimate


def verdict(seen: Standing) -> str:
    """One sentence: the answer and the number that it rests on."""
    single, retry, reflexion = seen.arms
    n = seen.tasks
    solved = (
        f"reflexion solved {reflexion.solved} of {_tasks(n)}, retry {retry.solved} and a single attempt {single.solved}"
    )
    match seen.answer:
        case Answer.USE:
            return f"Use it: {solved}; the gain over retry is {points(seen.difference)}."
        case Answer.RETRY if not any(arm.solved for arm in seen.arms):
            return (
                f"Retry is as good, but no arm solved any of {_tasks(n)}: they are too hard for this model, or their "
                "checks cannot be passed."
            )
        case Answer.RETRY if single.solved >= max(retry.solved, reflexion.solved):
            return f"Retry is as good, and so is a single attempt: {solved}; {_no_gain(seen)}."
        case Answer.RETRY:
            return f"Retry is as good: {solved}; {_no_gain(seen)}."
        case Answer.EVALUATOR:
            return (
                f"Fix the evaluator first: of what it passes, {percent(seen.false_positives)} is wrong by the held-out "
                f"check, and more than {_share(seen.rules.false_positives)} is too much to learn from."
            )
        case Answer.LESSONS:
            return f"Your model does not write useful lessons: {solved}; {_why_useless(seen)}."
        case Answer.MORE:
            return f"Not enough tasks to tell: {_missing(seen)}; so far {solved}." if n else _nothing(seen)


def _missing(seen: Standing) -> str:
    if seen.more is None:
        return "no number of tasks within reach would do, as near each other are the arms"
    return f"about {seen.more:,} more, if they are like these"


def _nothing(seen: Standing) -> str:
    if seen.unattempted:
        return (
            f"Not enough tasks to tell: of {_tasks(seen.unattempted)} the allowance carried no attempt, since their "
            "prompts are too long for it; raise what each arm may spend on a task."
        )
    if seen.faults:
        return f"Not enough tasks to tell: all {_tasks(seen.faults)} faulted, and nothing is concluded from those."
    return "Not enough tasks to tell: none was worked on in all three arms."


def _no_gain(seen: Standing) -> str:
    return f"what reflexion gains is less than {_points(seen.rules.margin)} ({points(seen.difference)})"


def _why_useless(seen: Standing) -> str:
    if seen.difference.high < 0:
        return f"with them it is worse than without ({points(seen.difference)})"
    if seen.useful.high < seen.rules.useful:
        return f"a trial got further with one in {percent(seen.useful)} of the tasks that had any"
    if seen.sound.high >= seen.rules.sound:
        return f"{exam_of(seen.rules)}, and nothing is gained with them"
    return (
        f"{percent(seen.sound)} of them quote what happened, prescribe a change and say something new, "
        "and nothing is gained with them"
    )


def exam_of(rules: Rules) -> str:
    """`in an exam they named 2 of 30 planted bugs: 7 % (interval 0 to 24)`."""
    share = confidence_sequence(rules.exam, rules.alpha)
    return f"in an exam they named {rules.exam_named:g} of {rules.exam_bugs:g} planted bugs: {percent(share)}"


def points(difference: Estimate) -> str:
    """`+12 points (interval +3 to +21)`."""
    if difference.value is None:
        return "not known"
    low, high = _signed(difference.low), _signed(difference.high)
    return f"{_signed(difference.value)} points (interval {low} to {high})"


def percent(share: Estimate) -> str:
    """`12 % (interval 4 to 31)`."""
    if share.value is None:
        return "not known"
    return f"{100 * share.value:.0f} % (interval {100 * share.low:.0f} to {100 * share.high:.0f})"


def _signed(value: float) -> str:
    whole = round(100 * value)
    return f"{whole:+d}" if whole else "0"


def _points(share: float) -> str:
    return f"{100 * share:g} points"


def _share(share: float) -> str:
    return f"{100 * share:g} %"


def _tasks(number: int) -> str:
    return f"{number:,} task" if number == 1 else f"{number:,} tasks"


def ladder_lines(found: Ladder) -> Iterator[str]:
    """A line for each rung."""
    single, *others = found.rungs
    yield f"single attempt: all {_tasks(single.tasks)} come to it, and it solves {single.solved} of them"
    for rung in others:
        yield _rung_line(rung)
    if found.check_passes == "all":
        yield "what the evaluator passes: a person looks at all of it until the evaluator is fixed"
    elif found.check_passes == "some":
        yield "what the evaluator passes: a person looks at samples; too many wrong ones cannot be ruled out yet"


def _rung_line(rung: Rung) -> str:
    came = f"{rung.reached} of {rung.tasks} tasks come to it"
    if rung.name == "person":
        return "person: what the stronger model fails too"
    if rung.trials is None:
        return f"{rung.name}: {came}, which the evaluator failed in every trial before"
    return f"{rung.name}: up to trial {rung.trials}; {came}, and it solves {rung.solved} of them"
