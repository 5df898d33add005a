"""One verdict, in a process of its own: speaks with the jail, runs the tests, records each check.

This process never runs a line of the program. It has its own memory limit and deadline, since comparing what
the program returns can take for ever (colliding hashes, huge integers).
"""

from __future__ import annotations

import gc
import itertools
import os
import random
import resource
import signal
import socket
import sys
import types
from collections.abc import Callable, Mapping, Sequence

from afterword.evaluators.judge import arrays, minipytest, solution
from afterword.evaluators.judge.cases import run_rows
from afterword.evaluators.judge.checks import TESTS_FILE, Checks
from afterword.evaluators.judge.connection import CannotCross, Connection
from afterword.evaluators.judge.display import show_error
from afterword.evaluators.judge.ends import (
    DeadlinePassed,
    JailLost,
    Tampered,
    TooManyCallbacks,
    UnsupportedFeature,
    VerdictEnd,
)
from afterword.evaluators.judge.failures import UNSET, CheckFailed
from afterword.evaluators.judge.leaving import Leaving
from afterword.evaluators.judge.orders import (
    SENDING,
    SENT,
    Notebook,
    Order,
    note_order_read,
    read_order,
    send_report,
    wait_for_order,
)
from afterword.evaluators.judge.origins import origin_of
from afterword.evaluators.judge.program import Item, Program

_RECURSION_LIMIT = 10_000  # values may be nested 400 levels deep, with some frames a level
_ALARM_AGAIN_S = 0.2  # in case a bare `except` of the tests took the first alarm


def serve_once(control: socket.socket, record: int, notes: int) -> None:
    """Waits for one order, reaches its verdict and sends the report; all that an order does not change is done before.

    `record` is a file for the results, which the judge reads should this process not come to send them.
    """
    silence()
    gc.disable()  # a collection would touch, and so copy, every page that the judge shares with this process
    signal.signal(signal.SIGALRM, _alarm)
    sys.setrecursionlimit(_RECURSION_LIMIT)
    notebook = Notebook(notes)
    used_bytes = _address_space()
    wall_s = wait_for_order(control)
    if wall_s is None:
        return
    notebook.took_order(wall_s)
    order = read_order(control)
    note_order_read(record)
    if notebook.import_missing(order.preload):
        used_bytes = _address_space()
    _limit_memory(used_bytes, order.memory_mb)
    run(order, record)
    notebook.say(SENDING)
    send_report(control, "done", record)
    notebook.say(SENT)


def run(order: Order, record: int) -> None:
    """Reaches the verdict and records it."""
    random.seed(order.seed)  # the same program gets the same verdict
    program = Program.load(order.program)
    signal.setitimer(signal.ITIMER_REAL, order.wall_s, _ALARM_AGAIN_S)
    connection, *companions = [Connection(socket.socket(fileno=jail)) for jail in order.jails]
    checks = Checks(record, order.check_ids, program.lines, connection)
    reason, message = "", ""
    try:
        reason, message = _judge(program, connection, companions, checks)
    except JailLost:
        reason = "lost"
    except Tampered as end:
        reason, message = "tampered", f"the program's process sent what no program returns: {end}"
    except DeadlinePassed:
        reason = "timeout"
    except TooManyCallbacks as end:
        reason, message = "error", str(end)
    except UnsupportedFeature as end:
        reason, message = "bad_tests", f"the tests use {end}, which is not supported"
    except MemoryError:
        reason, message = "memory", "what the program returned takes too much memory to compare"
    except Exception as error:  # noqa: BLE001  recorded; a message that nobody thought of must not pass for a fault
        reason, message = "error", f"what the program returned cannot be read ({type(error).__name__})"
    signal.setitimer(signal.ITIMER_REAL, 0)
    checks.end(reason, message)


def _alarm(number: int, frame: object) -> None:  # noqa: ARG001
    raise DeadlinePassed


def _address_space() -> int | None:
    """Bytes that this process has mapped. Read without the `io` module's codecs, which take 1 ms."""
    try:
        descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None  # no /proc: macOS, which does not enforce this limit either
    used = int(os.read(descriptor, 200).split(b" ", 1)[0]) * resource.getpagesize()
    os.close(descriptor)
    return used


def _limit_memory(used_bytes: int | None, memory_mb: int) -> None:
    """Address space beyond what the judge has."""
    if used_bytes is not None:
        limit = used_bytes + memory_mb * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _judge(
    program: Program, connection: Connection, companions: Sequence[Connection], checks: Checks
) -> tuple[str, str]:
    names = (*program.needs, *program.offered)
    asked = solution.ask(connection, names)  # ahead: the answer comes right after the word that it is loaded
    problem = _load(connection)
    if problem is not None:
        return problem
    found = solution.values_of(connection, names, asked)
    missing = [name for name in program.needs if name not in found]
    if missing:
        return "missing", f"the program does not define {', '.join(missing)}"
    if program.code is None:
        run_rows(program.rows, connection, checks)
        return _run_jailed(program, found, connection, companions, checks)
    return _run_code(program, found, connection, checks)


def _run_jailed(
    program: Program,
    found: Mapping[str, object],
    connection: Connection,
    companions: Sequence[Connection],
    checks: Checks,
) -> tuple[str, str]:
    if not program.jailed:
        return "", ""
    from afterword.evaluators.judge.jailed import end_of_tests, run_jailed

    (companion,) = companions
    try:
        problem = _load(companion)
    except VerdictEnd as end:  # of the tests' jail: nothing that the program did
        problem = "", end_of_tests(end)
    if problem is not None:
        return "error", f"the tests cannot be loaded in their jail: {problem[1]}"
    return run_jailed(program.jailed, connection, found[program.entry_point], companion, checks)


