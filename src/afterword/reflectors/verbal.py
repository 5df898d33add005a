"""The verbal reflector: a model writes the lesson of a failed trial, its shape is checked, it is asked again once.

What differs between families is the `Domain`: what an attempt is called, how it is shown, and two worked examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from afterword.core.bounds import cut, quote_untrusted, show_steps
from afterword.core.messages import ChatRequest, Message, Reply
from afterword.core.protocols import Model, ReflectContext
from afterword.core.records import Reflection
from afterword.errors import BudgetExhausted
from afterword.reflectors.lesson import Lesson, directives_in, match_check, read_lesson
from afterword.reflectors.parts import Part, text_part, unchecked
from afterword.reflectors.shape import EXPLANATIONS, Material, Problem, check_shape, find_evidence, without_claims
from afterword.templates import render

_PACKAGE = "afterword.reflectors"
MAX_LESSON_CHARS = 1_200
MAX_INSTRUCTIONS_CHARS = 3_000


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: a failed trial as a prompt shows it, and the lesson drawn from it."""

    instructions: str
    attempt: str
    report: str
    lesson: str
    number: int = 1
    earlier: str = ""
    """The lesson of trial 1 that was before it, if there was one."""
    without: Mapping[str, str] = field(default_factory=dict)
    """The lesson as it is without one of its parts, by the part."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The templates of a domain: files in the `prompts` folder of a package."""

    package: str = _PACKAGE
    system: str = "verbal_system.jinja"
    """What a lesson is; it gets `noun`, and `without`: the part that it is not asked for."""
    trial: str = "verbal_trial.jinja"
    """A failed trial; it gets `instructions`, `noun`, `number`, `attempt`, `report` and `lessons`."""
    again: str = "verbal_again.jinja"
    """The second question; it gets `problems` and `number`."""


PROGRAM_PROMPTS = Prompts()
ANSWER_PROMPTS = Prompts(system="answer_system.jinja")
PLAY_PROMPTS = Prompts(system="play_system.jinja")
"""For games: the lesson finds the action that was wrong, what it should have been and what would have followed."""


@dataclass(frozen=True, slots=True)
class Domain:
    """What a family tells its reflector."""

    noun: str
    """What an attempt is called: `program`, `answer`, `play`."""
    examples: tuple[Example, ...]
    """Two, shown as earlier turns of the talk: a weak model copies those, and repeats instructions."""
    show_attempt: Callable[[ReflectContext], str]
    """The trajectory as it stands in the prompt, bounded and marked where it is untrusted."""
    show_report: Callable[[ReflectContext], str]
    """The same for the feedback."""
    common_names: Callable[[ReflectContext], frozenset[str]] = lambda _: frozenset()
    """Names that prove nothing when a lesson quotes them."""
    prompts: Prompts = PROGRAM_PROMPTS
    localises: bool = False
    """Whether a lesson has to name an action of the trial and what would have followed from another one."""


@dataclass(frozen=True, slots=True)
class VerbalReflector:
    """Asks a model for the lesson, and once more if its shape is wrong."""

    model: Model
    domain: Domain
    temperature: float | None = 0.2
    """The paper's logs use 0.2; None leaves it out, for models that refuse it."""
    max_tokens: int = 400
    """Room for a lesson of 200 tokens and the two last lines."""
    without: frozenset[Part] = frozenset()
    """What is not asked for, to find out what it is worth."""

    async def reflect(self, context: ReflectContext) -> Reflection:
        """The lesson, with the problems of its shape that are left; its text is empty if the model said nothing."""
        request = self.request(context)
        reply = await context.effects.complete("reflector", self.model, request)
        first = self._read(reply, context)
        if not first.problems:
            return first
        try:
            again = await context.effects.complete("reflector", self.model, self._again(request, reply, first))
        except BudgetExhausted:
            return first  # it is paid for; the stop rules end the loop, if need be
        second = self._read(again, context)
        return min(second, first, key=lambda reflection: (not reflection.text, len(reflection.problems)))

    def request(self, context: ReflectContext) -> ChatRequest:
        """The first request for a lesson."""
        prompts = self.domain.prompts
        lacking = text_part(self.without)
        system = render(prompts.package, prompts.system, {"noun": self.domain.noun, "without": lacking})
        messages = [Message("system", system)]
        for example in () if Part.EXAMPLES in self.without else self.domain.examples:
            earlier = ((1, example.earlier),) if example.earlier else ()
            shown = self._prompt(example.instructions, example.number, example.attempt, example.report, earlier)
            lesson = example.without[lacking] if lacking else example.lesson
            messages += [Message("user", shown), Message("assistant", lesson.strip())]
        attempt, report = self.domain.show_attempt(context), self.domain.show_report(context)
        lessons = tuple((lesson.trial, lesson.text) for lesson in context.lessons)
        messages.append(
            Message("user", self._prompt(context.task.instructions, context.trial.number, attempt, report, lessons))
        )
        return ChatRequest(tuple(messages), self.max_tokens, self.temperature)

    def _read(self, reply: Reply, context: ReflectContext) -> Reflection:
        """The lesson of a reply; that it lacks what it was not asked for is no problem of it."""
        lesson = _to_reflection(reply, context, self.domain)
        if not self.without:
            return lesson
        ignored = unchecked(self.without)
        return replace(lesson, problems=tuple(problem for problem in lesson.problems if problem not in ignored))

    def _prompt(
        self, instructions: str, number: int, attempt: str, report: str, lessons: tuple[tuple[int, str], ...]
    ) -> str:
        values = {
            "instructions": cut(instructions.strip(), MAX_INSTRUCTIONS_CHARS),
            "noun": self.domain.noun,
            "number": number,
            "attempt": attempt.strip("\n"),
            "report": report.strip("\n"),
            "lessons": [
                {"trial": trial, "text": " ".join(cut(text, MAX_LESSON_CHARS).split())} for trial, text in lessons
            ],
        }
        return render(self.domain.prompts.package, self.domain.prompts.trial, values)

    def _again(self, request: ChatRequest, reply: Reply, first: Reflection) -> ChatRequest:
        problems = [EXPLANATIONS[Problem(problem)] for problem in first.problems]
        prompts = self.domain.prompts
        note = render(prompts.package, prompts.again, {"problems": problems, "number": first.trial})
        said = cut(reply.text.strip(), 2 * MAX_LESSON_CHARS)
        *earlier, user = request.messages
        if said:
            messages = (*earlier, user, Message("assistant", said), Message("user", note))
        else:  # providers refuse an empty message
            messages = (*earlier, Message("user", f"{user.content}\n\n{note}"))
        return ChatRequest(messages, self.max_tokens, self.temperature)


