"""No key, and no password of an address, is found in the bytes of a journal."""

from __future__ import annotations

import json
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


SECRET = {
    "OPENAI_API_KEY": "correct horse",  # words, and yet a key
    "MY_SERVICE_KEY": "mysecretkey",
    "ANTHROPIC_AUTH_TOKEN": "verysecret",
    "HF_TOKEN": "hf_abcDEF0123456789",
    "STRIPE_KEY": "sk_live_51Habc",
    "DEEPL_KEY": "2b1c8a90-12ab-34cd-56ef-7890abcdef12:fx",
    "SOME_KEY": "correct-horse-battery-staple",
    "OTHER_KEY": "qwertzuiopasdfghjklyxcvbnm",
    "DB_PASSWORD": "hunter2",
    "PGPASSWORD": "ordinary",
    "MYSQL_PWD": "swordfish",
    "SMTP_PASS": "letmein-now",
    "SECRET_KEY_BASE": "abcdefghijkl",
    "GITHUB_PAT": "ghp_0123456789abcdef",
    "npm_config__authToken": "npm_0123456789",
    "DATABASE_URL": "postgresql://me:pa%73s-word@host/db",
}
INNOCENT = {
    "SORT_KEY": "ascending",
    "PRIMARY_KEY": "customer_id",
    "PARTITION_KEY": "created-at",
    "KEY": "Identity",
    "CACHE_KEY": "LATEST",
    "EOS_TOKEN": "<|endoftext|>",
    "PAD_TOKEN": "[PAD]",
    "MAX_TOKENS": "1000000000",
    "KEYBOARD_LAYOUT": "us-international-2024",
    "PWD": "/usr/local/bin/anywhere-2",
    "SSH_KEY": "/etc/hostname",
    "GOOGLE_APPLICATION_CREDENTIALS": "/etc/hostname",
    "TOKENIZERS_PARALLELISM": "disabled-2024",
}


@pytest.mark.parametrize("name", SECRET)
def test_real_secret_is_struck_out(name: str) -> None:
    secrets = Secrets((), {name: SECRET[name]})
    for value in {SECRET[name], SECRET[name].partition("me:")[2].partition("@")[0] or SECRET[name]}:
        if "://" not in value:
            assert secrets.struck_out(f"it is {value}, see {value}.") == f"it is {MARK}, see {MARK}."


@pytest.mark.parametrize("name", INNOCENT)
def test_ordinary_value_stays(name: str) -> None:
    text = f"rows by {INNOCENT[name]}, then"
    assert Secrets((), {name: INNOCENT[name]}).struck_out(text) == text


def test_secret_is_known_in_an_address_in_json_and_by_its_lines() -> None:
    lines = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"
    secrets = Secrets(["p@ss/w rd!"], {"TLS_PRIVATE_KEY": lines, "API_KEYS": "sk-0123456789abcdef,sk-fedcba9876543210"})
    for told in ("http://x/p%40ss%2Fw%20rd%21", json.dumps(lines), "see hkiG9w0BAQEFAASC", "sk-fedcba9876543210"):
        clean = secrets.struck_out(told)
        assert MARK in clean
        assert not any(part in clean for part in ("%40ss", "MIIE", "hkiG", "fedcba"))


def test_short_or_ordinary_secret_is_known_by_itself_and_not_within_a_word() -> None:
    secrets = Secrets((), {"DB_PASSWORD": "postgres", "OLD_PASSWORD": "hunter2"})
    told = secrets.struck_out("postgresql://h, test_hunter2, hunter2000, postgres")
    assert told == f"postgresql://h, test_{MARK}, hunter2000, {MARK}"


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
