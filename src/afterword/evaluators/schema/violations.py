"""What a JSON Schema finds wrong with a value, by path.

Some keywords can take for ever on a value that is made for it: a regular expression, equality of all pairs, branches
that refer to each other. `is_quick` knows them; a schema that has any is checked in `child`, with a time limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterword.errors import InputError, MissingExtra
from afterword.evaluators.schema.reading import Json, path_of

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

SLOW_KEYWORDS = frozenset(
    {"pattern", "patternProperties", "uniqueItems", "format", "$ref", "$dynamicRef", "$recursiveRef"}
)
MAX_MESSAGE = 300
MAX_SCHEMA_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong."""

    path: str
    message: str


def validator_of(schema: Mapping[str, object]) -> Validator:
    """The validator of a schema, of the draft that it names, else 2020-12. It fetches nothing.

    Raises:
        InputError: the schema is not valid itself.
        MissingExtra: the package `jsonschema` is not installed.
    """
    try:
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import Draft202012Validator, validator_for
        from referencing import Registry
    except ImportError:
        raise MissingExtra("schema", "jsonschema") from None
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(dict(schema))
    except SchemaError as error:
        where = path_of(list(error.absolute_path))
        raise InputError(f"this is not a JSON Schema: at {where}, {error.message[:MAX_MESSAGE]}; mend it") from None
    except RecursionError:
        raise InputError("the JSON Schema is nested too deeply; give a plainer one") from None
    return kind(dict(schema), registry=Registry())


def violations(validator: Validator, value: Json, most: int) -> list[Violation]:
    """At most so many violations, in the order of the schema.

    Raises:
        InputError: the schema refers to something outside itself.
    """
    from referencing.exceptions import Unresolvable

    found = []
    try:
        for error in validator.iter_errors(value):
            found.append(Violation(path_of(_place(error)), _said(error)))
            if len(found) == most:
                break
    except Unresolvable as error:
        raise InputError(
            f"the JSON Schema refers to {str(error.ref)[:MAX_MESSAGE]!r}, which is not in it; put it under $defs"
        ) from None
    return found


def is_quick(schema: object, depth: int = 0) -> bool:
    """Whether checking takes time in proportion to the value, whatever the value is."""
    if depth > MAX_SCHEMA_DEPTH:
        return False
    if isinstance(schema, Mapping):
        return not SLOW_KEYWORDS.intersection(schema) and all(is_quick(part, depth + 1) for part in schema.values())
    if isinstance(schema, list | tuple):
        return all(is_quick(part, depth + 1) for part in schema)
    return True


def _place(error: ValidationError) -> list[str | int]:
    """Where the violation is; of a missing property, where it should be."""
    place = list(error.absolute_path)
    if error.validator == "required" and isinstance(error.instance, dict):
        missing = next(
            (name for name in _names(error.validator_value) if error.message.startswith(f"{name!r} is a ")), None
        )
        return [*place, missing] if missing is not None else place
    return place


def _names(value: object) -> Iterator[str]:
    yield from (name for name in value if isinstance(name, str)) if isinstance(value, list | tuple) else ()


def _said(error: ValidationError) -> str:
    """The violation in a few words; of a choice between schemas, what was wrong with the nearest one."""
    message = error.message
    if error.context:
        from jsonschema.exceptions import best_match

        nearest = best_match(error.context)
        message = f"{_short(message)} (nearest: {_short(nearest.message)})" if nearest is not None else message
    return _short(message)


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE // 3]} … {text[-2 * MAX_MESSAGE // 3 :]}"
