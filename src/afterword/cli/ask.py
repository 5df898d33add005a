"""`--ask`: a person accepts, edits or replaces each lesson before it is remembered."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from afterword.core.protocols import ReflectContext, Reflector
from afterword.core.records import Reflection

QUESTION = "keep this lesson? [Enter] keep, [e] edit, [r] replace, [d] drop: "

Read = Callable[[str, str], str]
"""Asks with a prompt and a text to start from; returns the line."""


class AskingReflector:
    """A reflector whose every lesson is shown to a person, who has the last word."""

    def __init__(self, reflector: Reflector, show: Callable[[str], None], read: Read) -> None:
        self._reflector = reflector
        self._show = show
        self._read = read

    async def reflect(self, context: ReflectContext) -> Reflection | None:
        """The inner reflector's lesson as the person left it; None if it was dropped."""
        drafted = await self._reflector.reflect(context)
        draft = drafted or Reflection("", context.trial.number)

        async def ask() -> Reflection:
            # Not in a thread: one that waits for a line cannot be ended, and leaves the terminal without echo.
            return self._ask(draft)

        decided = await context.effects.effect("person", (draft,), ask, Reflection)
        return decided if decided.text.strip() else None

    def _ask(self, draft: Reflection) -> Reflection:
        self._show(draft.text)
        while True:
            answer = self._read(QUESTION, "").strip().lower()
            if answer in ("", "k", "keep"):
                return draft
            if answer in ("d", "drop"):
                return replace(draft, text="", retracts=(), disputes=None, source="person")
            if answer in ("e", "edit"):
                text = self._read("lesson: ", draft.text).strip() or draft.text
                return replace(draft, text=text, problems=(), source="person")
            if answer in ("r", "replace"):
                if text := self._read("lesson: ", "").strip():
                    return replace(draft, text=text, evidence="", problems=(), source="person")
                continue
            self._show(f"expected Enter, e, r or d, found {answer!r}")


def read_line(prompt: str, initial: str) -> str:
    """Asks on the terminal; `initial` stands in the line to be edited. The end of input keeps the lesson."""
    with _interruptible():
        if not (sys.stdin.isatty() and sys.stdout.isatty()):  # `input` would ask on stdout, which may be a file
            sys.stderr.write(prompt)
            sys.stderr.flush()
            return sys.stdin.readline()
        import readline  # on use: it changes how `input` behaves

        readline.set_startup_hook(lambda: readline.insert_text(initial))
        try:
            return input(prompt)
        except EOFError:
            return ""
        finally:
            readline.set_startup_hook(None)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends the question at once; a run that asks is then cancelled by its event loop, which stood still here.

    Raised through the loop instead, it would leave threads behind that the process waits for.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, before)
        if before is signal.default_int_handler:
            raise
        sys.stderr.write("\n")
        signal.raise_signal(signal.SIGINT)
        raise asyncio.CancelledError from None
    finally:
        signal.signal(signal.SIGINT, before)
