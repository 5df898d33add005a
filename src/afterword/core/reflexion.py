"""`Reflexion`: the loop with its parts put together and checked, ready to run on tasks.

It stands apart from the loop so that the loop stays one page: here are the defaults, the refusals and the
one synchronous door.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from afterword.core.budget import Allowance, Budget
from afterword.core.effects import Clock, Effects, SystemClock
from afterword.core.events import NoEvents
from afterword.core.functions import (
    ActFunction,
    EvaluateFunction,
    ReflectFunction,
    as_actor,
    as_evaluator,
    as_reflector,
)
from afterword.core.loop import Parts, run_loop
from afterword.core.memory import SlidingWindow
from afterword.core.protocols import (
    Actor,
    Evaluator,
    EventSink,
    Memory,
    Recorder,
    Reflector,
    StopRule,
)
from afterword.core.records import Outcome, Strategy, Task
from afterword.core.reset import refuse_unresettable
from afterword.core.rules import Rules
from afterword.core.stopping import (
    MaxCalls,
    MaxCost,
    MaxSeconds,
    MaxTokens,
    MaxTrials,
    Passed,
    RepeatedOutput,
    RepeatedReflection,
    first_of,
)
from afterword.errors import InputError


class Reflexion:
    """An agent that tries, is judged, and takes a lesson into the next try.

    Args:
        actor: attempts the task; an `Actor` or a function of an `ActContext` that returns the output.
        evaluator: judges the attempt; an `Evaluator` or a function that returns a bool, a grade or a `Feedback`.
        reflector: draws the lesson; a `Reflector` or a function that returns its text. Needed by the
            strategies that reflect.
        strategy: what a trial hands to the next; `reflexion` with a reflector, else `retry`.
        memory: where the lessons are kept; the last three by default (the paper's Ω for questions and games).
        retire_after: a lesson is no longer shown after so many trials that had it in the prompt and scored below
            the one it was drawn from; None keeps it.
        max_trials: most trials of a task.
        allowance: what a task may spend.
        stop: rules besides those that follow from the arguments, e.g. `Plateau()` or a `Cancellation`.
        stop_when_passed: whether a trial that passes ends the loop; False spends all trials and submits the best.
        stop_on_repetition: whether repeated lessons and, unless the strategy is `retry`, repeated outputs end
            the loop.
        held_out: judges the passing or else the best output after the loop; nothing of it flows back.
        accept_each: whether it also judges then what had been submitted if the loop had ended with each trial, as a
            comparison by trial or by spending needs it: `Outcome.accepted_by_trial`.
        rules: what a person approved of other tasks' lessons, for the actor's system prompt.

    Raises:
        InputError: the parts do not fit together.
        NotResettable: the actor acts on a world and offers no reset.
        IrreversibleTool: the actor has a tool that cannot be tried again.
    """

    def __init__(
        self,
        actor: Actor | ActFunction,
        evaluator: Evaluator | EvaluateFunction,
        reflector: Reflector | ReflectFunction | None = None,
        *,
        strategy: Strategy | str | None = None,
        memory: Memory | None = None,
        retire_after: int | None = 2,
        max_trials: int = 4,
        allowance: Allowance | None = None,
        stop: Sequence[StopRule] = (),
        stop_when_passed: bool = True,
        stop_on_repetition: bool = True,
        held_out: Evaluator | EvaluateFunction | None = None,
        accept_each: bool = False,
        rules: Rules | None = None,
    ) -> None:
        _refuse_wrong_types(max_trials, allowance, memory, stop)
        if retire_after is not None and retire_after < 1:
            raise InputError(f"retire_after is a number of trials from 1, or None, found {retire_after!r}")
        self.strategy = _strategy(strategy, reflector is not None)
        self.allowance = allowance or Allowance()
        self.rules = rules
        refuse_unresettable(actor)
        stop_rules = _rules(self.strategy, max_trials, self.allowance, stop_when_passed, stop_on_repetition)
        self.parts = Parts(
            actor=as_actor(actor),
            evaluator=as_evaluator(evaluator),
            reflector=None if reflector is None else as_reflector(reflector),
            memory=SlidingWindow() if memory is None else memory,
            stop=first_of(*stop_rules, *stop),
            strategy=self.strategy,
            held_out=None if held_out is None else as_evaluator(held_out),
            retire_after=retire_after,
            accept_each=accept_each,
        )

    async def run(
        self,
        task: Task | str,
        *,
        arm: str | None = None,
        seed: int = 0,
        recorder: Recorder | None = None,
        events: EventSink | None = None,
        clock: Clock | None = None,
    ) -> Outcome:
        """Runs the loop on one task and returns what it came to.

        A plain text is a task with itself as instructions. A run is a function of the task, the parts, the
        seed and what the recorder returns.

        Raises:
            InputError: bad input that only showed on the way, e.g. a cost budget without a price. A fault is
                not raised: it is in the outcome.
        """
        if isinstance(task, str):
            task = Task(id="task", instructions=task)
        if not isinstance(task, Task):
            raise InputError(f"a run takes a Task or its instructions as text, found {type(task).__name__}")
        effects = self.effects(task, arm=arm, seed=seed, recorder=recorder, events=events, clock=clock)
        return await run_loop(task, self.parts, effects)

    def effects(
        self,
        task: Task,
        *,
        arm: str | None = None,
        seed: int = 0,
        recorder: Recorder | None = None,
        events: EventSink | None = None,
        clock: Clock | None = None,
    ) -> Effects:
        """What `run` gives to the parts, for whoever calls one of them outside of the loop: with a whole allowance."""
        return Effects(
            task=task.id,
            arm=self.strategy if arm is None else arm,
            seed=seed,
            recorder=recorder,
            budget=Budget(self.allowance),
            events=NoEvents() if events is None else events,
            clock=SystemClock() if clock is None else clock,
            rules="" if self.rules is None else self.rules.text_for(task),
        )

    def run_sync(
        self,
        task: Task | str,
        *,
        arm: str | None = None,
        seed: int = 0,
        recorder: Recorder | None = None,
        events: EventSink | None = None,
        clock: Clock | None = None,
    ) -> Outcome:
        """`run` for code that is not asynchronous; it starts an event loop of its own.

        Raises:
            InputError: an event loop is running here already.
        """
        import anyio  # here: it brings asyncio along, half of the time to import this package

        _refuse_inside_an_event_loop()
        return anyio.run(partial(self.run, task, arm=arm, seed=seed, recorder=recorder, events=events, clock=clock))


def _refuse_inside_an_event_loop() -> None:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InputError("run_sync was called inside an event loop (a notebook has one); write `await ….run(task)` instead")


def _refuse_wrong_types(max_trials: object, allowance: object, memory: object, stop: object) -> None:
    """Says what an argument should be, where otherwise an error from deep inside would."""
    if type(max_trials) is not int:
        raise InputError(f"max_trials is an int, found {max_trials!r}")
    if not isinstance(allowance, Allowance | None):
        raise InputError(f"allowance is an Allowance(calls=…, tokens=…, cost_usd=…, seconds=…), found {allowance!r}")
    if memory is not None and not hasattr(memory, "remember"):
        raise InputError(f"memory is a Memory, e.g. SlidingWindow(3), found {memory!r}")
    rules = list(stop) if isinstance(stop, Sequence) else [stop]
    for rule in rules:
        if not callable(getattr(rule, "check", None)) or not isinstance(stop, Sequence):
            raise InputError(f"stop is a list of rules with a method check, e.g. [Plateau()], found {rule!r}")


def _strategy(strategy: Strategy | str | None, reflector: bool) -> Strategy:
    if strategy is None:
        return Strategy.REFLEXION if reflector else Strategy.RETRY
    try:
        chosen = Strategy(strategy)
    except ValueError:
        names = ", ".join(Strategy)
        raise InputError(f"unknown strategy {strategy!r}; choose one of {names}") from None
    if chosen.reflects and not reflector:
        raise InputError(f"the strategy {chosen} needs a reflector; give one, or choose retry or last_attempt")
    return chosen


def _rules(strategy: Strategy, max_trials: int, allowance: Allowance, passed: bool, repetition: bool) -> list[StopRule]:
    rules: list[StopRule] = [Passed()] if passed else []
    rules.append(MaxTrials(max_trials))
    if allowance.cost_usd is not None:
        rules.append(MaxCost(allowance.cost_usd))
    if allowance.tokens is not None:
        rules.append(MaxTokens(allowance.tokens))
    if allowance.calls is not None:
        rules.append(MaxCalls(allowance.calls))
    if allowance.seconds is not None:
        rules.append(MaxSeconds(allowance.seconds))
    if repetition:
        rules.append(RepeatedReflection())
        if strategy is not Strategy.RETRY:  # retrying samples: an equal output is chance there
            rules.append(RepeatedOutput())
    return rules
