"""Odd surroundings: no isolation, folders that cannot be read, old encodings; and what start-up loads."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.e2e.processes import COMMAND
from tests.e2e.tasks import RIGHT, SAME, write_replies, write_task
from tests.watching import PATIENCE_S


def run(
    arguments: Sequence[str | Path], *, within: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command inside another one that changes its surroundings."""
    return subprocess.run(
        [*within, *COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
        timeout=PATIENCE_S,
        check=False,
    )


# In a user namespace that may have no further ones, neither namespaces nor bubblewrap work.
BARE = ("unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"')


@pytest.fixture
def bare() -> tuple[str, ...]:
    if (
        shutil.which("unshare") is None
        or subprocess.run([*BARE, "sh", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("user namespaces cannot be taken away here")
    return (*BARE, "sh")


def test_weak_isolation_needs_a_word_and_is_told(tmp_path: Path, bare: tuple[str, ...]) -> None:
    task = write_task(tmp_path / "task")
    asked: list[str | Path] = ["run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT)]
    refused = run(asked, within=bare)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert "--allow-weak-isolation" in refused.stderr
    assert "found only 'seatbelt'" not in refused.stderr
    allowed = run([*asked, "--allow-weak-isolation"], within=bare)
    assert allowed.returncode == 0
    assert "warning: isolation is 'process'" in allowed.stdout
    assert "verdict: shared_process (process)" in allowed.stdout
    told = json.loads(run([*asked, "--allow-weak-isolation", "--json"], within=bare).stdout)
    assert (told["status"], told["trust"], told["isolation"]) == ("accepted", "shared_process", "process")
    assert told["acceptance"]["trust"] == "shared_process"


def test_evaluate_refuses_weak_isolation_too(tmp_path: Path, bare: tuple[str, ...]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        json.dumps({"id": "a", "solution": RIGHT, "tests": "assert double(1) == 2", "entry_point": "double"})
    )
    refused = run(["evaluate", rows, "--json"], within=bare)
    assert (refused.returncode, refused.stdout) == (2, "")
    allowed = run(["evaluate", rows, "--json", "--allow-weak-isolation"], within=bare)
    assert json.loads(allowed.stdout)["trust"] == "shared_process"


def test_doctor_says_what_is_missing(bare: tuple[str, ...]) -> None:
    levels = json.loads(run(["doctor", "--json"], within=bare).stdout)["isolation"]
    assert levels["namespaces"]["works"] is False
    assert levels["namespaces"]["why_not"]
    assert levels["process"]["works"] is True
    assert "--allow-weak-isolation" in run(["doctor"], within=bare).stdout


# Root reads everything, unless it gives that up.
ORDINARY = ("setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search")


@pytest.mark.parametrize("mode", [0, 0o111, 0o444])
def test_folder_that_cannot_be_read(tmp_path: Path, mode: int) -> None:
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root reads everything here")
    task = write_task(tmp_path / "task")
    asked: list[str | Path] = ["run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT)]
    task.chmod(mode)
    try:
        ran = run(asked, within=ORDINARY if os.geteuid() == 0 else ())
    finally:
        task.chmod(0o700)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert str(task) in ran.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_old_encodings_of_the_terminal(tmp_path: Path, encoding: str) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", SAME + "# déjà vu ✓\n", RIGHT)
    ran = run(["run", task, "--model", name], environment={"PYTHONIOENCODING": encoding})
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "4/4 checks" in ran.stdout
    assert run(["doctor"], environment={"PYTHONIOENCODING": encoding}).returncode == 0


def test_help_loads_no_heavy_package() -> None:
    heavy = ("openai", "anthropic", "pydantic", "jinja2", "sqlalchemy", "httpx", "numpy", "rich", "genai_prices")
    code = (
        "import sys; from afterword.cli.main import exit_code_of; code = exit_code_of(['--help'])\n"
        f"print('loaded:', [name for name in {heavy!r} if name in sys.modules], code)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout.splitlines()[-1] == "loaded: [] 0"


def test_scripted_run_loads_no_sdk(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    name = write_replies(tmp_path / "a.jsonl", RIGHT)
    heavy = ("openai", "anthropic", "httpx", "sqlalchemy")
    code = (
        "import sys; from afterword.cli.main import exit_code_of; code = exit_code_of(sys.argv[1:])\n"
        f"print('loaded:', [name for name in {heavy!r} if name in sys.modules], code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "run", str(task), "--model", name, "--no-journal"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "loaded: [] 0"


def test_signs_that_an_old_encoding_does_not_know_are_spelt(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    asked: list[str | Path] = ["run", task, "--model", write_replies(tmp_path / "a.jsonl", RIGHT)]
    shown = run(asked, environment={"PYTHONIOENCODING": "ascii"}).stdout
    assert "\\u" not in shown
    assert "+ 4/4 checks" in shown


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "afterword", "new", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert ran.returncode == 3
    assert (
        ran.stderr
        == "afterword: the output cannot be written: No space left on device; make room, or send it elsewhere\n"
    )


def test_a_closed_output_is_no_bug() -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.quote(sys.executable)} -m afterword --version >&-"],
        stderr=subprocess.PIPE, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_closed_input_is_nobody_to_ask(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    asked = ["run", str(task), "--model", write_replies(tmp_path / "a.jsonl", RIGHT), "--no-journal", "--ask"]
    command = shlex.join([sys.executable, "-m", "afterword", *asked])
    ran = subprocess.run(["/bin/sh", "-c", f"{command} <&-"], capture_output=True, encoding="utf-8", check=False)
    assert "Traceback" not in ran.stderr
    assert ran.returncode in (0, 2)
