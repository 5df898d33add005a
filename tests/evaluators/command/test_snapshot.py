from __future__ import annotations

import os
from pathlib import Path

import pytest

from afterword.errors import InputError
from afterword.evaluators.command import Snapshot, read_snapshot
from afterword.evaluators.command.globs import matches


def test_files_are_read_with_their_mode_and_without_caches(tmp_path: Path) -> None:
    (tmp_path / "src" / "__pycache__").mkdir(parents=True)
    (tmp_path / "src" / "__pycache__" / "a.pyc").write_bytes(b"x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref")
    (tmp_path / "src" / "a.py").write_text("a")
    (tmp_path / "run.sh").write_text("b")
    (tmp_path / "run.sh").chmod(0o755)
    snapshot = read_snapshot(tmp_path)
    assert snapshot == Snapshot({"run.sh": b"b", "src/a.py": b"a"}, frozenset({"run.sh"}))


def test_a_link_inside_is_read_as_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").symlink_to("a.txt")
    assert read_snapshot(tmp_path).files == {"a.txt": b"a", "b.txt": b"a"}


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside.txt", "/etc"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(target)
    with pytest.raises(InputError, match="leads out of the folder"):
        read_snapshot(folder)


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match="a link to a folder"):
        read_snapshot(tmp_path)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no plain file"):
        read_snapshot(tmp_path)


def test_too_much_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(33 << 20)
    with pytest.raises(InputError, match="more than 32 MB"):
        read_snapshot(tmp_path)


def test_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a folder"):
        read_snapshot(tmp_path / "none")


def test_an_overlay_replaces_files_with_their_mode() -> None:
    under = Snapshot({"a": b"1", "b": b"1"}, frozenset({"a", "b"}))
    over = Snapshot({"b": b"2", "c": b"2"}, frozenset({"c"}))
    assert under.overlaid(over) == Snapshot({"a": b"1", "b": b"2", "c": b"2"}, frozenset({"a", "c"}))


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        ("tests", "tests/a/b.py", True),
        ("tests/", "tests/a.py", True),
        ("tests/**", "tests/a/b.py", True),
        ("tests/*", "tests/a.py", True),
        ("tests/*.py", "tests/a/b.py", False),
        ("tests/**/*.py", "tests/b.py", True),
        ("tests/**/*.py", "tests/a/c/b.py", True),
        ("tests", "mytests/a.py", False),
        ("conftest.py", "a/b/conftest.py", True),
        ("./conftest.py", "conftest.py", True),
        ("src/tests", "tests/a.py", False),
        ("*.toml", "a/pyproject.toml", True),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
    ],
)
def test_patterns(pattern: str, path: str, meant: bool) -> None:
    assert matches(path, pattern) is meant
