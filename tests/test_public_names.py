"""The public names are a promise: whoever adds or removes one says so here and in the change log."""

from __future__ import annotations

import afterword

NAMES = """
    FREE Acceptance ActContext Actor AfterwordError Allowance Budget BudgetExhausted Cancellation ChatRequest
    CheckResult Effects Environment EnvironmentStep EvaluateContext Evaluator EventSink FakeClock Fault FaultRecord
    Feedback InputError Limits MaxCalls MaxCost MaxSeconds MaxTokens MaxTrials Memory Message Model Outcome Parts
    Passed Plateau Price Progress Recorder ReflectContext Reflection Reflector Reflexion RepeatedOutput
    RepeatedReflection Reply Sandbox SlidingWindow Step StopReason StopRule Strategy Task Tool Trajectory Trial Usage
    __version__ first_of fingerprint run_loop
"""


def test_the_public_names_are_these() -> None:
    assert sorted(afterword.__all__) == sorted(NAMES.split())


def test_every_public_name_exists() -> None:
    assert [name for name in afterword.__all__ if not hasattr(afterword, name)] == []


def test_every_public_class_and_function_says_what_it_is() -> None:
    documented = [getattr(afterword, name) for name in afterword.__all__ if not name.startswith("__")]
    assert [part for part in documented if callable(part) and not (part.__doc__ or "").strip()] == []
