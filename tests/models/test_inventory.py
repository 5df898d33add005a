"""What is found to be usable, without touching it."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterword.models import availability


def test_keys_are_told_by_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush-12345678")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hush@localhost/v1")
    found = availability()
    assert found.keys == ("OPENAI_API_KEY",)
    assert found.base_urls == ("OPENAI_BASE_URL",)
    assert found.default_model == "local"
    assert "openai" in found.packages
    assert "hush" not in repr(found)


def test_a_missing_and_another_file_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))
    found = availability()
    assert (found.weights, found.local) == ("missing", False)
    assert found.weights_path.parent == tmp_path / "models"
    found.weights_path.parent.mkdir()
    found.weights_path.write_bytes(b"GGUF")
    assert availability().weights == "another file"
