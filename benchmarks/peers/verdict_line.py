"""What every grader's driver answers: how long each item took, and what it said of it."""

import json
import time
from pathlib import Path

from line import serve

ITEMS = []


def serve_grader(version, judge_item, judge_case, prepare=None):
    """Serves a grader.

    `judge_item(item)` judges a benchmark item and `judge_case(case)` a hostile one; both say whether it passed.
    `prepare(item)` does, untimed, what the grader's users do once for an item and not for each verdict.
    """

    def answer(question):
        if "items" in question:
            ITEMS[:] = json.loads(Path(question["items"]).read_text())
            for item in ITEMS if prepare else ():
                prepare(item)
            return {"items": len(ITEMS)}
        if "case" in question:
            return {"passed": bool(judge_case(question["case"]))}
        times_ms, passed = [], []
        for index in question["judge"]:
            started = time.perf_counter()
            verdict = judge_item(ITEMS[index])
            times_ms.append((time.perf_counter() - started) * 1000)
            passed.append(bool(verdict))
        return {"ms": times_ms, "passed": passed}

    serve({"version": version}, answer)
