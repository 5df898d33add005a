"""Starts one program where there is no zygote: inside bubblewrap or seatbelt, or with limits only.

Separate from the cell, whose parent prepares everything: here a fresh interpreter is told what to do by a file that
it inherits, and what surrounds it was made by the tool that started it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import NoReturn, cast

from . import limits, program
from .limits import Limits
from .program import COMMAND, SUBMISSION


def main() -> NoReturn:
    """Started with the number of the order's descriptor as last argument."""
    hash_seed = program.forget_own_variables()
    order = json.loads(_read_all(int(sys.argv[-1])))
    numbers = cast("Mapping[str, int]", order["fds"])
    failure_fd = numbers["failure"]
    try:
        payload = _read_all(numbers["payload"])
        command = order["kind"] == COMMAND
        if command:
            program.unpack_files(payload)
        bounds = Limits.from_wire(order["limits"])
        others = limits.threads_of_user() if order["shares_user"] else _BUBBLEWRAP_PROCESSES
        limits.apply(
            bounds._replace(processes=bounds.processes + others),
            already_mapped=0 if command else limits.address_space_in_use(),
            limit_address_space=sys.platform != "darwin" and not (command and order["memory_is_bounded"]),
        )
        if order["lock"]:
            _lock(may_exec=command)
    except Exception as error:  # noqa: BLE001 - told to the main process, which raises it as a fault
        os.write(failure_fd, f"the jail could not start the program: {error}".encode(errors="backslashreplace"))
        os._exit(1)
    os.close(failure_fd)
    try:
        if command:
            program.execute(order["argv"], order["environment"])
        if order["kind"] == SUBMISSION:
            program.seed_random(hash_seed)
            program.start_worker(numbers["peer"], payload)
        os._exit(0)
    finally:
        os._exit(1)


_BUBBLEWRAP_PROCESSES = 2
"""Its own two count as the program's, being the same user in the same namespace."""


def _read_all(fd: int) -> bytes:
    """The file is shared with the main process, position included."""
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb") as file:
        return file.read()


def _lock(*, may_exec: bool) -> None:
    from . import landlock, seccomp, syscalls
    from .namespaces import PRIVATE_FOLDERS

    syscalls.set_capabilities()
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    version = landlock.abi()
    if version:
        landlock.restrict(version, PRIVATE_FOLDERS, may_exec=may_exec)
    seccomp.install(seccomp.assemble(may_exec=may_exec))
