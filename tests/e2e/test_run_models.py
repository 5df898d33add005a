"""`afterword run`: the options about models, each shown to do something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.tasks import LESSON_1, PLUS_ONE, RIGHT, SAME, fenced, recorded_calls, write_replies, write_task
from tests.models.server import Http, completion, error, provider


def program(code: str) -> Http:
    return completion(fenced(code))


def messages(body: dict[str, object]) -> str:
    return str(body["messages"])


def test_model_decides_who_answers_and_the_first_line_says_it(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    right, wrong = write_replies(tmp_path / "a.jsonl", RIGHT), write_replies(tmp_path / "b.jsonl", SAME)
    accepted = afterword("run", task, "--model", right, "--max-trials", "1")
    gave_up = afterword("run", task, "--model", wrong, "--max-trials", "1")
    assert (accepted.code, gave_up.code) == (0, 1)
    assert accepted.out.splitlines()[0] == f"model {right}"
    assert gave_up.out.splitlines()[0] == f"model {wrong}"


def test_model_of_the_environment_is_the_default_and_is_said_to_be(
    tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_replies(tmp_path / "a.jsonl", RIGHT)
    monkeypatch.setenv("AFTERWORD_MODEL", name)
    ran = afterword("run", write_task(tmp_path / "task"))
    assert ran.code == 0
    assert ran.out.splitlines()[0].startswith(f"model {name}  (the default")


def test_without_any_choice_the_model_is_local_and_a_missing_one_is_a_fault(tmp_path: Path, afterword: Command) -> None:
    ran = afterword("run", write_task(tmp_path / "task"))
    assert ran.code in (2, 3)
    assert ran.out == ""
    assert "afterword model install" in ran.complaint


def test_address_and_key_reach_the_server(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    with provider(program(SAME), completion(LESSON_1), program(RIGHT)) as served:
        ran = afterword(
            *("run", task, "--model", "openai:small", "--base-url", served.url, "--api-key", "sk-test-1234567890"),
            "--json",
        )
    assert ran.code == 0
    assert ran.told["status"] == "accepted"
    assert set(served.paths) == {"/v1/chat/completions"}
    assert {headers["authorization"] for headers in served.headers} == {"Bearer sk-test-1234567890"}
    assert [body["model"] for body in served.bodies] == ["small"] * 3
    assert LESSON_1 in messages(served.bodies[2]).replace("\\n", " ")
    usage = ran.told["usage"]
    assert isinstance(usage, dict)
    assert (usage["calls"], usage["tokens_in"], usage["tokens_out"]) == (3, 33, 21)
    assert usage["cost_usd"] is None
    assert "sk-test" not in ran.out + ran.err


def test_key_and_address_come_from_the_environment_too(
    tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(program(RIGHT)) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-environment-123")
        ran = afterword("run", write_task(tmp_path / "task"), "--model", "openai:small")
    assert ran.code == 0
    assert served.headers[0]["authorization"] == "Bearer sk-environment-123"


def test_address_is_the_reflectors_where_the_actor_takes_none(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    actor = write_replies(tmp_path / "actor.jsonl", SAME, RIGHT, lessons=())
    with provider(completion(LESSON_1)) as served:
        ran = afterword("run", task, "--model", actor, "--reflector-model", "openai:wise", "--base-url", served.url)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == f"model {actor}, lessons by openai:wise"
    assert len(served.bodies) == 1


def test_address_of_the_actor_is_not_that_of_another_provider(tmp_path: Path, afterword: Command) -> None:
    with provider(program(SAME)) as served:
        ran = afterword(
            *("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url),
            *("--reflector-model", "anthropic:wise"),
        )
    assert ran.code in (2, 3)
    assert "anthropic" in ran.complaint
    assert served.bodies == []


def test_reflector_model_writes_the_lessons(
    tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = write_task(tmp_path / "task")
    actor = write_replies(tmp_path / "actor.jsonl", SAME, RIGHT, lessons=())
    with provider(completion(LESSON_1)) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        ran = afterword("run", task, "--model", actor, "--reflector-model", "openai:wise", "--json")
    assert ran.code == 0
    assert [body["model"] for body in served.bodies] == ["wise"]
    trials = ran.told["trials"]
    assert isinstance(trials, list)
    assert trials[0]["reflection"] == LESSON_1


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ([], 0.0),
        (["--temperature", "0.4"], 0.4),
        (["--temperature", "none"], None),
        (["--strategy", "retry"], 0.7),
        (["--strategy", "retry", "--temperature", "0.9"], 0.9),
    ],
)
def test_temperature_of_the_actor(tmp_path: Path, afterword: Command, options: list[str], sent: float | None) -> None:
    with provider(program(RIGHT)) as served:
        ran = afterword("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url, *options)
    assert ran.code == 0
    assert served.bodies[0].get("temperature") == sent
    assert ("temperature" in served.bodies[0]) == (sent is not None)


@pytest.mark.parametrize(("options", "sent"), [([], 0.2), (["--reflector-temperature", "none"], None)])
def test_temperature_of_the_reflector(
    tmp_path: Path, afterword: Command, options: list[str], sent: float | None
) -> None:
    with provider(program(SAME), completion(LESSON_1), program(RIGHT)) as served:
        afterword("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url, *options)
    assert served.bodies[1].get("temperature") == sent


def test_retry_at_temperature_0_is_warned_about(tmp_path: Path, afterword: Command) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", RIGHT)
    warned = afterword("run", task, "--model", name, "--strategy", "retry", "--temperature", "0")
    silent = afterword("run", task, "--model", name, "--strategy", "retry")
    assert "warning: retry at temperature 0" in warned.out
    assert "warning" not in silent.out


def test_seed_decides_what_sampling_is_asked_with(tmp_path: Path, afterword: Command) -> None:
    task, name = write_task(tmp_path / "task"), write_replies(tmp_path / "a.jsonl", SAME, RIGHT)

    def seeds(file: str, *options: str) -> list[object]:
        record = tmp_path / file
        afterword("run", task, "--model", name, "--strategy", "retry", "--record", record, *options)
        return [request["seed"] for request in recorded_calls(record, "actor")]

    first, again, other = seeds("1"), seeds("2", "--seed", "0"), seeds("3", "--seed", "7")
    assert len(set(first)) == 2
    assert first == again
    assert not set(first) & set(other)


def test_max_tokens_bounds_a_reply(tmp_path: Path, afterword: Command) -> None:
    with provider(program(RIGHT)) as served:
        afterword(
            *("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url),
            *("--max-tokens", "321"),
        )
    assert served.bodies[0]["max_tokens"] == 321


def test_cost_limit_without_a_known_price_is_refused_before_anything_is_asked(
    tmp_path: Path, afterword: Command
) -> None:
    with provider(program(RIGHT)) as served:
        ran = afterword(
            *("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url),
            *("--cost-usd", "1", "--json"),
        )
    assert ran.code == 2
    assert ran.out == ""
    assert "--price" in ran.err
    assert "'openai:m'" in ran.err
    assert served.bodies == []


def test_stated_price_makes_the_cost_and_its_limit(tmp_path: Path, afterword: Command) -> None:
    task = write_task(tmp_path / "task")
    with provider(program(SAME), completion(LESSON_1), program(PLUS_ONE)) as served:
        ran = afterword(
            *("run", task, "--model", "openai:m", "--base-url", served.url, "--json"),
            # A call takes 11 + 7 tokens, that is 18 dollars; what is reserved before one is much more.
            *("--price", "1000000,1000000", "--cost-usd", "1400"),
        )
    assert ran.code == 1
    assert ran.told["stop_reason"] == "cost"
    usage = ran.told["usage"]
    assert isinstance(usage, dict)
    assert usage["cost_usd"] == 18.0 * len(served.bodies)
    assert 0 < len(served.bodies) < 3


def test_known_price_lets_a_cost_limit_refuse_the_first_call(tmp_path: Path, afterword: Command) -> None:
    ran = afterword(
        *("run", write_task(tmp_path / "task"), "--model", "openai:gpt-4o", "--api-key", "sk-unused"),
        *("--cost-usd", "0.0000001", "--json"),
    )
    assert ran.code == 1
    assert (ran.told["status"], ran.told["stop_reason"], ran.told["trials"]) == ("gave_up", "cost", [])


def test_recording_replays_identically(tmp_path: Path, afterword: Command) -> None:
    task, record = write_task(tmp_path / "task"), tmp_path / "calls.jsonl"
    name = write_replies(tmp_path / "a.jsonl", SAME, PLUS_ONE, RIGHT)
    first = afterword("run", task, "--model", name, "--record", record, "--json")
    replayed = afterword("run", task, "--model", f"recorded:{record}", "--json")
    assert (first.code, replayed.code) == (0, 0)
    assert {**replayed.told, "run": first.told["run"]} == first.told
    copied = tmp_path / "again.jsonl"
    afterword("run", task, "--model", f"recorded:{record}", "--record", copied)
    for role in ("actor", "reflector"):
        assert recorded_calls(copied, role) == recorded_calls(record, role)


def test_recording_of_another_task_is_refused_and_says_what_differs(tmp_path: Path, afterword: Command) -> None:
    record = tmp_path / "calls.jsonl"
    name = write_replies(tmp_path / "a.jsonl", RIGHT)
    afterword("run", write_task(tmp_path / "task"), "--model", name, "--record", record)
    other = write_task(tmp_path / "other", toml='signature = "def double(n: int) -> int:"\n')
    ran = afterword("run", other, "--model", f"recorded:{record}", "--json")
    assert ran.code == 2
    assert ran.out == ""
    assert "differs at character" in ran.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (error(401, "Incorrect API key provided"), "OPENAI_API_KEY"),
        (error(404, "The model `m` does not exist", code="model_not_found"), "m"),
    ],
)
def test_refusal_of_the_provider_is_a_fault_that_says_what_to_do(
    tmp_path: Path, afterword: Command, answer: Http, hint: str
) -> None:
    with provider(answer) as served:
        ran = afterword(
            *("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url, "--json")
        )
    assert ran.code == 3
    assert ran.told["status"] == "faulted"
    fault = ran.told["fault"]
    assert isinstance(fault, dict)
    assert hint in fault["message"]


def test_refused_connection_is_a_fault_and_retries_are_told(tmp_path: Path, afterword: Command) -> None:
    flaky = error(429, "slow down", headers=(("Retry-After", "0"),))
    with provider(flaky, program(RIGHT)) as served:
        ran = afterword("run", write_task(tmp_path / "task"), "--model", "openai:m", "--base-url", served.url)
    assert ran.code == 0
    assert "429" in ran.out
    assert "trying again" in ran.out


def test_missing_key_is_a_fault_that_names_the_variable(tmp_path: Path, afterword: Command) -> None:
    ran = afterword("run", write_task(tmp_path / "task"), "--model", "openai:gpt-4o")
    assert ran.code == 3
    assert "OPENAI_API_KEY" in ran.err
