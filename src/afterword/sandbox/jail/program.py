"""The last step of every level: from a process that is locked in to the program that was asked for.

Separate since the levels without a zygote end in the same way.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

SUBMISSION = "submission"
COMMAND = "command"
TRIAL = "trial"
"""What a jail is for: a Python submission that calls go to, a command over files, or only to see that it works."""


_OWN_VARIABLES = ("PYTHONHASHSEED", "MALLOC_ARENA_MAX")


def forget_own_variables() -> str:
    """Takes out what was read when the interpreter started and no program needs to see. Returns the hash seed."""
    hash_seed = os.environ.get("PYTHONHASHSEED", "")
    for name in _OWN_VARIABLES:
        os.environ.pop(name, None)
    return hash_seed


def seed_random(hash_seed: str) -> None:
    """The same program draws the same numbers, as it sees the same order of sets.

    They are not those of the tests, whose seed is a plain number. Which modules the interpreter has loaded decides
    what there is to be seeded.
    """
    import random

    random.seed(f"a program of hash seed {hash_seed}")
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(random.getrandbits(32))


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


def collected_files(folder: str, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The plain files among `names`, up to a cap in all; a link that the program planted is not followed anywhere."""
    left = COLLECT_BYTES
    for name in names:
        content = _read_plain(folder, name.split("/"), left)
        if content is not None:
            left -= len(content)
            yield name, content


COLLECT_BYTES = 64 << 20


def _read_plain(folder: str, parts: Sequence[str], at_most: int) -> bytes | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    opened = [os.open(folder, flags | os.O_DIRECTORY)]
    try:
        for part in parts:
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        status = os.fstat(opened[-1])
        if not stat.S_ISREG(status.st_mode) or status.st_size > at_most:
            return None
        with open(opened[-1], "rb", closefd=False) as file:
            return file.read(at_most)
    except OSError:
        return None
    finally:
        for fd in opened:
            os.close(fd)


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
    worker.serve(fd, payload.decode("utf-8", "surrogatepass"))
    os._exit(0)
