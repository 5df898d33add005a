"""Own tests, as the paper's coding agent has them: a model writes asserts on a program that it has not seen yet.

They are a model's opinion of what is right. They decide when the loop ends; whether the result is right is for held-out
checks to say.
"""

from afterword.families.programming.own_tests.consensus import write_agreed_tests
from afterword.families.programming.own_tests.evaluator import OwnTests, UnwrittenTests
from afterword.families.programming.own_tests.plain import OwnTest, read_test
from afterword.families.programming.own_tests.reading import read_tests
from afterword.families.programming.own_tests.review import ReviewingReflector, SetAside
from afterword.families.programming.own_tests.suite import suite_of
from afterword.families.programming.own_tests.writing import TestWriting, write_tests

__all__ = [
    "OwnTest",
    "OwnTests",
    "ReviewingReflector",
    "SetAside",
    "TestWriting",
    "UnwrittenTests",
    "read_test",
    "read_tests",
    "suite_of",
    "write_agreed_tests",
    "write_tests",
]
