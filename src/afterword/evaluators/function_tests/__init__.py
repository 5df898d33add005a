"""Function tests: a program is judged by calls on it, out of its reach."""

from afterword.evaluators.function_tests.evaluator import FunctionTests, refuse_unusable
from afterword.evaluators.function_tests.pool import JudgePool
from afterword.evaluators.function_tests.splitting import split
from afterword.evaluators.function_tests.suite import Suite

__all__ = ["FunctionTests", "JudgePool", "Suite", "refuse_unusable", "split"]
