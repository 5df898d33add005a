"""Asking a model for tests, and choosing among them: the test writer of the paper's coding agent."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afterword.core.bounds import cut, fence
from afterword.core.effects import Effects, fingerprint
from afterword.core.messages import ChatRequest, Message
from afterword.core.protocols import Model
from afterword.core.records import Task
from afterword.errors import InputError, NoOwnTests
from afterword.evaluators.function_tests.literals import NotLiteral, row_of
from afterword.families.programming.actor import entry_point_of, kind_of, signature_of
from afterword.families.programming.own_tests.plain import OwnTest, key_of, parse_plain
from afterword.families.programming.own_tests.reading import read_tests
from afterword.templates import render

ROLE = "test_writer"
_PACKAGE = "afterword.families.programming"
_MAX_INSTRUCTIONS = 6_000
_MAX_SHOWN = 1_500


@dataclass(frozen=True, slots=True)
class TestWriting:
    """How tests are asked for."""

    __test__ = False  # not one of pytest's

    temperature: float | None = 0.2
    """The paper's logs use 0.2; None leaves it out, for models that refuse it."""
    max_tokens: int = 512
    """Eight tests of two lines need some 350; a weak model repeats its last test as long as it may."""
    most: int = 6
    """The paper keeps at most 6."""

    def __post_init__(self) -> None:
        if self.most < 1:
            raise InputError(f"at least one test has to be kept, found most = {self.most}")


async def write_tests(
    task: Task,
    effects: Effects,
    model: Model,
    settings: TestWriting | None = None,
    *,
    suite: int = 0,
    beside: Sequence[OwnTest] = (),
) -> tuple[OwnTest, ...]:
    """Has tests written for a task and returns those that are kept, in the order in which the model wrote them.

    `suite` is the number of the suite, where several are written; `beside` are tests that there are and that proved
    too few: what is written then is other than these.

    Kept are plain asserts on the entry point, each once; of two that contradict each other neither; and of more than
    `most` a sample by the seed of the run. A reply without any is asked for once more.

    Raises:
        NoOwnTests: there is none after the second reply either.
        BudgetExhausted, ModelFault: as `Effects.complete`.
    """
    settings = settings or TestWriting()
    # Neither depends on the arm: arms of an experiment are compared on the same tests, as far as the model allows.
    place = (task.id, effects.seed, ROLE)
    number = ((suite, len(beside)),) if suite or beside else ()
    chance, choice = (random.Random(fingerprint(*place, what, *number)) for what in ("call", "choice"))  # noqa: S311
    entry_point = entry_point_of(task)
    messages = _messages(task)
    if beside:
        more = render(_PACKAGE, "test_writer_more.jinja", {"entry_point": entry_point})
        messages = (*messages, Message("assistant", _block(beside)), Message("user", more))
    for _ in range(2):
        request = ChatRequest(
            messages,
            settings.max_tokens,
            settings.temperature,
            seed=chance.getrandbits(31) if settings.temperature else None,
        )
        reply = await effects.complete(ROLE, model, request)
        written = read_tests(reply.text, entry_point, cut=reply.finish == "length")
        known = {key_of(test) for test in beside}
        agreeing = without_contradictions(without_duplicates((*beside, *written)), entry_point)
        kept = tuple(test for test in agreeing if key_of(test) not in known)
        if kept:
            return sample(kept, settings.most, choice)
        again = render(_PACKAGE, "test_writer_again.jinja", {"entry_point": entry_point})
        answered = cut(reply.text, _MAX_SHOWN).strip() or "(nothing)"  # providers refuse an empty message
        messages = (*messages, Message("assistant", answered), Message("user", again))
    raise NoOwnTests(task.id, model.name)


def _block(tests: Sequence[OwnTest]) -> str:
    """Tests as a reply has them."""
    return fence("\n".join(test.text for test in tests), "python")


def without_duplicates(tests: Iterable[OwnTest]) -> tuple[OwnTest, ...]:
    """The first of each that say the same."""
    found: dict[str, OwnTest] = {}
    for test in tests:
        found.setdefault(key_of(test), test)
    return tuple(found.values())


def without_contradictions(tests: Sequence[OwnTest], entry_point: str) -> tuple[OwnTest, ...]:
    """The tests without those that ask for two results of one call, which no program can pass."""
    said = [_call_and_result(test, entry_point) for test in tests]
    results: dict[str, list[object]] = {}
    for call, result in filter(None, said):
        results.setdefault(call, []).append(result)
    contradicted = {call for call, (first, *others) in results.items() if any(other != first for other in others)}
    return tuple(test for test, pair in zip(tests, said, strict=True) if pair is None or pair[0] not in contradicted)


def sample(tests: Sequence[OwnTest], most: int, source: random.Random) -> tuple[OwnTest, ...]:
    """At most so many of the tests, in their order."""
    if len(tests) <= most:
        return tuple(tests)
    return tuple(tests[index] for index in sorted(source.sample(range(len(tests)), most)))


def _call_and_result(test: OwnTest, entry_point: str) -> tuple[str, object] | None:
    """The call of an assert of the form `f(…) == literal`, and the literal."""
    node = parse_plain(test.text, entry_point)
    if node is None or not isinstance(node.test, ast.Compare):
        return None
    try:
        row = row_of(node, "", {entry_point: entry_point}, [test.text])
    except NotLiteral:
        return None
    left, right = node.test.left, node.test.comparators[0]
    call = left if isinstance(left, ast.Call) and getattr(left.func, "id", "") == entry_point else right
    return (ast.dump(call), row.expected) if row.how == "equal" else None


def _messages(task: Task) -> tuple[Message, ...]:
    signature = signature_of(task)
    values = {
        "kind": kind_of(task),
        "entry_point": entry_point_of(task),
        "instructions": cut(task.instructions.strip(), _MAX_INSTRUCTIONS),
        "signature": fence(signature, "python") if signature else "",
    }
    system = render(_PACKAGE, "test_writer_system.jinja", values)
    return (Message("system", system), Message("user", render(_PACKAGE, "test_writer.jinja", values)))
