"""What a part raises, and what becomes of it."""

from __future__ import annotations

import anyio
import pytest

from afterword import AfterwordError, BudgetExhausted, EvaluateContext, Fault, InputError, Reflexion
from afterword.core.faults import guard, record_of
from afterword.errors import ComponentFault, RateLimited, SandboxFault


async def raises(error: BaseException) -> str:
    raise error


def guarded(error: BaseException) -> None:
    async def main() -> None:
        await guard("actor", str, raises, error)

    anyio.run(main)


@pytest.mark.parametrize(
    "error",
    [InputError("bad"), BudgetExhausted("tokens", 1, 2), SandboxFault("broke"), RateLimited("429", model="m")],
)
def test_our_own_errors_pass_unchanged(error: AfterwordError) -> None:
    with pytest.raises(type(error)) as caught:
        guarded(error)
    assert caught.value is error


def test_anything_else_becomes_a_fault_with_its_cause() -> None:
    cause = ZeroDivisionError("division by zero")
    with pytest.raises(ComponentFault, match="the actor raised ZeroDivisionError: division by zero") as caught:
        guarded(cause)
    assert caught.value.__cause__ is cause
    assert caught.value.role == "actor"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)])
def test_what_ends_the_program_is_no_fault(error: BaseException) -> None:
    with pytest.raises(type(error)):
        guarded(error)


REFUSED = BudgetExhausted("calls", 1, 2)
FAULT = SandboxFault("broke")
BAD_INPUT = InputError("bad")


@pytest.mark.parametrize(
    ("members", "gravest"),
    [
        ([REFUSED], REFUSED),
        ([REFUSED, FAULT], FAULT),
        ([FAULT, BAD_INPUT, REFUSED], BAD_INPUT),
        ([ExceptionGroup("inner", [REFUSED]), FAULT], FAULT),
    ],
)
def test_a_task_group_of_ours_is_told_by_its_gravest(members: list[Exception], gravest: AfterwordError) -> None:
    with pytest.raises(type(gravest)) as caught:
        guarded(ExceptionGroup("group", members))
    assert caught.value is gravest


def test_a_task_group_with_a_foreign_error_is_a_component_fault() -> None:
    with pytest.raises(ComponentFault):
        guarded(ExceptionGroup("group", [REFUSED, ValueError("x")]))


def test_a_part_without_await_is_guarded_too() -> None:
    def broken() -> str:
        raise OSError("no await came before this")

    def plain() -> str:
        return "no coroutine"

    async def main(function: object) -> None:
        await guard("reset", str, function)  # type: ignore[arg-type]  # as a user without a type checker would

    for function, said in ((broken, "no await came"), (plain, "TypeError")):
        with pytest.raises(ComponentFault, match=said):
            anyio.run(main, function)


def test_a_result_of_another_kind_is_a_fault_of_the_part() -> None:
    async def none() -> None:
        return None

    async def main() -> None:
        await guard("reset", str, none)

    with pytest.raises(ComponentFault, match="the reset raised TypeError: expected a result of str, found None"):
        anyio.run(main)


def test_a_record_of_a_fault_tells_kind_place_and_the_end_of_the_traceback() -> None:
    def deep_inside() -> None:
        raise SandboxFault("the jail is gone")

    try:
        deep_inside()
    except Fault as fault:
        record = record_of(fault, 2)
    assert (record.kind, record.message, record.trial) == ("SandboxFault", "the jail is gone", 2)
    assert "deep_inside" in record.traceback
    assert record.traceback.rstrip().endswith("the jail is gone")


def helper_of_the_user() -> None:
    raise KeyError("nope")


def test_the_record_holds_the_line_of_the_part_that_raised() -> None:
    def evaluate(context: EvaluateContext) -> bool:
        helper_of_the_user()
        return True

    outcome = Reflexion(lambda context: "x", evaluate).run_sync("t")
    assert outcome.fault is not None
    assert 'raise KeyError("nope")' in outcome.fault.traceback
