"""Where a journal lies and how it is opened: SQLite in a file or in memory, or a PostgreSQL server.

The two differ in how they lock, come back after a restart and say that they cannot; all of that stands here.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Table,
    case,
    create_engine,
    event,
    inspect,
    literal_column,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from afterword.errors import InputError, JournalFault, MissingExtra
from afterword.journal import tables

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

DEFAULT_NAME = "journal.sqlite"
LOCK_WAIT_S = 30.0
"""How long a write waits for another process to let go of the database."""
_LOG_PAGES = 8000
"""How long SQLite's log may get, in pages of 4 KiB, until it is copied back."""
_LINK = {
    "connect_timeout": 10,
    # A server whose machine is gone says nothing; without these it would be waited for for a quarter of an hour.
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
_SCHEMA = "afterword"
_CREATION_LOCK = 0x61667465


def default_place() -> Path:
    """`$AFTERWORD_HOME/journal.sqlite`, else below the user's data folder."""
    home = os.environ.get("AFTERWORD_HOME", "").strip()
    base = Path(home).expanduser() if home else platformdirs.user_data_path("afterword")
    return base / DEFAULT_NAME


@dataclass(frozen=True, slots=True)
class Database:
    """An opened database whose tables are in place."""

    engine: Engine
    where: str
    """How it is shown: a path, or a URL without its password."""
    remote: bool
    """It is a server, which may be gone for a while and come back."""

    def upsert(self, table: Table, *updated: str) -> SqliteInsert | PostgresInsert:
        """An insert that may be repeated: a row that is there already is left, or these columns are renewed."""
        statement: SqliteInsert | PostgresInsert
        if self.remote:
            from sqlalchemy.dialects import postgresql

            statement = postgresql.insert(table)
        else:
            from sqlalchemy.dialects import sqlite

            statement = sqlite.insert(table)
        key = [column.name for column in table.primary_key]
        if not updated:
            return statement.on_conflict_do_nothing()
        new = statement.excluded
        values: dict[str, ColumnElement[object]] = {name: new[name] for name in updated}
        if "judged_at" in updated:  # known when a trial is judged, and not later
            values["judged_at"] = case((new.judged_at >= literal_column("0"), new.judged_at), else_=table.c.judged_at)
        # What is complete is never renewed by what is not.
        renews = table.c.complete <= new.complete if "complete" in updated else None
        return statement.on_conflict_do_update(index_elements=key, set_=values, where=renews)

    def fault(self, error: Exception) -> JournalFault:
        """The one line that is said of an error of the database."""
        return JournalFault(f"the journal {self.where} {said(error)}; what was recorded is kept: resume the run")

    def lost(self, error: Exception) -> bool:
        """Whether the connection is gone, so that the same may be tried again on another one."""
        return self.remote and isinstance(error, DBAPIError) and (error.connection_invalidated or _not_up(error))


def open_database(where: str | Path | None, *, fsync: bool, create: bool) -> Database:
    """Opens a journal's database and makes its tables where there are none.

    Raises:
        InputError: it cannot be opened, is something else, or has another format.
    """
    url, shown = _locate(where)
    remote = url.get_backend_name() == "postgresql"
    if not remote and url.database:
        _prepare_file(Path(url.database), create)
    engine = _engine(url, fsync, create)
    database = Database(engine, shown, remote)
    try:
        with engine.connect() as connection, connection.begin():
            _settle(connection, database, create)
    except SQLAlchemyError as error:
        engine.dispose()
        raise InputError(f"the journal {shown} {said(error)}; give another --journal") from None
    except BaseException:
        engine.dispose()
        raise
    return database


def _locate(where: str | Path | None) -> tuple[URL, str]:
    if where is None or isinstance(where, Path):
        path = (where or default_place()).expanduser().absolute()
        return URL.create("sqlite", database=str(path)), str(path)
    if where == ":memory:":
        return URL.create("sqlite"), where
    if "://" not in where:
        return _locate(Path(where))
    try:
        url = make_url(where)
    except ArgumentError:
        raise InputError(
            "expected a journal at a path, sqlite:///PATH or postgresql://HOST/NAME, found a URL that is none of these"
        ) from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        return _locate(Path(url.database)) if url.database not in (None, "", ":memory:") else _locate(":memory:")
    if backend not in ("postgresql", "postgres"):
        raise InputError(f"expected a journal at a path, sqlite:///PATH or postgresql://HOST/NAME, found {backend}://")
    url = url.set(drivername="postgresql+psycopg")
    return url, url.set(drivername="postgresql").render_as_string(hide_password=True)


def _prepare_file(path: Path, create: bool) -> None:
    if not create and not path.exists():
        raise InputError("there is no journal here; give the --journal that a run was started with", file=path)
    if path.is_dir():
        raise InputError("expected the journal's file, found a folder", file=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the journal cannot be made: {error.strerror}; give another --journal", file=path) from None


def _engine(url: URL, fsync: bool, create: bool) -> Engine:
    if url.get_backend_name() == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtra("postgres", "psycopg") from None
        engine = create_engine(url, pool_size=1, connect_args=_LINK)
        event.listen(engine, "connect", lambda connection, _: _settle_postgres(connection))
        return engine
    engine = create_engine(
        url,
        poolclass=StaticPool,  # one connection, which the writer's thread uses
        connect_args={"check_same_thread": False, "timeout": LOCK_WAIT_S, "isolation_level": None},
    )
    event.listen(engine, "connect", lambda connection, _: _settle_sqlite(connection, fsync, create))
    # The lock of a writer is taken at once: a transaction that became one half-way could be refused it.
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE") and None)
    return engine


def _settle_sqlite(connection: sqlite3.Connection, fsync: bool, create: bool) -> None:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables.meta.name not in names and (names or not create):
        return  # it is something else's, and is refused as it is
    for pragma in (
        "journal_mode = WAL",
        f"synchronous = {'FULL' if fsync else 'NORMAL'}",
        "temp_store = MEMORY",
        "cache_size = -8000",
        # Each time the log is copied back the disk is waited for; 1,000 pages, the default, are soon written.
        f"wal_autocheckpoint = {_LOG_PAGES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _settle_postgres(connection: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute(f"SET search_path TO {_SCHEMA}")
    cursor.execute(f"SET lock_timeout TO {int(LOCK_WAIT_S * 1000)}")
    connection.commit()  # type: ignore[attr-defined]


def _settle(connection: Connection, database: Database, create: bool) -> None:
    """Makes the tables, or finds them to be of this format."""
    if database.remote:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CREATION_LOCK})
        connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}")
    names: Sequence[str] = inspect(connection).get_table_names(schema=_SCHEMA if database.remote else None)
    if tables.meta.name in names:
        found = connection.execute(select(tables.meta.c.value).where(tables.meta.c.name == "format")).scalar()
        if found != str(tables.FORMAT):
            raise InputError(
                f"the journal {database.where} has format {found}, this version of afterword reads format "
                f"{tables.FORMAT}; use the version that wrote it, or give another --journal"
            )
    elif names:
        raise InputError(
            f"{database.where} holds tables of something else ({', '.join(sorted(names)[:3])}); give another --journal"
        )
    elif not create:
        raise InputError(f"{database.where} holds no journal; give the --journal that a run was started with")
    else:
        tables.metadata.create_all(connection)
        connection.execute(tables.meta.insert(), {"name": "format", "value": str(tables.FORMAT)})


def _not_up(error: DBAPIError) -> bool:
    """PostgreSQL is starting, stopping or not there."""
    state = getattr(error.orig, "sqlstate", None)
    silent = type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout")
    return (state is None and silent) or str(state).startswith(("57P", "08"))


def said(error: Exception) -> str:
    """What is wrong with the database, to stand behind its name."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    line = " ".join(str(cause).split())[:300]
    if "locked" in line:
        return f"is locked by another process for more than {LOCK_WAIT_S:.0f} s"
    if "not a database" in line:
        return "is a file of something else"
    return f"cannot be used: {line}"
