"""The Reflexion loop (paper, Algorithm 1), in its own words and order.

Act, evaluate, stop?, reflect, stop?, remember; then, once the loop has stopped, the held-out check. Nothing
is undone inside a trial: the world is reset before each one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from afterword.core import events
from afterword.core.effects import Effects
from afterword.core.faults import guard, record_of
from afterword.core.judging import accept_best, best_of, evaluate, prepare, status_of
from afterword.core.leaks import LeakAudit
from afterword.core.lessons import digests_of, to_retire
from afterword.core.protocols import ActContext, Actor, Evaluator, Memory, Progress, ReflectContext, Reflector, StopRule
from afterword.core.records import (
    Acceptance,
    FaultRecord,
    Leak,
    Outcome,
    Reflection,
    StopReason,
    Strategy,
    Task,
    Trajectory,
    Trial,
)
from afterword.core.reset import reset
from afterword.core.stopping import reads_time
from afterword.errors import BudgetExhausted, ComponentFault, Fault


@dataclass(frozen=True, slots=True)
class Parts:
    """What the loop is made of."""

    actor: Actor
    evaluator: Evaluator
    reflector: Reflector | None
    memory: Memory
    stop: StopRule
    strategy: Strategy
    held_out: Evaluator | None
    retire_after: int | None = 2
    """After so many trials that scored below a lesson's own with it in the prompt, it is no longer shown."""
    accept_each: bool = False
    """Whether the held-out check also judges, after the loop, what had been submitted if it ended with each trial."""


async def run_loop(task: Task, parts: Parts, effects: Effects) -> Outcome:
    """Runs trials until a stop rule, the budget or a fault ends them, then the held-out check."""
    trials: list[Trial] = []
    stopped: StopReason | None = None
    acceptance: Acceptance | None = None
    fault: FaultRecord | None = None
    by_trial: tuple[bool | None, ...] = ()
    leaks: tuple[Leak, ...] = ()
    effects.emit(events.RunStarted(task.id, parts.strategy))
    audit = LeakAudit(task, parts.held_out, parts.evaluator, effects)
    try:
        stopped = await _run_trials(task, parts, effects, trials)
        effects.emit(events.Stopped(task.id, effects.trial, stopped))
        audit.close()  # what is asked from here on may hold held-out text
        if parts.held_out is not None and trials:
            acceptance, by_trial = await accept_best(task, trials, parts.held_out, effects, each=parts.accept_each)
        leaks = audit.leaks(trials)
    except Fault as error:
        fault = record_of(error, effects.trial)
        effects.emit(events.Faulted(task.id, fault))
    best = best_of(trials)
    status = status_of(best, acceptance, fault is not None)
    usage = dict(effects.total_usage)
    outcome = Outcome(task.id, status, stopped, best, tuple(trials), acceptance, usage, fault, leaks, by_trial)
    effects.emit(events.RunEnded(task.id, outcome))
    return outcome


async def _run_trials(task: Task, parts: Parts, effects: Effects, trials: list[Trial]) -> StopReason:
    """The loop proper. A judged trial is in `trials` at once, so that nothing after it can lose it."""
    memory = parts.memory
    fresh_state: str | None = None
    try:
        timed = reads_time(parts.stop)
        if timed or effects.budget.allowance.seconds is not None:
            await effects.elapsed_s()  # starts the clock
        evaluator = await prepare(task, parts.evaluator, effects)
        while True:
            number = len(trials) + 1
            lessons = memory.lessons if parts.strategy.reflects else ()
            shown = tuple(lesson.trial for lesson in lessons)
            previous = trials[-1] if trials and parts.strategy.shows_last_attempt else None
            effects.begin_trial(number)
            effects.emit(events.TrialStarted(task.id, number, shown))
            fresh_state = await reset(parts.actor, fresh_state)

            context = ActContext(task, number, lessons, previous, effects)
            trajectory = await guard("actor", Trajectory, parts.actor.act, context)

            feedback = await evaluate(task, trajectory, evaluator, effects)
            trial = Trial(number, trajectory, feedback, None, shown, dict(effects.usage), digests_of(lessons))
            if retired := to_retire([*trials, trial], parts.retire_after):
                trial = replace(trial, retired=retired)
            trials.append(trial)
            effects.emit(events.Evaluated(task.id, number, feedback))

            if (reason := await _stop(parts.stop, timed, trials, effects)) is not None:
                return reason

            if not parts.strategy.reflects or parts.reflector is None:
                continue
            failed = ReflectContext(task, trials[-1], lessons, effects)
            reflection = None
            try:
                reflection = await guard("reflector", Reflection | None, parts.reflector.reflect, failed)
            finally:  # a refused or failed reflection may have cost calls too
                trials[-1] = replace(trials[-1], reflection=reflection, usage=dict(effects.usage))
            if reflection is not None:
                effects.emit(events.Reflected(task.id, number, reflection))

            if (reason := await _stop(parts.stop, timed, trials, effects)) is not None:
                return reason  # a repeated lesson is known only now

            memory = await _remember(memory, trials[-1], effects)
            if effects.usage != trials[-1].usage:  # a memory may ask a model
                trials[-1] = replace(trials[-1], usage=dict(effects.usage))
    except BudgetExhausted as refused:
        return StopReason(refused.limit)


async def _remember(memory: Memory, trial: Trial, effects: Effects) -> Memory:
    """The memory with the trial's lesson, without those that the lesson retracts or the score retires."""
    reflection = trial.reflection
    if trial.retired:
        effects.emit(events.Retired(effects.task, trial.number, trial.retired))
        reflection = reflection or Reflection("", trial.number)
        reflection = replace(reflection, retracts=(*reflection.retracts, *trial.retired))
    if reflection is None:
        return memory
    return await guard("memory", object, memory.remember, reflection, effects)


async def _stop(rule: StopRule, timed: bool, trials: list[Trial], effects: Effects) -> StopReason | None:
    elapsed_s = await effects.elapsed_s() if timed else 0.0
    progress = Progress(tuple(trials), effects.budget.spent, elapsed_s)
    try:
        return rule.check(progress)
    except Exception as error:
        raise ComponentFault("stop rule", error) from error  # never taken for "do not stop"