def _to_reflection(reply: Reply, context: ReflectContext, domain: Domain) -> Reflection:
    material = material_of(context, domain)
    lesson, copied = _without_copied(read_lesson(reply.text), material)
    shown = {earlier.trial for earlier in context.lessons}
    disputed = match_check(lesson.disputes, context.trial.feedback.failed_ids) if lesson.disputes else None
    problems = [*check_shape(lesson.text, material, cut=reply.finish == "length"), *_unknown(lesson, shown, disputed)]
    if copied:
        problems.append(Problem.COPIED)
    text = without_claims(lesson.text) if Problem.FALSE_CLAIM in problems else lesson.text
    return Reflection(
        text=cut(text, MAX_LESSON_CHARS),
        trial=context.trial.number,
        evidence=cut(find_evidence(lesson.text, material), 200),
        retracts=tuple(number for number in lesson.retracts if number in shown),
        disputes=disputed,
        problems=tuple(problem.value for problem in problems),
    )


def _without_copied(lesson: Lesson, material: Material) -> tuple[Lesson, bool]:
    """The lesson without directives that the trial's own output holds: a program must not retract a lesson."""
    printed = directives_in(material.sources)
    retracts = tuple(number for number in lesson.retracts if number not in printed.retracts)
    disputes = "" if lesson.disputes and lesson.disputes in printed.disputes else lesson.disputes
    return Lesson(lesson.text, retracts, disputes), (retracts, disputes) != (lesson.retracts, lesson.disputes)


def _unknown(lesson: Lesson, shown: set[int], disputed: str | None) -> list[Problem]:
    problems = []
    # Where there was no lesson, the line is only copied from the examples and misleads nobody.
    if shown and any(number not in shown for number in lesson.retracts):
        problems.append(Problem.UNKNOWN_LESSON)
    if lesson.disputes and disputed is None:
        problems.append(Problem.UNKNOWN_CHECK)
    return problems


def show_play(limit: int) -> Callable[[ReflectContext], str]:
    """How a trajectory of steps is shown: thoughts, actions and marked observations, the largest of them cut first."""

    def show(context: ReflectContext) -> str:
        trajectory = context.trial.trajectory
        shown = show_steps(trajectory.steps, limit)
        ending = [f"Output: {cut(trajectory.output.strip(), limit // 4)}"] if trajectory.output.strip() else []
        return "\n".join([shown, *ending] if shown else ending) or "Nothing was done."

    return show


def show_message(limit: int) -> Callable[[ReflectContext], str]:
    """How a verdict is shown: its reason and message, bounded and marked."""

    def show(context: ReflectContext) -> str:
        feedback = context.trial.feedback
        return quote_untrusted(cut(feedback.message.strip() or feedback.reason or "It failed.", limit))

    return show


def material_of(context: ReflectContext, domain: Domain) -> Material:
    """What the lesson of this trial can quote."""
    feedback, trajectory = context.trial.feedback, context.trial.trajectory
    steps = (part for step in trajectory.steps for part in (step.action, step.observation) if part)
    passed = tuple(check.id for check in feedback.checks if check.passed)
    actions = tuple(step.action for step in trajectory.steps) if domain.localises else ()
    return Material(
        instructions=context.task.instructions,
        sources=(feedback.message, *(check.message for check in feedback.checks), trajectory.output, *steps),
        check_ids=(*feedback.failed_ids, *passed),
        common_names=domain.common_names(context),
        actions=actions,
        examples=tuple(text for example in domain.examples for text in (example.lesson, *example.without.values())),
    )
