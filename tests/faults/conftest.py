"""What the tests of faults share with those of the command line, and certificates."""

from __future__ import annotations

import ssl

import pytest
import trustme

from tests.e2e.conftest import afterword, clean_environment

__all__ = ["afterword", "clean_environment", "untrusted"]


@pytest.fixture(scope="session")
def untrusted() -> ssl.SSLContext:
    """A server's certificate that nobody else has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context
