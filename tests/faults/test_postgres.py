"""The database server of the tests themselves: it keeps what it took, also through a crash."""

from __future__ import annotations

import pytest

from tests.postgres import Postgres


@pytest.mark.parametrize("crash", [False, True])
def test_restarted_server_has_what_was_committed(postgres: Postgres, postgres_url: str, crash: bool) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE kept (n integer)")
        connection.execute("INSERT INTO kept VALUES (7)")
    with psycopg.connect(postgres_url) as connection:
        postgres.stop(crash=crash)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT n FROM kept")
    postgres.start()
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT n FROM kept").fetchall() == [(7,)]
