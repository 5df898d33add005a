"""Every exception of the package, and what it means for a run.

    AfterwordError
    ├── InputError                 bad usage or bad input: nothing was run (exit code 2)
    │   ├── BadTests               a test file that cannot be used, through no fault of the program it judges
    │   │   └── NoTests                it defines no check
    │   ├── NotResettable          an actor acts on a world that cannot be put back
    │   ├── IrreversibleTool       a tool whose effect cannot be undone stands inside the loop
    │   ├── UnknownPrice           a cost budget for a model whose price nobody stated
    │   ├── MissingExtra           an optional package is not installed
    │   ├── RecordingMismatch      a recording does not hold the request that was made
    │   │   └── ReplayMismatch         a resumed run asks for something else than its journal says
    │   ├── RunChanged             what a run was started with is not what it would be resumed with
    │   └── RunBusy                another process is at work on the run
    ├── JournalFault               the journal can no longer be written or read: the run stops, and can be resumed
    ├── BudgetExhausted            a call was refused since it could not be afforded: a stop, not a failure
    └── Fault                      something other than the agent failed (status `faulted`, exit code 3)
        ├── ModelFault             a model call got no usable answer
        │   ├── MissingKey             no key, or the provider refuses it
        │   ├── UnknownModel           the provider does not know this model
        │   ├── ModelUnreachable       refused, reset, no such host, bad certificate
        │   ├── RateLimited            still 429 after all tries
        │   ├── QuotaExceeded          the account has no credit left
        │   ├── ContentFiltered        the provider withheld the answer
        │   ├── ContextTooLong         the prompt does not fit the model
        │   ├── CallTimeout            no answer within the time limit
        │   ├── ServerFault            still 5xx after all tries
        │   ├── RequestRejected        the provider refuses the request's form (another 4xx)
        │   └── MalformedReply         an answer that is not what the protocol says
        ├── NoOwnTests             the test writer wrote no test that can be used
        ├── ArticlesUnreachable    an article store gives no usable answer
        ├── SandboxFault           the jail broke: no verdict
        ├── WorldFault             an environment broke: no observation
        ├── ResetFault             the reset did not bring back the first state
        ├── ReplayDiverged         a world answered a recorded action otherwise than before
        └── ComponentFault         an actor, evaluator or reflector raised

A wrong answer is none of these: it is a `Feedback`. Running out is a `StopReason`.
"""

from __future__ import annotations

from pathlib import Path


class AfterwordError(Exception):
    """The base of every error this package raises on purpose."""


class InputError(AfterwordError):
    """Bad usage or bad input; the message says what was expected, found, and what to do."""

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None) -> None:
        self.message = message
        self.file = file
        self.line = line
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(f"{where}{message}")


class BadTests(InputError):
    """Tests that cannot be used: they do not compile, fail by themselves, or use what is not supported."""

    reason = "bad_tests"


class NoTests(BadTests):
    """Tests that define no check."""

    reason = "no_tests"


class NotResettable(InputError):
    """An actor acts on a world and neither offers a reset nor declares itself stateless."""


class IrreversibleTool(InputError):
    """A tool marked irreversible cannot be tried again in every trial."""


class UnknownPrice(InputError):
    """A cost budget needs a price, and none is known for this model."""

    def __init__(self, model: str) -> None:
        self.model = model
        super().__init__(
            f"a cost budget needs the price of {model!r}, which is not known; "
            "state it (--price IN,OUT in USD per million tokens) or limit --tokens instead"
        )


class MissingExtra(InputError):
    """An optional package is needed and not installed."""

    def __init__(self, extra: str, package: str) -> None:
        self.extra = extra
        super().__init__(
            f"{package} is not installed; run: pip install 'afterword[{extra}]'",
        )


class RecordingMismatch(InputError):
    """A recording was asked for a request that it does not hold."""


class ReplayMismatch(RecordingMismatch):
    """A resumed run asks for something else at a place than its journal says it did; `first` is the difference."""

    def __init__(self, task: str, trial: int, role: str, n: int, first: str) -> None:
        self.task = task
        self.trial = trial
        self.role = role
        self.n = n
        self.first = first
        super().__init__(
            f"task {task!r}, trial {trial}, {role} {n}: the journal holds another request than the one made now: "
            f"{first}; resume with what the run was started with, or fork it"
        )


