"""Which parts of the host a jailed program may read: what its interpreter needs, or a toolchain, and nothing else.

Separate since two kinds of jail build on the same answer: the zygote's mounts, and the arguments of bubblewrap. Run
as a program it prints the answer of its own interpreter as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Iterable

SYSTEM_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib")
SYSTEM_DATA = ("/usr/share/zoneinfo", "/usr/share/locale", "/etc/ld.so.cache", "/etc/localtime")
TOOLCHAIN = ("/bin", "/sbin", "/usr", "/etc/alternatives", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
STORES = ("/nix/store", "/gnu/store")
_SHARED_PREFIXES = ("/", "/usr", "/usr/local")
"""Prefixes that hold far more than Python; only its parts of them are shown."""


def interpreter_paths() -> list[str]:
    """What this interpreter reads: its prefixes, its library folders and its site-packages."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    found = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    for prefix in sorted(prefixes):
        if prefix not in _SHARED_PREFIXES:
            found += [os.path.join(prefix, part) for part in ("lib", "lib64", "bin", "pyvenv.cfg")]
    executable = os.path.realpath(sys.executable)
    found += [sys.executable, executable]
    found += [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    found += [store for store in STORES if executable.startswith(store + os.sep)]
    return found


def readable_paths(extra: Iterable[str], *, toolchain: bool) -> list[str]:
    """Existing absolute paths, parents before children, none inside another one."""
    wanted = [*SYSTEM_LIBRARIES, *SYSTEM_DATA, *interpreter_paths(), *extra]
    if toolchain:
        wanted += TOOLCHAIN
    seen = {os.path.abspath(path) for path in wanted if os.path.lexists(path)}
    seen |= {os.path.realpath(path) for path in seen if os.path.exists(path)}
    kept: list[str] = []
    for path in sorted(seen):
        if not any(path.startswith(parent + os.sep) for parent in kept if not os.path.islink(parent)):
            kept.append(path)
    return kept


if __name__ == "__main__":
    json.dump({"readable": readable_paths(sys.argv[2:], toolchain=sys.argv[1] == "toolchain")}, sys.stdout)