def _load(connection: Connection) -> tuple[str, str] | None:
    """Waits until the program is loaded; the verdict if it cannot be."""
    number, word, *rest = connection.receive()
    if number != 0 or word not in ("loaded", "syntax", "raised") or len(rest) != (word != "loaded"):
        raise Tampered("a start that is out of form")
    if word == "loaded":
        return None
    if word == "syntax":
        return "syntax", f"the program does not compile: {str(rest[0])[:500]}"
    error = connection._raised(rest[0])
    reason = "memory" if isinstance(error, MemoryError) else "error"
    return reason, f"the program fails when it is loaded: {show_error(error)}"


def _run_code(program: Program, found: Mapping[str, object], connection: Connection, checks: Checks) -> tuple[str, str]:
    connection.remotes.leaving = Leaving(TESTS_FILE, program.lines)
    connection.stops_iteration = any("StopIteration" in line for line in program.lines)
    tests = types.ModuleType("tests")
    names = tests.__dict__
    names.update(
        __file__=TESTS_FILE,
        __aw_wanted__=checks.wanted.__contains__,
        __aw_check__=checks.guard,
        __aw_failed__=CheckFailed,
        __aw_unset__=UNSET,
        __aw_compare__=arrays.compare,
        __aw_call__=arrays.call,
    )
    names.update({name: found[name] for name in program.offered if name in found})
    sys.modules["tests"] = tests
    sys.modules["solution"] = solution.SolutionModule(connection, frozenset(program.closed))
    sys.modules["pytest"] = minipytest.module()
    assert program.code is not None  # noqa: S101  the caller looked
    try:
        exec(program.code, names)  # noqa: S102  the user's tests
        _Items(names, connection, checks).run(program.items, found.get(program.entry_point))
    except VerdictEnd:
        raise
    except BaseException as error:  # noqa: BLE001  becomes the verdict
        return _broken_file(error, connection)
    return "", ""


def _broken_file(error: BaseException, connection: Connection) -> tuple[str, str]:
    """The test file fails outside of its checks: the program's doing only if the program had a part in it."""
    if origin_of(error) is not None or isinstance(error, CannotCross) or connection.calls:
        return "error", f"the tests cannot be prepared: {show_error(error)}"
    where, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS_FILE:
            where = f" at line {trace.tb_lineno}"
        trace = trace.tb_next
    return "bad_tests", f"the test file fails{where}: {show_error(error)}"


class _Items:
    """Runs the tests of an executed file, in file order."""

    def __init__(self, names: dict[str, object], connection: Connection, checks: Checks) -> None:
        self.names = names
        self.connection = connection
        self.checks = checks
        functions = {f.name: f for f in names.values() if isinstance(f, minipytest.FixtureFunction)}
        self.fixtures = minipytest.Fixtures(functions)
        self._instances: dict[str, type] = {}

    def run(self, items: tuple[Item, ...], candidate: object) -> None:
        wanted = [item for item in items if item.kind == "check" or item.check_id in self.checks.wanted]
        self._call("setup_module")
        for (kind, cls), group in itertools.groupby(wanted, key=lambda item: (item.kind, item.cls)):
            members = list(group)
            if kind == "unittest":
                from afterword.evaluators.judge.unit import run_unittest

                run_unittest(members, self.names, self.checks)
            elif kind == "check":
                self._run_check(candidate)
            else:
                self._run_group(cls, members)
        self.fixtures.end(everything=True)
        self._call("teardown_module")

    def _run_check(self, candidate: object) -> None:
        """HumanEval's form: the guards are inside the function."""
        check = self.names["check"]
        assert callable(check)  # noqa: S101  found in the source
        try:
            check(candidate)
        except VerdictEnd:
            raise
        except BaseException as error:  # noqa: BLE001  fails what was not reached
            self.connection.calls.clear()
            self.checks.send({"rest": show_error(error)})

    def _run_group(self, cls_name: str, members: list[Item]) -> None:
        cls = self.names[cls_name] if cls_name else None
        assert cls is None or isinstance(cls, type)  # noqa: S101  a class statement made it
        if cls is not None:
            self._method(cls, "setup_class")
        for item in members:
            with self.checks.guard(item.check_id):
                try:
                    self._run_item(item, cls)
                finally:
                    self.fixtures.end()
        if cls is not None:
            self._method(cls, "teardown_class")

    def _run_item(self, item: Item, cls: type | None) -> None:
        instance = None if cls is None else cls()
        function = self.names[item.name] if instance is None else getattr(instance, item.name)
        rows = minipytest.rows_of(function, cls)
        if item.row >= len(rows):
            raise UnsupportedFeature(f"parametrize of {item.name} with other values than its source shows")
        assert callable(function)  # noqa: S101  found in the source
        before, after = ("setup_function", "teardown_function") if cls is None else ("setup_method", "teardown_method")
        self._around(instance, before, function)
        try:
            function(**self.fixtures.arguments(function, rows[item.row]))
        finally:
            self._around(instance, after, function)

    def _around(self, instance: object, name: str, function: object) -> None:
        found = self.names.get(name) if instance is None else getattr(instance, name, None)
        if callable(found):
            _call_with_optional(found, function)

    def _method(self, cls: type, name: str) -> None:
        found = getattr(cls, name, None)
        if callable(found):
            found()

    def _call(self, name: str) -> None:
        found = self.names.get(name)
        if callable(found):
            _call_with_optional(found, sys.modules.get("tests"))


def _call_with_optional(function: Callable[..., object], argument: object) -> None:
    """Set-up functions may take what they prepare, or nothing."""
    import inspect

    takes = len(inspect.signature(function).parameters)
    function(*[argument][:takes])


def silence() -> None:
    """Standard streams of a runner lead nowhere: tests may print, and may not read."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
