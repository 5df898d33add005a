"""Arrows go down only, and importing the package loads nothing heavy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"

HEAVY = [
    "anthropic",
    "genai_prices",
    "httpx",
    "jinja2",
    "matplotlib",
    "numpy",
    "openai",
    "pydantic",
    "rich",
    "scipy",
    "sqlalchemy",
    "stamina",
    "typer",
    "xllamacpp",
]


def lint(folder: Path, *, source: Path) -> subprocess.CompletedProcess[str]:
    """Runs the import rules that stand in `folder` over the package below `source`."""
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_import_rules_hold() -> None:
    result = lint(ROOT, source=ROOT / "src")
    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


def small_package(folder: Path) -> Path:
    """A package of empty modules with the real one's names, beside a copy of the rules."""
    package = folder / "afterword"
    for name in ("core", "models", "evaluators", "viewer", "families", "cli", "integrations"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    for file in ("__init__.py", "errors.py"):
        (package / file).touch()
    shutil.copy(ROOT / ".importlinter", folder)
    return package


def test_a_package_without_imports_keeps_the_rules(tmp_path: Path) -> None:
    small_package(tmp_path)
    assert lint(tmp_path, source=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("module", "imports", "broken"),
    [
        ("core/loop.py", "afterword.models", "Arrows go down only"),
        ("errors.py", "afterword.core", "Arrows go down only"),
        ("models/openai_chat.py", "afterword.evaluators", "Arrows go down only"),
        ("viewer/pages.py", "afterword.integrations", "Arrows go down only"),
        ("families/qa.py", "afterword.cli", "Arrows go down only"),
        ("cli/run.py", "afterword.integrations", "Nothing imports an integration"),
        ("core/records.py", "pydantic", "The core knows errors"),
        ("helpers.py", "afterword.core", "must be declared as a layer"),
    ],
)
def test_the_import_rules_catch(tmp_path: Path, module: str, imports: str, broken: str) -> None:
    (small_package(tmp_path) / module).write_text(f"import {imports}\n")
    result = lint(tmp_path, source=tmp_path)
    assert result.returncode == 1
    assert broken in result.stdout


def test_importing_the_package_loads_no_sdk() -> None:
    program = "import sys, afterword; print(*sorted(name for name in sys.modules if '.' not in name))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = result.stdout.split()
    assert "afterword" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_importing_the_package_prints_and_writes_nothing(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import afterword"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (result.stdout, result.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []
