"""The families as the command line knows them: from sources and settings to items that the loop works on."""

from afterword.cli.families.interface import Bench, Family, Item, MakeReflector, Settings
from afterword.cli.families.registry import FAMILIES, family_named, family_of

__all__ = [
    "FAMILIES",
    "Bench",
    "Family",
    "Item",
    "MakeReflector",
    "Settings",
    "family_named",
    "family_of",
]
