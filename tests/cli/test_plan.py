"""What a run is started with: kept as plain data without keys, and guarded by fingerprints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from afterword.cli.families import Settings, family_named
from afterword.cli.option_groups import without_key
from afterword.cli.plan import Plan, plan_of, run_fingerprints
from afterword.cli.roles import ModelChoice
from afterword.core.budget import Allowance
from afterword.core.records import Strategy
from afterword.errors import InputError

KEY = "sk-0123456789abcdef"
EVERY = {"model:actor", "model:reflector", "model:test_writer", "model:judge"}


CHOICE = ModelChoice("openai:m", api_key=KEY)


def plan(choice: ModelChoice = CHOICE) -> Plan:
    settings = Settings(
        choice, Strategy.RETRY, allowance=Allowance(calls=3), data=Path("data"), options={"own_tests": True}
    )
    return Plan("programming", ("a", "b.jsonl"), settings, "/somewhere", jobs=3, total=Allowance(cost_usd=1.5))


def test_a_plan_comes_back_from_json_as_it_was_but_for_the_key() -> None:
    text = json.dumps(plan().data())
    assert KEY not in text
    back = plan_of(json.loads(text))
    assert back == plan(replace(CHOICE, api_key=None))
    assert back.settings.flag("own_tests") is True


def test_the_model_that_the_environment_names_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_MODEL", "openai:named")
    kept = plan_of(plan(replace(CHOICE, model=None)).data())
    monkeypatch.setenv("AFTERWORD_MODEL", "openai:another")
    assert kept.settings.models.model == "openai:named"


def test_what_another_program_started_is_refused() -> None:
    with pytest.raises(InputError, match="was not started by `afterword run`"):
        plan_of({"anything": 1})


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        (replace(CHOICE, temperature="0.3"), {"model:actor"}),
        (replace(CHOICE, reflector_model="openai:other"), {"model:reflector"}),
        (replace(CHOICE, price="1,2"), EVERY),
        (replace(CHOICE, api_key="another"), set()),
        (replace(CHOICE, timeout_s=9.0), set()),
        (replace(CHOICE, base_url="http://localhost:1/v1"), EVERY),
    ],
)
def test_fingerprints_say_what_differs(changed: ModelChoice, names: set[str]) -> None:
    family = family_named("programming")
    before, after = run_fingerprints(plan(), family), run_fingerprints(plan(changed), family)
    assert {name for name in before if before[name] != after[name]} == names


def test_a_password_in_an_address_is_no_part_of_a_fingerprint() -> None:
    family = family_named("programming")
    bare, with_password = (
        plan(replace(CHOICE, base_url=f"http://{user}localhost:1/v1")) for user in ("", "me:secret@")
    )
    assert run_fingerprints(bare, family) == run_fingerprints(with_password, family)


def test_a_key_on_the_command_line_is_not_kept() -> None:
    assert without_key(["run", "t", "--api-key", KEY, "--seed", "1"]) == ["run", "t", "--api-key", "…", "--seed", "1"]
    assert without_key([f"--api-key={KEY}"]) == ["--api-key=…"]


@pytest.mark.parametrize(
    ("model", "jobs"), [("openai:m", 8), ("anthropic:m", 8), ("local", 2), ("scripted:x.jsonl", 1)]
)
def test_how_many_tasks_at_a_time_suits_the_model(model: str, jobs: int) -> None:
    assert Plan("programming", ("a",), Settings(ModelChoice(model=model))).at_once == jobs
