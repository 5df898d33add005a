"""Which models could be used here: keys by name, packages by their presence, the embedded model by its hash.

It looks and does not touch: no SDK is imported, nothing is sent, and no key is read beyond whether it is set.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from afterword.models.opening import default_model_name
from afterword.models.weights import EMBEDDED, hash_of, models_folder

KEY_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
URL_VARIABLES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
_PACKAGES = ("openai", "anthropic", "xllamacpp")

WeightsState = Literal["verified", "missing", "another file"]


@dataclass(frozen=True, slots=True)
class Availability:
    """What was found."""

    default_model: str
    """What a command without `--model` uses."""
    keys: tuple[str, ...]
    """The key variables that are set."""
    base_urls: tuple[str, ...]
    """The address variables that are set."""
    packages: tuple[str, ...]
    """Those of openai, anthropic and xllamacpp that are installed."""
    weights_path: Path
    """Where the embedded model lies, or would."""
    weights: WeightsState

    @property
    def local(self) -> bool:
        """Whether `local` can be used."""
        return self.weights == "verified" and "xllamacpp" in self.packages


def availability() -> Availability:
    """What could be used here. The hash of the embedded model is taken only if it is not remembered (1 to 3 s)."""
    path = models_folder() / EMBEDDED.file_name
    return Availability(
        default_model=default_model_name(),
        keys=tuple(name for name in KEY_VARIABLES if os.environ.get(name)),
        base_urls=tuple(name for name in URL_VARIABLES if os.environ.get(name)),
        packages=tuple(name for name in _PACKAGES if importlib.util.find_spec(name) is not None),
        weights_path=path,
        weights=_state(path),
    )


def _state(path: Path) -> WeightsState:
    if not path.is_file():
        return "missing"
    whole = path.stat().st_size == EMBEDDED.size
    return "verified" if whole and hash_of(path, EMBEDDED) == EMBEDDED.sha256 else "another file"
