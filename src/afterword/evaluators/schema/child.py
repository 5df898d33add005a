"""The process in which a value is checked against a schema that could be slow: one object in, one out.

A program of its own, so that ending it ends a regular expression that would hold this process up.
"""

from __future__ import annotations

import json
import sys

from afterword.errors import InputError
from afterword.evaluators.schema.violations import validator_of, violations


def main() -> None:
    """Reads `{schema, value, most}` and prints the violations, or what is wrong with the schema."""
    asked = json.load(sys.stdin)
    try:
        found = violations(validator_of(asked["schema"]), asked["value"], asked["most"])
    except InputError as error:
        json.dump({"schema_error": error.message}, sys.stdout)
        return
    json.dump({"violations": [[one.path, one.message] for one in found]}, sys.stdout)


if __name__ == "__main__":
    main()
