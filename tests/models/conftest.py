"""Keeps keys and addresses of the developer's own out of these tests."""

from __future__ import annotations

import pytest

from afterword.models.inventory import KEY_VARIABLES, URL_VARIABLES


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is set unless a test sets one."""
    for name in (*KEY_VARIABLES, *URL_VARIABLES, "AFTERWORD_MODEL", "AFTERWORD_HOME", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
