"""The tables of a journal, as SQLAlchemy sees them: one definition for SQLite and PostgreSQL.

Records inside a row are JSON texts; what is counted, searched or summed has a column. The large columns stand
last, so that a sum over the small ones does not read them. Tables of large rows keep SQLite's row numbers: without
them rows of 1.5 kB took twice the time and room.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, Table, Text, UniqueConstraint

FORMAT = 1
"""The number of this form. A journal of another one is refused: there are no migrations yet."""

metadata = MetaData()

meta = Table(
    "afterword_meta",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("started", Float, nullable=False),
    Column("ended", Float),
    Column("finished", Boolean, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("version", Text, nullable=False),
    Column("holder", Text),
    Column("beat", BigInteger, nullable=False),
    Column("fork", Text),
    Column("command", Text, nullable=False),
    Column("settings", Text, nullable=False),
)

fingerprints = Table(
    "fingerprints",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_with_rowid=False,
)

tasks = Table(
    "tasks",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("unit", Integer, primary_key=True),
    Column("task", Text, nullable=False),
    Column("arm", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("started", Float, nullable=False),
    UniqueConstraint("run", "task", "arm", "seed"),
    sqlite_with_rowid=False,
)

effects = Table(
    "effects",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("unit", Integer, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("trial", Integer, nullable=False),
    Column("role", Text, nullable=False),
    Column("n", Integer, nullable=False),
    Column("superseded", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("model", Text),
    Column("tokens_in", BigInteger),
    Column("tokens_out", BigInteger),
    Column("tokens_cached", BigInteger),
    Column("tokens_reasoning", BigInteger),
    Column("cost_usd", Float),
    Column("seconds", Float),
    Column("tries", Integer),
    Column("kind", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("request", Text),
)

trials = Table(
    "trials",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("unit", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("complete", Boolean, nullable=False),
    Column("end", Text, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("score", Float, nullable=False),
    Column("reason", Text, nullable=False),
    Column("judged_at", Integer, nullable=False),
    Column("trial", Text, nullable=False),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("unit", Integer, primary_key=True),
    Column("status", Text, nullable=False),
    Column("stop_reason", Text),
    Column("best", Integer),
    Column("at", Float, nullable=False),
    Column("accepted", Boolean),
    Column("outcome", Text, nullable=False),
)

notes = Table(
    "notes",
    metadata,
    Column("run", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)
