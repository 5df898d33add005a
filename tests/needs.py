"""What a test does where something that it needs is not installed."""

from __future__ import annotations

import os
from typing import Never

import pytest


def missing(what: str) -> Never:
    """Skips on a user's machine; fails under AFTERWORD_CI, where everything has to be there."""
    if os.environ.get("AFTERWORD_CI"):
        pytest.fail(f"AFTERWORD_CI is set and this is not installed: {what}")
    pytest.skip(f"needs {what}")
