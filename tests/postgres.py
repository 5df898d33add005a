"""A real PostgreSQL server of the tests' own: made in a temporary folder, on a free loopback port, gone at the end.

It runs as a user without rights, since the server refuses to be root's.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

from tests.needs import missing

USER = "afterword"
_PATIENCE_S = 60.0
_UNPRIVILEGED = "nobody"


class _As(TypedDict, total=False):
    user: str
    group: int
    extra_groups: list[int]


class Postgres:
    """The server; it can be stopped, as by a crash too, and started again on the same port."""

    def __init__(self, programs: Path, folder: Path, password: str) -> None:
        self.port = _free_port()
        self.password = password
        self._programs = programs
        self._folder = folder
        self._databases = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits until it takes connections."""
        wanted = [self._programs / "postgres", "-D", self._folder / "data", "-k", self._folder]
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "max_connections": 40,
            "shared_buffers": "16MB",
            "fsync": "off",  # the machine does not lose power during a test; kills and crashes need none
        }
        options = [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_ended_with_us(), *map(str, wanted), *options], stdout=log, stderr=log, cwd=self._folder, **_as()
            )
        end = time.monotonic() + _PATIENCE_S
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self._folder / "server.log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def stop(self, *, crash: bool = False) -> None:
        """Stops it, its clients with it; with `crash` without a word to anybody and with recovery at the next start."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
            self._process.wait(_PATIENCE_S)
            self._process = None

    def database(self) -> str:
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"t{self._databases}"
        self._run("psql", "--no-psqlrc", "--quiet", "--command", f"CREATE DATABASE {name}", "postgres")
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{name}"

    def _ready(self) -> bool:
        return self._run("pg_isready", "--quiet", check=False) == 0

    def _run(self, program: str, *arguments: str, check: bool = True) -> int:
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--username", USER]
        environment = {**os.environ, "PGPASSWORD": self.password}
        done = subprocess.run(
            [str(self._programs / program), *where, *arguments], env=environment, check=check, timeout=_PATIENCE_S
        )
        return done.returncode


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server with an empty cluster, gone at the end. It skips where the programs are not installed."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="afterword-postgres-"))
    password = secrets.token_hex(16)
    try:
        (folder / "password").write_text(password)
        if os.geteuid() == 0:
            for path in (folder, folder / "password"):
                shutil.chown(path, _UNPRIVILEGED)
        settings = ["--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"]
        where = ["-D", str(folder / "data"), "-U", USER, "--pwfile", str(folder / "password")]
        made = subprocess.run(
            [str(programs / "initdb"), *where, *settings], capture_output=True, cwd=folder, check=False, **_as()
        )
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed: {made.stderr.decode(errors='replace')}")
        server = Postgres(programs, folder, password)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Where the newest server's programs are; Debian keeps them off the path."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if not found:
        missing("PostgreSQL's server (Debian: apt-get install postgresql)")
    return max(found, key=lambda path: float(path.parent.name))


def _as() -> _As:
    if os.geteuid() != 0:
        return {}
    import pwd

    return {"user": _UNPRIVILEGED, "group": pwd.getpwnam(_UNPRIVILEGED).pw_gid, "extra_groups": []}


def _ended_with_us() -> list[str]:
    """What makes the server end when the tests are killed, where the system has it."""
    program = shutil.which("setpriv")
    return [] if program is None else [program, "--pdeathsig", "INT"]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
