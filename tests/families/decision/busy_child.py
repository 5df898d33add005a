"""The program of a world whose first step never ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from afterword.families.decision.worlds.serving import serve


class Busy:
    """Reads no order any more once it was asked for a step."""

    def reset(self) -> str:
        return "Here."

    def step(self, action: str) -> tuple[str, bool, bool, float]:
        sys.stderr.write(f"at {action}\n")
        while True:
            time.sleep(0.1)

    def fingerprint(self) -> str:
        return ""


def open_world(settings: Mapping[str, object]) -> Busy:
    return Busy()


if __name__ == "__main__":
    serve(open_world)
