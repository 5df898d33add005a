"""The program of a world whose library is not installed."""

from __future__ import annotations

from collections.abc import Mapping

from afterword.families.decision.worlds.serving import SyncWorld, serve


def open_world(settings: Mapping[str, object]) -> SyncWorld:
    raise ModuleNotFoundError("No module named 'alfworld'")


if __name__ == "__main__":
    serve(open_world)
