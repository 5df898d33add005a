"""What an experiment asks at most, counted from its plan: told by a dry run, and before anything is spent.

Prompts count with one token for each character that they are bounded to. That is more than text takes (prose and code
take some 0.3), so what is really spent stays well below, and above only for scripts that take more than a token a
character.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from afterword.cli.cases import Case
from afterword.cli.experiment_file import Experiment
from afterword.cli.families import Item
from afterword.cli.families.interface import Sizes
from afterword.cli.roles import Role, Roles, roles_of
from afterword.cli.session import Start
from afterword.cli.text import counted, money, plain
from afterword.core.budget import token_bound
from afterword.core.messages import Price
from afterword.errors import InputError
from afterword.experiments.arms import Arm, arm_named
from afterword.experiments.bounds import ArmBound, CallBound, Cap, Most, most_of
from afterword.experiments.results import SELF_JUDGE
from afterword.families.programming.own_tests.writing import TestWriting
from afterword.models.opening import price_bound, split_name

LESSON_CHARS = 1_200
REFLECTOR_TOKENS = 400
JUDGE_CHARS = 14_000
JUDGE_TOKENS = 1_024
WRITER_CHARS = 4_000
MEMORY_CHARS = 2_000
MEMORY_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Bound:
    """The most of an experiment."""

    tasks: int
    arms: int
    seeds: int
    most: Most
    local: Most | None
    """Of it what a local model may be asked; None where there is none."""

    def hours(self, found: Experiment) -> float | None:
        """How long a local model writes and reads at most."""
        if self.local is None:
            return None
        return self.local.seconds(written=found.tokens_per_second, read=found.tokens_read_per_second) / 3600


def bound_of(start: Start) -> Bound:
    """The bound of all tasks, each with its own instructions.

    Raises:
        InputError: the allowance does not carry a single reply.
    """
    plan = start.plan
    cases = plan.cases
    allowance = plan.settings.allowance
    cap = Cap(allowance.calls, allowance.tokens, allowance.cost_usd)
    by_seed = [case for case in cases if case.seed == cases[0].seed]
    most = Most()
    for case in by_seed:
        refuse_out_of_reach(case, start.family.sizes(case.settings), "lower max_tokens under [models]")
    for row in start.items.rows():
        arms = tuple(_arm(row[case.variant], case, start.family.sizes(case.settings)) for case in by_seed)
        most = sum([most_of(arms, cap)] * len(plan.seeds or (0,)), most)
    local = most if any(_is_local(roles) for roles in plan.roles) else None
    return Bound(len(start.items), len(by_seed), len(plan.seeds or (0,)), most, local)


def refuse_out_of_reach(case: Case, sizes: Sizes, remedy: str) -> None:
    """Refuses an allowance within which an arm could ask nothing: it would give up on all tasks."""
    allowance, roles = case.settings.allowance, roles_of(case.settings.models, case.settings.strategy)
    reply = CallBound(1, 0, sizes.reply_tokens, _price(roles.actor)).one
    over = ""
    if allowance.tokens is not None and reply.tokens > allowance.tokens:
        over = counted(allowance.tokens, "token")
    if allowance.cost_usd is not None and reply.cost_usd is not None and reply.cost_usd > allowance.cost_usd:
        over = f"${allowance.cost_usd:g}"
    if over:
        raise InputError(
            f"an allowance of {over} does not carry one reply of up to {sizes.reply_tokens:,} tokens in the arm "
            f"{case.arm!r}; raise it, or {remedy}"
        )


def _arm(item: Item, case: Case, sizes: Sizes) -> ArmBound:
    """What one arm asks at most about one task."""
    settings = case.settings
    kind, roles = _kind(case), roles_of(settings.models, settings.strategy)
    trials = 1 if kind.one_trial else settings.max_trials
    attempts = settings.max_trials if kind.attempts else 1
    task = token_bound(f"{item.task.instructions}\n{json.dumps(dict(item.task.inputs), default=str)}")
    lessons = (settings.memory or 3) * (LESSON_CHARS + 100) if kind.strategy.reflects else 0
    previous = sizes.previous_chars if kind.strategy.shows_last_attempt else 0

    def asked(role: str, calls: int, chars: int, tokens: int) -> CallBound:
        return CallBound(calls, task + chars, tokens, _price(roles.named(role)))

    actor = asked("actor", trials * attempts * sizes.steps, sizes.prompt_chars + previous + lessons, sizes.reply_tokens)
    bounds = [actor]
    between = trials - 1  # the last trial is not reflected on
    if kind.asks_reflector and between:
        again = 2 * (LESSON_CHARS + 200)
        bounds.append(asked("reflector", 2 * between, sizes.failed_trial_chars + lessons + again, REFLECTOR_TOKENS))
    if kind.strategy.reflects and settings.memory_kind.asks_a_model and between:
        bounds.append(asked("memory", between, MEMORY_CHARS + lessons, MEMORY_TOKENS))
    seen = JUDGE_CHARS + 2 * sizes.reply_tokens * 4
    if kind.judges_itself:
        bounds.append(asked(SELF_JUDGE, 2 * trials, seen, JUDGE_TOKENS))
    uncharged = []
    if item.judge_calls:
        if kind.goes_by_evaluator and not kind.one_trial:
            bounds.append(asked("judge", trials * item.judge_calls, seen, JUDGE_TOKENS))
        if kind.one_trial or not kind.sees_evaluator:
            uncharged.append(asked("judge", item.judge_calls, seen, JUDGE_TOKENS))
    if sizes.looks:
        bounds.append(asked("judge", trials * attempts * sizes.looks, seen, JUDGE_TOKENS))
    if item.own_tests:
        bounds.append(asked("test_writer", _writings(case, between), WRITER_CHARS, TestWriting().max_tokens))
    first = replace(actor, calls=sizes.steps)
    alike = (roles.actor.name, roles.actor.options.base_url, roles.actor.temperature, settings.max_tokens, case.variant)
    # A vote is several attempts within one trial: as many as the allowance of that arm carries, and no other arm's.
    return ArmBound(case.arm, tuple(bounds), first, alike, kind.untold and not kind.attempts, tuple(uncharged))


def _kind(case: Case) -> Arm:
    return arm_named(case.settings.arm or case.settings.strategy)


def _writings(case: Case, between: int) -> int:
    """Most calls of a test writer: each suite may be asked for twice, a weak one for more, and disputes reviewed."""
    settings = case.settings
    reviews = between if settings.flag("test_review") and settings.strategy.reflects else 0
    return 2 * settings.number("consensus", 1) + 2 * settings.flag("mutation_check") + reviews


def _price(role: Role) -> Price | None:
    return price_bound(role.name, role.options)


def _is_local(roles: Roles) -> bool:
    return any(split_name(role.name)[0] == "local" for role in roles.played.values())


def told_bound(bound: Bound, found: Experiment) -> list[str]:
    """The bound in a few lines for a person."""
    plan = found.plan
    allowance = plan.settings.allowance
    limits = [counted(plan.settings.max_trials, "trial")]
    limits += [counted(allowance.calls, "call")] if allowance.calls else []
    limits += [counted(allowance.tokens, "token")] if allowance.tokens else []
    limits += [f"${allowance.cost_usd:g}"] if allowance.cost_usd else []
    most = bound.most
    lines = [
        f"{counted(bound.tasks, 'task')} x {counted(bound.arms, 'arm')} x {counted(bound.seeds, 'seed')}; "
        f"allowance of each: {', '.join(limits)}",
        f"at most {counted(most.calls, 'call')}, {most.tokens:,} tokens ({most.tokens_out:,} of them written), "
        f"{money(most.cost_usd)}; what arms share counted once",
    ]
    if (hours := bound.hours(found)) is not None:
        lines.append(
            f"a local model that writes {found.tokens_per_second:g} and reads {found.tokens_read_per_second:g} tokens "
            f"a second: at most {hours:,.1f} hours"
        )
    return [plain(line) for line in (*lines, *found.notes)]


def bound_json(bound: Bound, found: Experiment) -> dict[str, object]:
    """The bound as plain data."""
    most = bound.most
    return {
        "tasks": bound.tasks,
        "arms": [arm.name for arm in found.plan.arms],
        "seeds": list(found.plan.seeds),
        "at_most": {
            "calls": most.calls,
            "tokens": most.tokens,
            "tokens_in": most.tokens_in,
            "tokens_out": most.tokens_out,
            "cost_usd": most.cost_usd,
            "local_hours": bound.hours(found),
        },
        "notes": list(found.notes),
    }
