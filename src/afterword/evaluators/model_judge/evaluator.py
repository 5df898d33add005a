"""`ModelJudge`: a model reads an attempt against a rubric in words and says whether it passes.

The weakest kind of verdict: `trust` is `model`. A reply that cannot be read is asked for once more and then is a fault;
it never becomes a score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from afterword.core.bounds import cut, quote_untrusted, show_steps
from afterword.core.effects import Metered, fingerprint
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import EvaluateContext, Model
from afterword.core.records import CheckResult, Feedback
from afterword.errors import InputError, MalformedReply
from afterword.evaluators.model_judge.reading import Judgement, read_judgement
from afterword.templates import render

ROLE = "judge"
CHECK_ID = "judge"
_PACKAGE = "afterword.evaluators.model_judge"
_PROMPTS = ("judge_system.jinja", "judge.jinja", "judge_again.jinja")
_MAX_INSTRUCTIONS = 6_000
_MAX_SAID = 1_500
_MAX_STEPS_CHARS = 12_000
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "verdict": {"type": "string", "enum": ["pass", "fail"]}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
"""The reason first: a model that has written it down judges better than one that has to explain a verdict."""

Show = Callable[[EvaluateContext], str]
"""An attempt as the judge gets to see it, without the bars that mark it."""


def shown_output(context: EvaluateContext) -> str:
    """The final output."""
    return context.trajectory.output


def shown_steps(context: EvaluateContext) -> str:
    """Thoughts, actions and observations, bounded, and the final output."""
    steps = show_steps(context.trajectory.steps, _MAX_STEPS_CHARS)
    return f"{steps}\n\nFinal output:\n{context.trajectory.output}" if steps else context.trajectory.output


@dataclass(frozen=True)
class ModelJudge:
    """Judges an attempt by a rubric, with the majority of `votes` replies; a tie fails.

    Raises:
        InputError: the rubric is empty, or several votes are asked of a model that is not sampled.
    """

    model: Model
    rubric: str
    votes: int = 1
    temperature: float | None = 0.0
    """Above 0 for several votes; None leaves it out, for models that refuse it."""
    max_tokens: int = 1024
    show: Show = shown_output
    max_chars: int = 24_000
    """A longer attempt fails unread: nobody can vouch for what was cut."""

    check_ids = (CHECK_ID,)

    def __post_init__(self) -> None:
        if not self.rubric.strip():
            raise InputError("a model judge needs a rubric: what an attempt has to fulfil to pass")
        if self.votes < 1:
            raise InputError(f"a model judge needs at least one vote, found {self.votes}")
        if self.votes > 1 and self.temperature == 0:
            raise InputError(f"{self.votes} votes at temperature 0 are one vote; sample them, e.g. at 0.7")

    @cached_property
    def fingerprint(self) -> str:
        """Changes with whatever decides a verdict: model, rubric, votes, prompts."""
        folder = resources.files(_PACKAGE) / "prompts"
        prompts = [(folder / name).read_text("utf-8") for name in _PROMPTS]
        settings = (self.votes, self.temperature, self.max_tokens, self.max_chars, self.show.__qualname__)
        return fingerprint("model_judge", self.model.name, self.rubric, settings, prompts)

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict.

        Raises:
            MalformedReply: a reply could not be read, and neither could the one after it.
            BudgetExhausted, ModelFault: as `Effects.complete`.
        """
        attempt = self.show(context)
        if len(attempt) > self.max_chars:
            return _too_long(len(attempt), self.max_chars)

        async def judge() -> Feedback:
            return _verdict([await self._vote(context, attempt, number) for number in range(self.votes)])

        request = (self.fingerprint, context.task, attempt)
        return await context.effects.metered(context.role, request, judge, Metered[Feedback])

    def request(self, context: EvaluateContext, attempt: str, vote: int = 0) -> ChatRequest:
        """The request of one vote."""
        values = {
            "instructions": cut(context.task.instructions.strip(), _MAX_INSTRUCTIONS),
            "rubric": self.rubric.strip(),
            "attempt": quote_untrusted(attempt),
        }
        system = render(_PACKAGE, "judge_system.jinja", {})
        seed = context.effects.random(f"{ROLE} {vote}").getrandbits(31) if self.temperature else None
        return ChatRequest(
            (Message("system", system), Message("user", render(_PACKAGE, "judge.jinja", values))),
            self.max_tokens,
            self.temperature,
            seed=seed,
            schema=SCHEMA,
        )

    async def _vote(self, context: EvaluateContext, attempt: str, number: int) -> Judgement:
        request = self.request(context, attempt, number)
        reply = await context.effects.complete(ROLE, self.model, request)
        if (first := read_judgement(reply.text)) is not None:
            return first
        said = cut(reply.text, _MAX_SAID).strip() or "(nothing)"  # providers refuse an empty message
        note = Message("user", render(_PACKAGE, "judge_again.jinja", {}))
        messages = (*request.messages, Message("assistant", said), note)
        again = ChatRequest(messages, self.max_tokens, self.temperature, seed=request.seed, schema=SCHEMA)
        reply = await context.effects.complete(ROLE, self.model, again)
        if (second := read_judgement(reply.text)) is not None:
            return second
        raise MalformedReply(
            f"{self.model.name} was asked twice for a verdict on task {context.task.id!r} and gave none that can be "
            f"read, last {cut(' '.join(reply.text.split()), 120)!r}; take another judge model",
            model=self.model.name,
        )


def _verdict(votes: list[Judgement]) -> Feedback:
    passing = sum(vote.passed for vote in votes)
    passed = 2 * passing > len(votes)
    failing = [vote.reason for vote in votes if not vote.passed and vote.reason]
    lines = [f"{len(votes) - passing} of {len(votes)} votes: does not pass"] if len(votes) > 1 else []
    message = "" if passed else "\n".join([*lines, *failing]) or "The judge says that it does not pass."
    return Feedback(
        passed=passed,
        score=1.0 if passed else passing / len(votes),
        trust="model",
        reason="ok" if passed else "failed",
        message=message,
        checks=(CheckResult(CHECK_ID, passed, message),),
        graded=len(votes) > 1,
    )


def _too_long(found: int, most: int) -> Feedback:
    message = f"The attempt has {found:,} characters, and the judge reads at most {most:,}: write less."
    return Feedback(False, 0.0, "model", "too_long", message, (CheckResult(CHECK_ID, False, message),))


def same_model_warning(judge: str, actor: str) -> str | None:
    """What a person should know if the actor is judged by its own model; None if it is not."""
    if judge.strip().lower() != actor.strip().lower():
        return None
    return f"the actor's own model judges it ({judge}): it passes its own mistakes; give another --judge-model"


__all__ = ["ModelJudge", "same_model_warning", "shown_output", "shown_steps"]
