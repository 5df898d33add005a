"""The command line as a test runs it: in this process where it can be, without the developer's own settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from afterword.cli.main import exit_code_of
from afterword.models.inventory import KEY_VARIABLES, URL_VARIABLES


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> dict[str, object]:
        """The one JSON object on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def complaint(self) -> str:
        """The one line on stderr of a command that was refused."""
        assert self.err.endswith("\n")
        line = self.err[:-1]
        assert "\n" not in line, line
        assert line.startswith("afterword: ")
        return line


Command = Callable[..., Ran]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, address or model of the developer's own."""
    for name in (*KEY_VARIABLES, *URL_VARIABLES, "AFTERWORD_MODEL", "HF_ENDPOINT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path / "afterword-home"))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def afterword(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process; children's output counts too."""

    def run(*arguments: str | Path) -> Ran:
        capfd.readouterr()
        code = exit_code_of([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run
