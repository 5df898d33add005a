"""The program of the local model server: loads a GGUF file and serves it on loopback until its parent is gone.

It is a process of its own since a crash or a hang of native code must not take a run along. It reads one line of
settings from its input and writes one line with its address; the end of its input is its end.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping

_PR_SET_PDEATHSIG = 1


def main(serve: Callable[[Mapping[str, object]], tuple[object, str]]) -> None:
    """Serves until the input ends; `serve` returns the server, to be kept, and its address."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever native code prints belongs into the log
    settings = json.loads(sys.stdin.readline())
    _die_with(settings["parent"])
    try:
        server, address = serve(settings)
    except (ImportError, RuntimeError, ValueError, TypeError) as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers, flush=True)
        os._exit(1)
    print(json.dumps({"address": address}), file=answers, flush=True)
    sys.stdin.read()
    del server
    os._exit(0)


def serve_gguf(settings: Mapping[str, object]) -> tuple[object, str]:
    """Loads the model and listens on a free port of the loopback interface."""
    xllamacpp = importlib.import_module("xllamacpp")  # it has no type information
    threads = settings["threads"]
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.n_parallel = 1  # with more, the same greedy prompt is answered differently than alone
    params.n_ctx = settings["context_tokens"]
    params.cache_ram_mib = 512 if settings["prompt_cache"] else 0
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    return server, str(server.listening_address)


def _die_with(parent: object) -> None:
    """Asks the kernel, where it can be asked, to end this process with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before the kernel was asked
        os._exit(1)


if __name__ == "__main__":
    main(serve_gguf)
