"""The far side of a world in a process of its own: orders come in as lines of JSON, answers go out.

Apart from the near side (`child`), so that what runs beside a library that may crash is small. The end of its input
is its end; where the kernel can be asked, it ends with its parent even in the middle of a step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Protocol, TextIO

if sys.platform == "linux":
    from afterword.sandbox.jail.syscalls import PR_SET_PDEATHSIG, prctl

    def _ask_to_end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

else:

    def _ask_to_end_with_parent() -> None:
        """There, a process whose parent is gone ends when it next reads."""


class SyncWorld(Protocol):
    """A world as its library has it: synchronous, one at a time."""

    def reset(self) -> str: ...

    def step(self, action: str) -> tuple[str, bool, bool, float]:
        """The observation, whether the episode is over, whether it is won, and the grade."""
        ...

    def fingerprint(self) -> str: ...


def serve(open_world: Callable[[Mapping[str, object]], SyncWorld]) -> None:
    """Answers until the input ends; the first argument is the parent, the first line holds the world's settings."""
    _end_with(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints belongs into the log
    try:
        world = open_world(json.loads(sys.stdin.readline()))
    except Exception as error:  # noqa: BLE001 - told to the parent, which raises it
        _tell(answers, {"error": f"{type(error).__name__}: {error}", "missing": isinstance(error, ImportError)})
        return
    _tell(answers, {"ready": True})
    for line in sys.stdin:
        try:
            order = json.loads(line)
            if order["do"] == "open":
                world = open_world(order["settings"])
                _tell(answers, {"ready": True})
            else:
                _tell(answers, _answer(world, order))
        except Exception as error:  # noqa: BLE001 - told to the parent, which raises it
            _tell(answers, {"error": f"{type(error).__name__}: {error}"})


def _end_with(parent: int) -> None:
    _ask_to_end_with_parent()
    if os.getppid() != parent:  # it was gone before the kernel was asked
        os._exit(1)


def _answer(world: SyncWorld, order: Mapping[str, str]) -> dict[str, object]:
    if order["do"] == "reset":
        return {"observation": world.reset(), "done": False, "won": False, "reward": 0.0}
    if order["do"] == "step":
        observation, done, won, reward = world.step(order["action"])
        return {"observation": observation, "done": done, "won": won, "reward": reward}
    return {"fingerprint": world.fingerprint()}


def _tell(answers: TextIO, answer: Mapping[str, object]) -> None:
    print(json.dumps(answer), file=answers, flush=True)
