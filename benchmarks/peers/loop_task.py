"""The task that every loop is measured on: two failed trials with a lesson each, then one that passes."""

import time

INSTRUCTIONS = "Write parse_duration(s), which turns '1h30m' into seconds."
OUTPUTS = (
    "def parse_duration(s): return int(s[:-1])",
    "def parse_duration(s): return sum(map(int, s.split('m')))",
    "def parse_duration(s): return 5400",
)
MESSAGES = ("test_hours: expected 3600, got 1", "test_minutes: ValueError on '1h30m'", "")
LESSONS = (
    "test_hours failed with 1 for '1h': I ignored the unit. Next I multiply each number by its unit.",
    "'1h30m' raised ValueError because I split at one letter only. Next I scan number and unit pairs.",
)


def timed(run, tasks):
    """Seconds for so many tasks, one after the other; `run` returns how many trials it made."""
    started = time.perf_counter()
    for _ in range(tasks):
        trials = run()
    seconds = time.perf_counter() - started
    assert trials == 3, f"made {trials} trials"
    return {"seconds": seconds}


async def timed_async(run, tasks):
    """`timed` for an asynchronous `run`, inside one event loop."""
    started = time.perf_counter()
    for _ in range(tasks):
        trials = await run()
    seconds = time.perf_counter() - started
    assert trials == 3, f"made {trials} trials"
    return {"seconds": seconds}
