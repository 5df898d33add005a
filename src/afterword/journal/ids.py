"""Names of runs: the minute they were started and a word that is easy to type, `261201-0156-kova`.

They sort by time, since the word's first syllable stands for the second.
"""

from __future__ import annotations

import random
from datetime import datetime

_SYLLABLES = sorted(consonant + vowel for consonant in "bdfghjklmnprstvz" for vowel in "aeiou")


def new_id(now: float) -> str:
    """A name for a run that starts now (seconds since 1970)."""
    moment = datetime.fromtimestamp(now)
    second = _SYLLABLES[moment.second * len(_SYLLABLES) // 60]
    return f"{moment:%y%m%d-%H%M}-{second}{random.choice(_SYLLABLES)}{random.choice(_SYLLABLES)}"  # noqa: S311
