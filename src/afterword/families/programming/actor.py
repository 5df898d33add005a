"""The actor of the programming family: one model call that writes the whole program anew.

It is the paper's coding agent. What a trial hands to the next is decided by the strategy: `context.lessons` and
`context.previous` are empty where the strategy does not carry them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterword.core.bounds import cut, fence, quote_untrusted
from afterword.core.messages import ChatRequest, Message, Reply
from afterword.core.protocols import ActContext, Model
from afterword.core.records import Feedback, Step, Task, Trajectory, Trial
from afterword.evaluators.languages import LANGUAGES, Language
from afterword.families.programming.extraction import extract_code
from afterword.families.programming.file_reply import extract_file
from afterword.families.programming.language_reply import extract_program
from afterword.templates import render

_PACKAGE = "afterword.families.programming"


@dataclass(frozen=True, slots=True)
class PromptBounds:
    """How much of each part enters a prompt, in characters; what is cut leaves a visible mark."""

    code: int = 6_000
    """Of the previous program."""
    feedback: int = 2_000
    """Of the previous feedback."""
    lesson: int = 1_200
    """Of each lesson; the memory bounds their number."""


@dataclass(frozen=True, slots=True)
class ProgramActor:
    """Asks a model for the program, once a trial."""

    model: Model
    temperature: float | None = 0.0
    """The paper's logs use 0 for code; None leaves it out, for models that refuse it."""
    max_tokens: int = 1024
    bounds: PromptBounds = PromptBounds()

    async def act(self, context: ActContext) -> Trajectory:
        """The program of the model's reply; `no_output` for an empty, cut or code-less one."""
        request = self.request(context)
        reply = await context.effects.complete("actor", self.model, request)
        return _read(reply, context.task, self.max_tokens)

    def request(self, context: ActContext) -> ChatRequest:
        """The request of a trial: what stays the same first, the lessons last."""
        system = _system_prompt(context.task)
        # A sampling arm would get the same answer again from a provider that honours seeds.
        sampled = bool(self.temperature)
        return ChatRequest(
            messages=(Message("system", system), Message("user", self._task_prompt(context))),
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=context.effects.random("actor").getrandbits(31) if sampled else None,
        )

    def _task_prompt(self, context: ActContext) -> str:
        task = context.task
        lessons = [
            {"trial": lesson.trial, "text": " ".join(cut(lesson.text, self.bounds.lesson).split())}
            for lesson in context.lessons
        ]
        signature = signature_of(task)
        values = {
            "kind": kind_of(task),
            "instructions": task.instructions.strip(),
            "signature": fence(signature, language_of(task)) if signature else "",
            "entry_point": entry_point_of(task),
            "file": file_of(task),
            "content": self._content(task) if context.previous is None else "",
            "previous": self._previous(context.previous, task) if context.previous is not None else None,
            "lessons": lessons,
        }
        return render(_PACKAGE, "actor_task.jinja", values)

    def _content(self, task: Task) -> str:
        """What stands in the file now, where the program is a file."""
        content = task.inputs.get("content")
        return fence(cut(content, self.bounds.code), language_of(task)) if isinstance(content, str) else ""

    def _previous(self, trial: Trial, task: Task) -> dict[str, object]:
        code = trial.trajectory.output
        return {
            "number": trial.number,
            "code": fence(cut(code, self.bounds.code), language_of(task)) if code.strip() else "",
            "report": report_of(trial.feedback, self.bounds.feedback),
        }


def _system_prompt(task: Task) -> str:
    if (file := file_of(task)) is not None:
        return render(_PACKAGE, "actor_file_system.jinja", {"file": file, "language": language_of(task)})
    if (language := other_language_of(task)) is not None:
        values = {"title": language.title, "kind": kind_of(task), "tag": language.fences[0], "advice": language.advice}
        return render(_PACKAGE, "actor_language_system.jinja", values)
    return render(_PACKAGE, "actor_system.jinja", {"kind": kind_of(task)})


def report_of(feedback: Feedback, limit: int) -> str:
    """A verdict as it stands in a prompt: what failed, then the message, bounded and marked as data."""
    message = feedback.message.strip()
    lines = []
    if feedback.checks and "checks passed" not in message.partition("\n")[0]:  # further down a program may say so
        lines.append(f"{feedback.checks_passed} of {len(feedback.checks)} checks passed.")
    if unnamed := [name for name in feedback.failed_ids if name not in message]:
        lines.append(cut(f"Failed: {', '.join(unnamed)}", 400))
    lines.append(quote_untrusted(cut(message, limit)))
    return "\n".join(lines)


def entry_point_of(task: Task) -> str:
    """The name that the tests import."""
    return str(task.inputs.get("entry_point", ""))


def file_of(task: Task) -> str | None:
    """The file that the program is written to, where a command judges it; None for function tests."""
    file = task.inputs.get("file")
    return file if isinstance(file, str) else None


def language_of(task: Task) -> str:
    """The tag of the program's fenced block; empty where it is not known."""
    return str(task.inputs.get("language", "python"))


def other_language_of(task: Task) -> Language | None:
    """The language of a program that is not Python and is judged by tests in its own language."""
    return LANGUAGES.get(language_of(task)) if file_of(task) is None else None


def signature_of(task: Task) -> str | None:
    """The line or lines that the program has to begin its definition with, if the task states them."""
    signature = task.inputs.get("signature")
    return signature if isinstance(signature, str) and signature.strip() else None


def kind_of(task: Task) -> str:
    """`class`, `type` or `function`, as the signature says."""
    signature = (signature_of(task) or "").lstrip()
    if re.search(r"^(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union)\s", signature, re.MULTILINE):
        return "type"
    return "class" if signature.startswith("class ") else "function"


def _read(reply: Reply, task: Task, max_tokens: int) -> Trajectory:
    steps = (Step(action=reply.text),) if reply.text.strip() else ()
    if not reply.text.strip():
        detail = f"The reply was empty: it has to hold the program in a ```{language_of(task)} block."
        return Trajectory("", (), "no_output", detail)
    if reply.finish == "length":
        detail = f"The reply was cut at {max_tokens} tokens before it was complete: write a shorter program, no prose."
        return Trajectory("", steps, "no_output", detail)
    if (file := file_of(task)) is not None:
        return _read_file(reply.text, file, task, steps)
    code = _program_in(reply.text, task)
    if code is None:
        detail = f"The reply held no program: it has to hold the complete module in a ```{language_of(task)} block."
        return Trajectory("", steps, "no_output", detail)
    return Trajectory(code, steps)


def _program_in(text: str, task: Task) -> str | None:
    if (language := other_language_of(task)) is not None:
        return extract_program(text, language, entry_point_of(task), signature_of(task))
    return extract_code(text, entry_point_of(task), signature_of(task))


def _read_file(text: str, file: str, task: Task, steps: tuple[Step, ...]) -> Trajectory:
    content = extract_file(text, file, language_of(task), entry_point_of(task))
    if content is None:
        detail = f"The reply held no file: it has to hold the complete {file} in one fenced block."
        return Trajectory("", steps, "no_output", detail)
    return Trajectory(content, steps)
