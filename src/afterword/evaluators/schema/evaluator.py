"""`JsonSchema` and `PydanticSchema`: evaluators of structured output, with one check for each violated path.

The score rises as violations go away, so that a plateau and the best trial can be seen.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from afterword.core.bounds import cut_end
from afterword.core.effects import fingerprint
from afterword.core.protocols import EvaluateContext
from afterword.core.records import CheckResult, Feedback
from afterword.errors import InputError, SandboxFault
from afterword.evaluators.schema.reading import Json, JsonBounds, Unreadable, path_of, read_json
from afterword.evaluators.schema.violations import MAX_MESSAGE, Violation, is_quick, validator_of, violations

if TYPE_CHECKING:
    from pydantic import TypeAdapter

IS_JSON = "json"
"""The check that the output can be read at all."""
ROOT = "$"
_BOUNDS = JsonBounds()
_PATIENCE = 10
"""How many times its own time the process may take by the clock."""
_START_S = 60.0


@dataclass(frozen=True)
class JsonSchema:
    """Judges an output by a JSON Schema (2020-12 unless it names another draft). Needs the extra `schema`.

    `format` is not asserted, as the standard has it. A schema that could be slow on a hostile value is checked in a
    child process, and the output fails if that takes longer than `timeout_s` of its own time.

    Raises:
        InputError: the schema is not valid.
        MissingExtra: `jsonschema` is not installed.
    """

    schema: Mapping[str, object]
    bounds: JsonBounds = _BOUNDS
    timeout_s: float = 10.0

    check_ids: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        validator_of(self.schema)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with whatever decides a verdict."""
        return fingerprint("json_schema", self.schema, asdict(self.bounds))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict.

        Raises:
            InputError: the schema refers to something outside itself.
            SandboxFault: the child process broke.
        """
        return await _judged(context, self.fingerprint, self.bounds, self._violations)

    async def _violations(self, value: Json) -> Sequence[Violation]:
        most = self.bounds.violations + 1
        if is_quick(self.schema):
            return violations(validator_of(self.schema), value, most)
        return await _in_a_child({"schema": self.schema, "value": value, "most": most}, self.timeout_s)


@dataclass(frozen=True)
class PydanticSchema:
    """Judges an output by a pydantic model, or any other type that pydantic can validate.

    The validators of the type run in this process; what they raise besides `ValueError` and `AssertionError` is a
    fault.
    """

    type: type
    strict: bool | None = None
    """None: as the type says."""
    bounds: JsonBounds = _BOUNDS

    check_ids: tuple[str, ...] = field(default=(), init=False)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with whatever can be seen of the type: its name and its JSON Schema."""
        from pydantic.errors import PydanticInvalidForJsonSchema

        name = f"{self.type.__module__}.{self.type.__qualname__}"
        try:
            seen = self._adapter.json_schema()
        except PydanticInvalidForJsonSchema:
            seen = {}
        return fingerprint("pydantic", name, seen, self.strict, asdict(self.bounds))

    @cached_property
    def _adapter(self) -> TypeAdapter[object]:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation

        try:
            return TypeAdapter(self.type)
        except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation) as error:
            said = str(error).split("\n")[0]
            raise InputError(f"pydantic cannot validate {self.type!r}: {said}; give a pydantic model") from None

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict.

        Raises:
            InputError: pydantic cannot validate this type.
        """
        return await _judged(context, self.fingerprint, self.bounds, self._violations)

    async def _violations(self, value: Json) -> Sequence[Violation]:
        from pydantic import ValidationError

        try:
            self._adapter.validate_json(json.dumps(value), strict=self.strict)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False, include_input=True)
            return [
                Violation(path_of(one["loc"]), f"{cut_end(one['msg'], MAX_MESSAGE)}, found {_found(one['input'])}")
                for one in found[: self.bounds.violations + 1]
            ]
        return ()


def _found(value: object) -> str:
    return cut_end(json.dumps(value, default=repr), 80)


async def _judged(
    context: EvaluateContext,
    identity: str,
    bounds: JsonBounds,
    check: Callable[[Json], Awaitable[Sequence[Violation]]],
) -> Feedback:
    text = context.trajectory.output

    async def judge() -> Feedback:
        try:
            value = read_json(text, bounds)
        except Unreadable as error:
            message = f"The output is not JSON that can be used: {error}."
            return Feedback(False, 0.0, "exact", "not_json", message, (CheckResult(IS_JSON, False, str(error)),))
        try:
            found = await check(value)
        except TimeoutError:
            message = "Checking the output against its schema took too long: write a shorter and plainer value."
            checks = (CheckResult(IS_JSON, True), CheckResult(ROOT, False, message))
            return Feedback(False, 0.0, "exact", "timeout", message, checks)
        return _feedback(found, bounds.violations)

    return await context.effects.effect(context.role, (identity, text), judge, Feedback)


def _feedback(found: Sequence[Violation], most: int) -> Feedback:
    if not found:
        checks = (CheckResult(IS_JSON, True), CheckResult(ROOT, True))
        return Feedback(True, 1.0, "exact", "ok", checks=checks)
    by_path: dict[str, list[str]] = {}
    for violation in found[:most]:
        by_path.setdefault(violation.path, []).append(violation.message)
    failed = tuple(CheckResult(path, False, "; ".join(said)) for path, said in by_path.items())
    lines = [f"{check.id}: {check.message}" for check in failed]
    if len(found) > most:
        lines.append(f"… and more than these {most} violations")
    score = 1 / (1 + len(failed))
    return Feedback(False, score, "exact", "schema", "\n".join(lines), (CheckResult(IS_JSON, True), *failed))


async def _in_a_child(asked: Mapping[str, object], timeout_s: float) -> Sequence[Violation]:
    """The violations, found in a process that ends itself when its time is up.

    Raises:
        TimeoutError: it is up.
        InputError: the schema cannot be used.
        SandboxFault: the process broke, or never came to its end.
    """
    import anyio

    argv = [sys.executable, "-P", "-m", "afterword.evaluators.schema.child"]
    given = json.dumps({**asked, "timeout_s": timeout_s}).encode()
    patience_s = _PATIENCE * timeout_s + _START_S
    try:
        with anyio.fail_after(patience_s):
            ended = await anyio.run_process(argv, input=given, stderr=subprocess.PIPE, check=False)
    except TimeoutError:
        raise SandboxFault(
            f"the process that checks a schema gave no answer within {patience_s:g} s; the machine is too busy"
        ) from None
    except OSError as error:
        raise SandboxFault(f"the process that checks a schema cannot be started: {error}") from error
    if hasattr(signal, "SIGPROF") and ended.returncode == -signal.SIGPROF:
        raise TimeoutError
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace")[-300:].strip()
        raise SandboxFault(f"the process that checks a schema ended with code {ended.returncode}: {said}")
    told = json.loads(ended.stdout)
    if "schema_error" in told:
        raise InputError(told["schema_error"])
    return [Violation(path, message) for path, message in told["violations"]]
