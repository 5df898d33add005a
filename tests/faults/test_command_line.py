"""`afterword run` against a misbehaving provider: one line that says what to do, exit code 3, and no call wasted."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from tests.e2e.conftest import Command, Ran
from tests.e2e.tasks import RIGHT, fenced, write_task
from tests.faults.troubles import NOW, TROUBLES, Trouble
from tests.models.server import completion, error, provider

GOOD = completion(fenced(RIGHT))
TRIES = 5


@pytest.fixture
def run(tmp_path: Path, afterword: Command) -> Command:
    """Runs a small task against an address."""

    def started(url: str, *options: str) -> Ran:
        task = write_task(tmp_path / "task")
        return afterword("run", task, "--model", "openai:m", "--base-url", url, *options)

    return started


def assert_faulted(ran: Ran, kind: str) -> None:
    assert ran.code == 3
    assert ran.told["status"] == "faulted"
    assert ran.told["trials"] == []
    fault = ran.told["fault"]
    assert isinstance(fault, dict)
    assert fault["kind"] == kind
    assert "\n" not in fault["message"]


@pytest.mark.parametrize("trouble", [one for one in TROUBLES if not one.passes], ids=lambda trouble: trouble.name)
def test_what_cannot_pass_costs_one_call(run: Command, trouble: Trouble) -> None:
    with provider(trouble.chat) as served:
        ran = run(served.url, "--json", "--timeout-s", "1")
    assert_faulted(ran, trouble.fault.__name__)
    assert len(served.bodies) == 1


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_what_stays_is_given_up_after_the_last_try(run: Command, status: int) -> None:
    with provider(error(status, "busy", headers=NOW)) as served:
        ran = run(served.url, "--json")
    assert_faulted(ran, "RateLimited" if status == 429 else "ServerFault")
    assert len(served.bodies) == TRIES


@pytest.mark.parametrize("trouble", [one for one in TROUBLES if one.passes], ids=lambda trouble: trouble.name)
def test_what_passes_is_told_and_the_run_goes_on(run: Command, trouble: Trouble) -> None:
    with provider(trouble.chat, GOOD) as served:
        ran = run(served.url)
    assert ran.code == 0
    assert "trying again" in ran.out
    assert len(served.bodies) == 2


def test_fault_shows_as_one_line_for_a_person(run: Command) -> None:
    with provider(error(401, "Your API key has expired")) as served:
        ran = run(served.url)
    assert ran.code == 3
    assert len([line for line in (ran.out + ran.err).splitlines() if "expired" in line]) == 1
    assert "OPENAI_API_KEY" in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err


def test_certificate_and_missing_host_are_told_without_a_call(run: Command, untrusted: ssl.SSLContext) -> None:
    with provider(GOOD, tls=untrusted) as served:
        refused = run(served.url, "--json")
    unknown = run("http://no-such-host.invalid/v1", "--json")
    assert served.bodies == []
    for ran, said in ((refused, "certificate"), (unknown, "no such host")):
        assert_faulted(ran, "ModelUnreachable")
        fault = ran.told["fault"]
        assert isinstance(fault, dict)
        assert said in fault["message"]
