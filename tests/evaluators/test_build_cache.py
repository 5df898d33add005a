"""The cache of build steps: what counts as the same, what is damaged, how it stays small."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from afterword.evaluators.languages import LANGUAGES, LanguageJudge, Toolchain, open_judge
from afterword.evaluators.languages.cache import BuildCache, cache_folder
from afterword.evaluators.languages.protocol import Made, Step
from tests.evaluators.languages_judged import needs_rust, verdict

TOOLCHAIN = Toolchain(Path("/usr/bin/rustc"), "1.0")
STEP = Step(("rustc", "a.rs"), {"a.rs": b"fn f() {}"}, ("a",))
MADE = Made(0, {"a": b"\x00\xffbinary\n", "b": b""}, "warning\n")


def test_what_was_kept_is_found(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "new")
    key = cache.key(TOOLCHAIN, STEP)
    assert cache.find(key) is None
    cache.keep(key, MADE)
    assert BuildCache(tmp_path / "new").find(key) == MADE


@pytest.mark.parametrize(
    ("toolchain", "step"),
    [
        (replace(TOOLCHAIN, version="1.1"), STEP),
        (replace(TOOLCHAIN, program=Path("/opt/rustc")), STEP),
        (TOOLCHAIN, replace(STEP, files={"a.rs": b"fn g() {}"})),
        (TOOLCHAIN, replace(STEP, files={"b.rs": b"fn f() {}"})),
        (TOOLCHAIN, replace(STEP, argv=("rustc", "-O", "a.rs"))),
        (TOOLCHAIN, replace(STEP, collect=("a", "b"))),
    ],
)
def test_another_compiler_source_or_flag_is_another_entry(tmp_path: Path, toolchain: Toolchain, step: Step) -> None:
    cache = BuildCache(tmp_path)
    assert cache.key(toolchain, step) != cache.key(TOOLCHAIN, STEP)


@pytest.mark.parametrize("damage", [b"", b"afterword build 1\n", b"\x00" * 200, b"afterword build 1\nabc\n{}\n"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: bytes) -> None:
    cache = BuildCache(tmp_path)
    cache.keep("ab" * 32, MADE)
    (entry,) = tmp_path.glob("*/*.build")
    entry.write_bytes(damage)
    assert cache.find("ab" * 32) is None


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path)
    cache.keep("ab" * 32, MADE)
    (entry,) = tmp_path.glob("*/*.build")
    entry.write_bytes(entry.read_bytes().replace(b"binary", b"binarz"))
    assert cache.find("ab" * 32) is None


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path, max_mb=1)
    keys = [f"{number:02x}" * 32 for number in range(12)]
    for number, key in enumerate(keys):
        cache.keep(key, Made(0, {"a": os.urandom(150_000)}, ""))
        (entry,) = tmp_path.glob(f"*/{key}.build")
        os.utime(entry, (number, number))
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*.build")) <= 1 << 20
    assert cache.find(keys[-1]) is not None
    assert cache.find(keys[0]) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    BuildCache(tmp_path / "file").keep("ab" * 32, MADE)
    assert BuildCache(tmp_path / "file").find("ab" * 32) is None


def test_its_place_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERWORD_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "builds"


@pytest.fixture(scope="module")
async def judge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[LanguageJudge, Path]]:
    folder = tmp_path_factory.mktemp("builds")
    async with open_judge(LANGUAGES["rust"], workers=1, allow_weak=True, cache=folder) as opened:
        yield opened, folder


@needs_rust
@pytest.mark.anyio
async def test_a_program_is_compiled_once_and_run_each_time(judge: tuple[LanguageJudge, Path]) -> None:
    opened, folder = judge
    source = "pub fn f() -> bool { std::process::id() > 0 }"
    tests = "fn main() { assert!(f()); }"
    first = await verdict(opened, source, tests)
    entries = {path: path.stat().st_mtime_ns for path in folder.glob("*/*.build")}
    second = await verdict(opened, source, tests)
    assert (first.passed, second.passed) == (True, True)
    assert len(entries) == 2
    assert set(folder.glob("*/*.build")) == set(entries)
    assert second.wall_s > 0


@needs_rust
@pytest.mark.anyio
async def test_the_solution_is_compiled_once_for_several_tests(judge: tuple[LanguageJudge, Path]) -> None:
    opened, folder = judge
    before = len(list(folder.glob("*/*.build")))
    source = "pub fn f() -> u8 { 7 }"
    await verdict(opened, source, "fn main() { assert_eq!(f(), 7); }")
    await verdict(opened, source, "fn main() { assert_eq!(f(), 8); }")
    assert len(list(folder.glob("*/*.build"))) == before + 3
