"""No key, and no password of an address, is found in the bytes of a journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterword import Feedback, Message, Reply, Trajectory, Usage
from afterword.core.events import Evaluated, Reflected
from afterword.core.messages import ChatRequest
from afterword.core.protocols import EffectKey
from afterword.core.records import FaultRecord, Outcome, Reflection, Trial
from afterword.journal import RunSpec, open_journal
from afterword.journal.secrets import MARK, Secrets

pytestmark = pytest.mark.anyio

KEY = 'sk-plänted-"0123456789abcdef'
GIVEN = "given-on-the-command-line-42"
PASSWORD = "hunter2-in-an-address"


def test_a_short_or_unnamed_value_is_no_secret() -> None:
    secrets = Secrets(["", "none"], {"MY_TOKEN": "short", "PATH": "/usr/local/bin", "OTHER_KEY": "long-enough-value"})
    assert secrets.struck_out("none short /usr/local/bin long-enough-value") == f"none short /usr/local/bin {MARK}"


def test_user_and_password_go_from_an_address() -> None:
    told = Secrets().struck_out_addresses('{"base_url": "https://me:word@host:8000/v1", "mail": "a@b.org"}')
    assert told == f'{{"base_url": "https://{MARK}@host:8000/v1", "mail": "a@b.org"}}'


async def test_planted_secrets_are_found_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    address = f"https://user:{PASSWORD}@localhost/v1"
    place = tmp_path / "journal" / "j.sqlite"
    said = f"{KEY} and {GIVEN}"

    async def reply() -> Reply:
        return Reply(f"the key is {said}", "stop", Usage(calls=1), "m")

    async with open_journal(place, secrets=[GIVEN]) as journal:
        settings = {"base_url": address, "nested": [{"key": said}]}
        run = await journal.start(RunSpec(("run", "--api-key", GIVEN, "--base-url", address), settings))
        events = run.events(arm="a")
        request = ("m", ChatRequest((Message("user", f"what is {said}?"),)))
        kept = await run.recorder.effect(EffectKey("t", "a", 0, 1, "actor", 0), request, reply, Reply)
        assert kept.text == f"the key is {MARK} and {MARK}"  # what the loop goes on with is what a resumed run sees
        feedback = Feedback(False, 0.0, "exact", "failed", f"printed {said}")
        events.emit(Evaluated("t", 1, feedback))
        events.emit(Reflected("t", 1, Reflection(f"I printed {said}", 1)))
        trial = Trial(1, Trajectory(said), feedback)
        fault = FaultRecord("ServerFault", f"{address} said {said}", 1, f"Traceback: Authorization: Bearer {KEY}")
        await run.finish(Outcome("t", "faulted", None, trial, (trial,), None, {}, fault), arm="a")
        await run.note("kind", "t", f"{said} at {address}")
        again = await run.recorder.effect(EffectKey("t", "a", 0, 1, "actor", 0), request, reply, Reply)
        assert again == kept
    texts = [file.read_bytes() for file in place.parent.iterdir()]
    assert texts
    for secret in (KEY, KEY.encode("unicode_escape").decode(), "sk-pl", "0123456789abcdef", GIVEN, PASSWORD):
        assert not any(secret.encode() in text for text in texts), secret
