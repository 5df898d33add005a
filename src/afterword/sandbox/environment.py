"""The environment variables of jailed programs: a fixed few, whatever the main process has in its own.

Separate since every level passes the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_HASH_SEED = "0"
_SINGLE_THREADED = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "RAYON")


def environment(home: str, readable: Sequence[Path] = (), extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a program finds. One thread per maths library, since a machine's few cores are shared by many programs.

    PATH begins with the `bin` folders of the extra readable ones.
    """
    found = [str(folder / "bin") for folder in readable if (folder / "bin").is_dir()]
    threads = {f"{name}_NUM_THREADS": "1" for name in _SINGLE_THREADED}
    return {"HOME": home, "LANG": "C.UTF-8", "PATH": ":".join([*found, _PATH]), **threads, **(extra or {})}


def interpreter_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The same with what the interpreter reads when it starts and then takes out."""
    return {
        # The same program gets the same verdict, also where it depends on the order of a set
        "PYTHONHASHSEED": DEFAULT_HASH_SEED,
        **variables,
        # glibc reserves 64 MB of address space for each thread's arena: 1 GB would not carry 16 threads
        "MALLOC_ARENA_MAX": "2",
    }
