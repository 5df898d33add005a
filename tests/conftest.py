"""Shared fixtures: the benchmark data, and a guard that keeps live calls out of the tests."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.needs import missing
from tests.postgres import Postgres, running_postgres

# The same examples in every run; no deadline, since the machine may be busy.
settings.register_profile("afterword", derandomize=True, deadline=None)
settings.load_profile("afterword")


@pytest.fixture
def anyio_backend() -> str:
    """The one backend that the library supports."""
    return "asyncio"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The benchmark data; missing data is a failure where AFTERWORD_DATA is set and a skip elsewhere."""
    return find_data()


@pytest.fixture(scope="session")
def cases_dir() -> Path:
    """The hostile inputs, which stand beside the benchmark data."""
    return find_data().parent / "cases"


def find_data() -> Path:
    """The folder that AFTERWORD_DATA names.

    Where the variable is set the folder has to be there; a user's machine without it skips.
    """
    named = os.environ.get("AFTERWORD_DATA")
    if not named:
        pytest.skip("set AFTERWORD_DATA to the folder with the benchmark data (docs/data.md says how to get it)")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"AFTERWORD_DATA names no folder: {folder}")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL server; without one installed the test skips, or fails where AFTERWORD_CI is set."""
    if importlib.util.find_spec("psycopg") is None:
        missing("psycopg (the extra `postgres`)")
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    """A new, empty database."""
    return postgres.database()
