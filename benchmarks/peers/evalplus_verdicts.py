"""PyPI evalplus: inputs and expected values beside the solution in one forked process, compared there.

It takes inputs with expected values and no test code. A hostile case is put into that form by the benchmark
where its tests compare calls on literals, and is not counted for evalplus where they do not.
"""

import copy
from ast import literal_eval
from importlib.metadata import version

from evalplus.eval import PASS, untrusted_check
from verdict_line import serve_grader

EXPECTED = {}
TIME_LIMIT_S = 5.0


def judge(entry_point, code, inputs, expected, atol):
    status, _details = untrusted_check(
        "humaneval",
        code,
        inputs,
        entry_point,
        expected=expected,
        atol=atol,
        ref_time=[0.0] * len(inputs),
        fast_check=True,
        min_time_limit=TIME_LIMIT_S / len(inputs),
    )
    return status == PASS


def expect(item):
    """Keeps what the canonical solution returns: evalplus too computes this once and keeps it in a file."""
    namespace = {}
    exec(item["prompt"] + item["solution"], namespace)  # noqa: S102 - the benchmark's own reference
    function = namespace[item["entry_point"]]
    EXPECTED[item["id"]] = [function(*copy.deepcopy(arguments)) for arguments in item["inputs"]]


def judge_item(item):
    code = item["prompt"] + item["solution"]
    return judge(item["entry_point"], code, item["inputs"], EXPECTED[item["id"]], item["atol"])


def judge_case(case):
    inputs = [literal_eval(text) for text in case["inputs"]]
    expected = [literal_eval(text) for text in case["expected"]]
    return judge(case["entry_point"], case["solution"], inputs, expected, case["atol"])


serve_grader(version("evalplus"), judge_item, judge_case, expect)
