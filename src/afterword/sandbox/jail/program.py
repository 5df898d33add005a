"""The last step of every level: from a process that is locked in to the program that was asked for.

Separate since the levels without a zygote end in the same way.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

SUBMISSION = "submission"
COMMAND = "command"
TRIAL = "trial"
"""What a jail is for: a Python submission that calls go to, a command over files, or only to see that it works."""


def unpack_files(payload: bytes) -> None:
    """Writes the files of a command below the current folder; the header was made by the main process."""
    end = payload.index(b"\n")
    entries: list[Mapping[str, object]] = json.loads(payload[:end])
    at = end + 1
    for entry in entries:
        name, size = str(entry["name"]), int(str(entry["size"]))
        if os.path.dirname(name):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(payload[at : at + size])
        at += size


def execute(argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], list(argv), dict(environment))
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror} (PATH={environment.get('PATH', '')})\n".encode())
        os._exit(127)


def start_worker(fd: int, payload: bytes) -> NoReturn:
    """Runs the submission in this process; its source may be any text, lone surrogates included."""
    from . import multiprocess, worker

    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[:] = ["solution.py"]
    multiprocess.without_exec()
    worker.serve(fd, payload.decode("utf-8", "surrogatepass"), preloaded=True)
    os._exit(0)
