"""Lets `multiprocessing` work where no program can be executed.

Separate since it is one workaround: the package wants a helper interpreter for two things that a jail does without.
The base classes of `importlib.abc` are not used: that module brings ten others and a quarter of a zygote's memory.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any


def _without_tracker(module: Any) -> None:
    """Shared memory and semaphores are named to a tracker that removes them later; the jail removes them itself.

    An open descriptor is how the module tells that its tracker runs already.
    """
    module._resource_tracker._fd = os.open("/dev/null", os.O_WRONLY)


def _forking(module: Any) -> None:
    """From Python 3.14 on new processes come from a fork server, which is executed."""
    module._default_context = module.DefaultContext(module._concrete_contexts["fork"])


_PATCHES = {
    "multiprocessing.resource_tracker": _without_tracker,
    "multiprocessing.context": _forking,
}


class _Finder:
    """Finds the modules to be patched by the ordinary path, and patches them when they have been run."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = _PATCHES.get(fullname)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            loader: Any = _Loader(spec.loader, patch)
            spec.loader = loader
        return spec


class _Loader:
    def __init__(self, inner: Any, patch: Callable[[Any], None]) -> None:
        self._inner = inner
        self._patch = patch

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        made: types.ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: types.ModuleType) -> None:
        self._inner.exec_module(module)
        self._patch(module)


def without_exec() -> None:
    """Call it in a jailed process before the program runs."""
    sys.meta_path.insert(0, _Finder())
