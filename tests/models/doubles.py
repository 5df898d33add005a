"""Requests and settings that the tests of the models share."""

from __future__ import annotations

import sys
from pathlib import Path

from afterword.core.messages import ChatRequest, Message
from afterword.models import ModelOptions, RetryNotice

ASK = ChatRequest((Message("system", "Be brief."), Message("user", "Say hello.")))
ENGINE = (sys.executable, "-P", str(Path(__file__).with_name("fake_engine.py")))
"""A program in place of the local model's engine."""
KEY = "sk-test-0123456789abcdef"


def options(url: str) -> ModelOptions:
    """Settings for a test server: retries do not wait. Change them with `dataclasses.replace`."""
    return ModelOptions(base_url=url, api_key=KEY, timeout_s=20.0, backoff=no_wait)


def no_wait(tried: int, retry_after_s: float | None) -> float:
    """A backoff for tests."""
    return 0.0


class Notices:
    """Keeps the notices of retries."""

    def __init__(self) -> None:
        self.seen: list[RetryNotice] = []

    def __call__(self, notice: RetryNotice) -> None:
        self.seen.append(notice)

    @property
    def reasons(self) -> list[str]:
        return [notice.reason for notice in self.seen]
