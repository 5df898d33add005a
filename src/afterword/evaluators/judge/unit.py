"""unittest classes, run by unittest itself, with their results recorded as checks."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Sequence
from types import TracebackType

from afterword.evaluators.judge.checks import Checks
from afterword.evaluators.judge.ends import UnsupportedFeature, VerdictEnd
from afterword.evaluators.judge.program import Item

_ErrorInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class Recorder(unittest.TestResult):
    """Turns unittest's results into records of checks."""

    def __init__(self, checks: Checks, ids: dict[str, str]) -> None:
        super().__init__()
        self._checks = checks
        self._ids = ids

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802  unittest's name
        self._checks.current = self._id(test)
        self._checks.connection.calls.clear()
        super().startTest(test)

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self._checks.record(self._id(test), "passed")

    def addFailure(self, test: unittest.TestCase, err: _ErrorInfo) -> None:  # noqa: N802
        self._failed(self._id(test), err)

    def addError(self, test: object, err: _ErrorInfo) -> None:  # noqa: N802
        if isinstance(test, unittest.TestCase):
            self._failed(self._id(test), err)
        else:  # setUpClass or setUpModule: none of the class's checks can run
            for check_id in self._ids.values():
                self._failed(check_id, err)

    def addSubTest(  # noqa: N802
        self,
        test: unittest.TestCase,
        subtest: unittest.TestCase,  # noqa: ARG002
        err: _ErrorInfo | None,
    ) -> None:
        if err is not None:
            self._failed(self._id(test), err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802, ARG002
        raise UnsupportedFeature("a skipped test")

    def addExpectedFailure(self, test: unittest.TestCase, err: _ErrorInfo) -> None:  # noqa: N802, ARG002
        raise UnsupportedFeature("unittest.expectedFailure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802, ARG002
        raise UnsupportedFeature("unittest.expectedFailure")

    def _id(self, test: unittest.TestCase) -> str:
        return self._ids[test._testMethodName]

    def _failed(self, check_id: str, err: _ErrorInfo) -> None:
        error = err[1]
        if isinstance(error, VerdictEnd):
            raise error
        if error is not None:
            self._checks.error(check_id, error)


def run_unittest(items: Sequence[Item], names: dict[str, object], checks: Checks) -> None:
    """Runs the methods of unittest classes, each class with its set-up."""
    for cls_name, group in itertools.groupby(items, key=lambda item: item.cls):
        methods = list(group)
        cls = names[cls_name]
        if not isinstance(cls, type) or not issubclass(cls, unittest.TestCase):
            raise UnsupportedFeature(f"the class {cls_name}, which is no unittest.TestCase when it runs")
        suite = unittest.TestSuite(cls(item.name) for item in methods)
        suite.run(Recorder(checks, {item.name: item.check_id for item in methods}))
