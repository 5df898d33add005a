"""The process in which a value is checked against a schema that could be slow: one object in, one out.

A program of its own, so that ending it ends a regular expression that would hold this process up.
"""

from __future__ import annotations

import json
import signal
import sys

from afterword.errors import InputError
from afterword.evaluators.schema.violations import validator_of, violations

_RECURSION = 5_000
"""More than the deepest value that is read needs of any schema that comes to an end."""


def main() -> None:
    """Reads `{schema, value, most, timeout_s}` and prints the violations, or what is wrong with the schema."""
    asked = json.load(sys.stdin)
    try:
        validator = validator_of(asked["schema"])
        if hasattr(signal, "setitimer"):  # of its own time, so that a busy machine fails no output; not on Windows
            signal.setitimer(signal.ITIMER_PROF, asked["timeout_s"])
        sys.setrecursionlimit(_RECURSION)
        found = violations(validator, asked["value"], asked["most"])
    except RecursionError:
        json.dump({"schema_error": "the JSON Schema refers to itself without end; mend its $ref"}, sys.stdout)
        return
    except InputError as error:
        json.dump({"schema_error": error.message}, sys.stdout)
        return
    json.dump({"violations": [[one.path, one.message] for one in found]}, sys.stdout)


if __name__ == "__main__":
    main()
