"""The driver's side of the conversation with the benchmark: questions come in, measurements go out, a line each.

Standard library only, since every peer's interpreter runs it.
"""

import json
import os
import sys
import traceback


def serve(hello, answer):
    """Says hello, then answers each question with `answer(question)` until there are no more.

    Standard output is moved away first: what a measured package or a judged program prints is not an answer.
    """
    out = os.dup(1)
    os.dup2(2, 1)
    _write(out, {**hello, "id": 0})
    for line in sys.stdin:
        question = json.loads(line)
        try:
            reply = answer(question)
        except Exception as error:  # told to the benchmark, which reports it
            traceback.print_exc()
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            reply = {"error": f"{type(error).__name__}: {error}"}
        _write(out, {**reply, "id": question["id"]})


def _write(out, message):
    # On a line of its own, whatever a judged program may have written to this descriptor before.
    data = b"\n" + json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(out, data) :]
