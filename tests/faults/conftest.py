"""Keeps the developer's own settings out, and gives what the tests of faults share: certificates, a database server."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from afterword.models.inventory import KEY_VARIABLES, URL_VARIABLES


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, address or model of the developer's own."""
    for name in (*KEY_VARIABLES, *URL_VARIABLES, "AFTERWORD_MODEL", "HF_ENDPOINT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path / "afterword-home"))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(scope="session")
def untrusted() -> ssl.SSLContext:
    """A server's certificate that nobody else has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context