class RunChanged(InputError):
    """A run would be resumed with something else than it was started with; `names` says what differs."""

    def __init__(self, run: str, names: tuple[str, ...]) -> None:
        self.run = run
        self.names = names
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        super().__init__(
            f"run {run} was started with another {shown}; put back what it was, or start from one of its trials "
            f"with: afterword fork {run} --at TASK:TRIAL"
        )


class RunBusy(InputError):
    """Another process is at work on the run."""

    def __init__(self, run: str, holder: str) -> None:
        self.run = run
        self.holder = holder
        super().__init__(f"run {run} is being worked on by {holder}; wait until it ends, or end it")


class JournalFault(AfterwordError):
    """The journal can no longer be written or read. What was recorded is kept; the run can be resumed."""


class BudgetExhausted(AfterwordError):
    """A call was refused, before it was made, since the budget could not carry it.

    `limit` is one of `calls`, `tokens`, `cost`, `time`; `allowed` and `needed` are in its unit (calls,
    tokens, USD, seconds).
    """

    def __init__(self, limit: str, allowed: float, needed: float) -> None:
        self.limit = limit
        self.allowed = allowed
        self.needed = needed
        super().__init__(f"{limit} budget of {allowed:g} cannot carry a call that may need up to {needed:g} in all")


class Fault(AfterwordError):
    """Something other than the agent failed; nothing is concluded about the task."""


class ModelFault(Fault):
    """A model call got no usable answer; `model` is its `provider:name`."""

    def __init__(self, message: str, *, model: str) -> None:
        self.model = model
        super().__init__(message)


class MissingKey(ModelFault):
    """There is no key for this provider, or the provider refuses it."""


class UnknownModel(ModelFault):
    """The provider does not know this model."""


class ModelUnreachable(ModelFault):
    """The connection was refused or dropped, or the host or its certificate is wrong."""


class RateLimited(ModelFault):
    """The provider still answers 429 after all tries."""


class QuotaExceeded(ModelFault):
    """The account has no credit left; trying again does not help."""


class ContentFiltered(ModelFault):
    """The provider withheld the answer."""


class ContextTooLong(ModelFault):
    """The prompt does not fit the model's context."""


class CallTimeout(ModelFault):
    """No answer came within the time limit of the call."""


class ServerFault(ModelFault):
    """The provider still answers 5xx after all tries."""


class RequestRejected(ModelFault):
    """The provider refuses the form of the request, e.g. a parameter this model does not take."""


class MalformedReply(ModelFault):
    """The answer is not what the protocol says."""


class NoOwnTests(Fault):
    """A model was asked for tests and wrote none that can be used: there is nothing to judge by."""

    def __init__(self, task: str, model: str) -> None:
        self.task = task
        self.model = model
        super().__init__(
            f"{model} wrote no usable test for {task!r}: expected plain asserts on the entry point; "
            "choose another --test-writer-model or give visible checks"
        )


class ArticlesUnreachable(Fault):
    """An article store was asked and gave no usable answer after the last try; `store` is its address."""

    def __init__(self, message: str, *, store: str) -> None:
        self.store = store
        super().__init__(message)


class SandboxFault(Fault):
    """The jail broke; there is no verdict."""


class WorldFault(Fault):
    """An environment broke or cannot be reached; there is no observation."""


class ResetFault(Fault):
    """A reset did not bring back the state that the first trial started from."""


class ReplayDiverged(Fault):
    """A world that was taken through recorded actions again answered otherwise; the trial has to start again."""

    def __init__(self, task: str, trial: int, action: str, recorded: object, found: object) -> None:
        self.task = task
        self.trial = trial
        super().__init__(
            f"task {task!r}, trial {trial}: the world answered {action!r} with {str(found)[:200]!r}, and with "
            f"{str(recorded)[:200]!r} when it was recorded; the trial has to start again"
        )


class ComponentFault(Fault):
    """An actor, evaluator or reflector raised; `role` says which, `__cause__` what."""

    def __init__(self, role: str, cause: BaseException) -> None:
        self.role = role
        super().__init__(f"the {role} raised {type(cause).__name__}: {cause}")
