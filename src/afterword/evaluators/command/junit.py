"""JUnit's XML, as pytest, node, gradle, jest and most others write it.

Read by expat alone, with every document type refused: no entity, so no expansion, and nothing is fetched.
"""

from __future__ import annotations

from xml.parsers import expat

from afterword.evaluators.command.report import MAX_CHECKS, MAX_MESSAGE_CHARS, Garbled, Outcome, Report, ReportedCheck

_MAX_DEPTH = 50
_TAIL_LINES = 12
_OUTCOMES: dict[str, Outcome] = {"failure": "failed", "error": "error", "skipped": "skipped"}
_RANK: tuple[Outcome, ...] = ("passed", "skipped", "failed", "error")


def read_junit(data: bytes) -> Report:
    """The tests of a JUnit file; `Class::name` is the id of each.

    Raises:
        Garbled: it is not well-formed, not JUnit's, or its counts say otherwise than its tests.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise Garbled(f"it is not well-formed XML: {error}") from None
    except (ValueError, LookupError) as error:  # an encoding that expat does not know
        raise Garbled(f"it is not readable XML: {error}") from None
    return reader.report()


def _refuse_doctype(*_: object) -> None:
    raise Garbled("it declares a document type, which no result file needs")


class _Reader:
    """The state of one reading. A `testcase` is open from its start to its end, and its message with it."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._checks: list[ReportedCheck] = []
        self._claimed_bad = 0
        self._name = ""
        self._collection = False
        self._outcome: Outcome = "passed"
        self._headline = ""
        self._message: list[str] = []
        self._chars = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._path and tag not in ("testsuites", "testsuite"):
            raise Garbled(f"it begins with <{tag[:40]}> and not with <testsuites>")
        if len(self._path) >= _MAX_DEPTH:
            raise Garbled("it is nested too deeply")
        parent = self._path[-1] if self._path else ""
        self._path.append(tag)
        if tag == "testsuite" and "testsuite" not in self._path[:-1]:
            self._claimed_bad += _count(attributes, "failures") + _count(attributes, "errors")
        elif tag == "testcase":
            if "testcase" in self._path[:-1]:
                raise Garbled("a <testcase> stands inside of another")
            self._begin_case(attributes)
        elif parent == "testcase" and tag in _OUTCOMES:
            self._worsen(_OUTCOMES[tag])
            message = attributes.get("message", "")
            self._collection |= tag == "error" and message == "collection failure"
            self._headline = self._headline or message[:MAX_MESSAGE_CHARS]

    def _begin_case(self, attributes: dict[str, str]) -> None:
        if len(self._checks) >= MAX_CHECKS:
            raise Garbled(f"it holds more than {MAX_CHECKS:,} tests")
        group, name = attributes.get("classname", ""), attributes.get("name", "")
        self._name = f"{group}::{name}" if group else name
        self._collection, self._outcome = False, "passed"
        self._headline, self._message, self._chars = "", [], 0
        if attributes.get("status") in ("notrun", "disabled") or attributes.get("result") in ("suppressed", "skipped"):
            self._worsen("skipped")

    def _worsen(self, outcome: Outcome) -> None:
        self._outcome = max(self._outcome, outcome, key=_RANK.index)

    def _say(self, text: str) -> None:
        if self._chars < MAX_MESSAGE_CHARS:
            self._message.append(text)
            self._chars += len(text)

    def text(self, text: str) -> None:
        if len(self._path) > 1 and self._path[-1] in _OUTCOMES and self._path[-2] == "testcase":
            self._say(text)

    def end(self, tag: str) -> None:
        self._path.pop()
        if tag == "testcase":
            message = _short(self._headline, "".join(self._message))
            self._checks.append(ReportedCheck(self._name, self._outcome, message, self._collection))

    def report(self) -> Report:
        bad = any(check.outcome in ("failed", "error") for check in self._checks)
        if self._claimed_bad and not bad:
            raise Garbled("its counts speak of failures and none of its tests does")
        return Report.of(self._checks)


def _short(headline: str, text: str) -> str:
    """The last lines, which say most, after the headline where they do not hold it already."""
    lines = text.strip("\n").split("\n")[-_TAIL_LINES:]
    first = headline.strip().split("\n")[0]
    told = [] if first and any(first in line for line in lines) else [headline.strip()]
    return "\n".join([*told, *lines]).strip()


def _count(attributes: dict[str, str], name: str) -> int:
    value = attributes.get(name, "0").strip() or "0"
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise Garbled(f"it has {name}={value[:20]!r}, which is no count")
    return int(value)
