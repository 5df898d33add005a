"""Names the first thing in which a request differs from the recorded one."""

from __future__ import annotations

_CONTEXT = 30


def first_difference(recorded: object, asked: object, where: str = "") -> str:
    """In words, for plain data as a journal keeps it."""
    place = where or "it"
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for name in sorted(recorded.keys() | asked.keys()):
            inside = f"{where}.{name}" if where else str(name)
            if name not in recorded:
                return f"{inside} is new"
            if name not in asked:
                return f"{inside} is gone"
            if recorded[name] != asked[name]:
                return first_difference(recorded[name], asked[name], inside)
    if isinstance(recorded, list) and isinstance(asked, list):
        for number, (there, here) in enumerate(zip(recorded, asked, strict=False)):
            if there != here:
                return first_difference(there, here, f"{where}[{number}]")
        return f"{place} had {len(recorded)} entries, now {len(asked)}"
    if isinstance(recorded, str) and isinstance(asked, str):
        pairs = zip(recorded, asked, strict=False)
        shorter = min(len(recorded), len(asked))
        at = next((number for number, (there, here) in enumerate(pairs) if there != here), shorter)
        was, now = recorded[at : at + _CONTEXT], asked[at : at + _CONTEXT]
        return f"{place} differs at character {at}: was {was!r}, now {now!r}"
    return f"{place} was {str(recorded)[:80]!r}, now {str(asked)[:80]!r}"
