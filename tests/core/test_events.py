"""The stream of events: one union, each event tagged with its task."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import get_args

from afterword import StopReason
from afterword.core import events
from afterword.core.events import NoEvents, Stopped


def test_the_union_holds_every_event() -> None:
    defined = {kind for kind in vars(events).values() if is_dataclass(kind) and kind.__module__ == events.__name__}
    assert set(get_args(events.Event)) == defined


def test_every_event_names_its_task_first() -> None:
    assert {fields(kind)[0].name for kind in get_args(events.Event)} == {"task"}


def test_dropping_an_event_keeps_nothing() -> None:
    sink = NoEvents()
    sink.emit(Stopped("t", 1, StopReason.PASSED))
    assert vars(sink) == {}
