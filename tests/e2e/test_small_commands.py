"""`extract`, `new`, `doctor`, `model install`, and the front door."""

from __future__ import annotations

import json
import socket
import tomllib
from pathlib import Path

import pytest

from afterword import __version__
from tests.e2e.conftest import Command
from tests.e2e.tasks import RIGHT, fenced, write_replies

SLUGIFY = """import re
import unicodedata


def slugify(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title.lower())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return "-".join(re.findall(r"[a-z0-9]+", plain))
"""


def test_extract_gives_the_code_byte_for_byte_or_null(tmp_path: Path, afterword: Command) -> None:
    rows = [
        {"id": "a", "reply": f"Sure!\n{fenced(RIGHT)}Enjoy.", "entry_point": "double"},
        {"id": "b", "reply": "I cannot.", "entry_point": "double"},
        {"id": "c", "reply": "    return n + n", "entry_point": "double", "signature": "def double(n):"},
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = afterword("extract", file, "--json")
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert told[:2] == [{"id": "a", "code": RIGHT}, {"id": "b", "code": None}]
    assert told[2]["code"].startswith("def double(n):\n    return n + n")
    assert afterword("extract", file).out.splitlines() == ["a  2 lines", "b  no code", "c  2 lines"]


def test_fresh_folder_accepts_a_right_program(tmp_path: Path, afterword: Command) -> None:
    folder = tmp_path / "My Task"
    made = afterword("new", folder)
    assert made.code == 0
    assert f"afterword run '{folder}'" in made.out
    name = write_replies(tmp_path / "a.jsonl", SLUGIFY)
    ran = afterword("run", folder, "--model", name, "--json")
    assert (ran.code, ran.told["status"], ran.told["task"]) == (0, "accepted", "my-task")


def test_fresh_folder_fails_a_wrong_program(tmp_path: Path, afterword: Command) -> None:
    folder = tmp_path / "task"
    afterword("new", folder)
    name = write_replies(tmp_path / "a.jsonl", 'def slugify(title):\n    return title.lower().replace(" ", "-")\n')
    assert afterword("run", folder, "--model", name, "--max-trials", "1").code == 1


def test_new_overwrites_nothing(tmp_path: Path, afterword: Command) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for folder in (tmp_path, tmp_path / "mine.txt"):
        ran = afterword("new", folder)
        assert ran.code == 2
        assert str(folder) in ran.complaint
    ran = afterword("new", tmp_path / "mine.txt" / "below")
    assert ran.code == 2
    assert "below" in ran.complaint
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


SECRETS = {
    "OPENAI_API_KEY": "sk-planted-openai-123456",
    "ANTHROPIC_API_KEY": "sk-ant-planted-654321",
    "ANTHROPIC_AUTH_TOKEN": "planted-token-abcdef",
    "OPENAI_BASE_URL": "http://user:planted-password@localhost:9/v1",
}


@pytest.mark.parametrize("form", [["--json"], []])
def test_doctor_tells_names_and_no_secret(afterword: Command, monkeypatch: pytest.MonkeyPatch, form: list[str]) -> None:
    for name, secret in SECRETS.items():
        monkeypatch.setenv(name, secret)
    ran = afterword("doctor", *form)
    assert ran.code == 0
    assert ran.err == ""
    assert "planted" not in ran.out
    for name in SECRETS:
        assert name in ran.out


def test_doctor_as_an_object(afterword: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_MODEL", "openai:gpt-4o")
    told = afterword("doctor", "--json").told
    assert told["version"] == __version__
    assert told["default_model"] == "openai:gpt-4o"
    assert told["keys"] == []
    levels = told["isolation"]
    assert isinstance(levels, dict)
    assert levels["process"] == {"works": True, "why_not": ""}
    local = told["local_model"]
    assert isinstance(local, dict)
    assert local["state"] == "missing"
    stated = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert isinstance(told["extras"], dict)
    assert told["extras"].keys() == stated["project"]["optional-dependencies"].keys() - {"all"}


def test_doctor_tells_what_games_and_databases_need(
    afterword: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    needs = afterword("doctor", "--json").told["needs"]
    assert isinstance(needs, dict)
    assert list(needs) == ["alfworld", "textworld-express", "java", "postgresql"]
    for name, told in needs.items():
        assert bool(told["version"]) != bool(told["why_not"]), name
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "java              TextWorld Express needs Java 17 or newer, found 11.0.2" in afterword("doctor").out
    old.write_text("no program")
    assert "Java 17 or newer, and" in afterword("doctor").out


def test_install_without_a_network_is_a_fault_in_one_line(
    tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        (tmp_path / "wheels").mkdir()
        ran = afterword("model", "install", "--wheels", tmp_path / "wheels")
    assert ran.code in (2, 3)
    assert ran.out == ""
    last = ran.err.splitlines()[-1]
    assert last.startswith("afterword: ")
    assert "Traceback" not in ran.err


def test_install_of_another_file_is_refused_by_its_hash(tmp_path: Path, afterword: Command) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" + bytes(1000))
    ran = afterword("model", "install", "--from", other)
    assert ran.code == 2
    assert "other.gguf" in ran.err
    assert afterword("model", "install", "--from", tmp_path / "none.gguf").code == 2


GROUPS = {
    (): ("run", "evaluate", "extract", "new", "doctor", "model"),
    ("journal",): ("check", "compact"),
    ("judge",): ("check",),
    ("lessons",): ("distil", "review", "transfer"),
    ("model",): ("install",),
}


@pytest.mark.parametrize(("group", "commands"), GROUPS.items())
def test_help_lists_the_commands_and_cuts_nothing(
    afterword: Command, group: tuple[str, ...], commands: tuple[str, ...]
) -> None:
    ran = afterword(*group, "--help")
    assert ran.code == 0
    for command in commands:
        assert f"\n  {command} " in ran.out
    assert ran.out.startswith("Usage: afterword ")
    assert not any(line.endswith("...") for line in ran.out.splitlines()[1:])


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_a_command_shows_its_help(afterword: Command, group: tuple[str, ...]) -> None:
    ran = afterword(*group)
    assert (ran.code, ran.err) == (2, "")
    assert ran.out == afterword(*group, "--help").out


def test_bad_usage_says_where_to_read_on(afterword: Command) -> None:
    assert afterword("show").complaint.endswith("Missing argument 'RUN'; see: afterword show --help")
    assert afterword("model", "instal").complaint.endswith("; see: afterword model --help")
    assert afterword("shows").complaint.endswith("; see: afterword --help")


def test_version(afterword: Command) -> None:
    assert afterword("--version").out == f"afterword {__version__}\n"
