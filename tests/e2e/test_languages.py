"""`afterword run` on tasks in Rust and JavaScript, and what it says where something is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Command
from tests.e2e.tasks import prompts
from tests.evaluators.languages_judged import needs_node, needs_rust

RUST_TOML = """id = "word-counts"
instructions = "Count the words of a text, most frequent first, ties in alphabetical order."
entry_point = "word_counts"
language = "rust"
signature = "pub fn word_counts(text: &str) -> Vec<(String, usize)>"
"""
RUST_VISIBLE = """use solution::word_counts;

#[test]
fn nothing() {
    assert!(word_counts(" ").is_empty());
}

#[test]
fn twice() {
    assert_eq!(word_counts("a b a"), vec![("a".to_string(), 2), ("b".to_string(), 1)]);
}
"""
CANARY = "quokka"
RUST_HELD_OUT = f"""#[cfg(test)]
mod tests {{
    use solution::word_counts;

    #[test]
    fn ties() {{
        assert_eq!(word_counts("{CANARY} b")[0].0, "b", "{CANARY}");
    }}
}}
"""
RUST_BROKEN = """pub fn word_counts(text: &str) -> Vec<(String, usize)> {
    let found: Vec<String> = 3;
    Vec::new()
}
"""
RUST_RIGHT = """use std::collections::BTreeMap;

pub fn word_counts(text: &str) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_string()).or_insert(0) += 1;
    }
    let mut found: Vec<_> = counts.into_iter().collect();
    found.sort_by(|a, b| b.1.cmp(&a.1));
    found
}
"""
RUST_LESSON = (
    "`nothing` and `twice` were not reached: error[E0308] says that `3` is no `Vec<String>`, as I wrote a stand-in. "
    "In the next trial I will count into a map and collect its pairs."
)
JS_TOML = """id = "chunk"
instructions = "Divide a list into parts of n elements."
entry_point = "chunk"
language = "javascript"
split = 0.5
"""
JS_TESTS = """assert.deepStrictEqual(chunk([], 2), []);
assert.deepStrictEqual(chunk([1, 2, 3], 2), [[1, 2], [3]]);
assert.deepStrictEqual(chunk([1, 2], 2), [[1, 2]]);
assert.deepStrictEqual(chunk([1], 1), [[1]]);
"""
JS_WRONG = "function chunk(list, n) {\n  return [list];\n}\n"
JS_RIGHT = """export function chunk(list, n) {
  const parts = [];
  for (let at = 0; at < list.length; at += n) parts.push(list.slice(at, at + n));
  return parts;
}
"""
JS_LESSON = (
    "The check `module:L1` expected [] and my program gave [[]], since I always wrap the whole list. "
    "I will step through the list by n and push a slice for each step."
)


def rust_task(
    folder: Path, *, toml: str = RUST_TOML, visible: str = RUST_VISIBLE, held_out: str | None = RUST_HELD_OUT
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.toml").write_text(toml, encoding="utf-8")
    (folder / "visible_tests.rs").write_text(visible, encoding="utf-8")
    if held_out is not None:
        (folder / "held_out_tests.rs").write_text(held_out, encoding="utf-8")
    return folder


def js_task(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.toml").write_text(JS_TOML, encoding="utf-8")
    (folder / "visible_tests.js").write_text(JS_TESTS, encoding="utf-8")
    return folder


def script(file: Path, tag: str, lesson: str, *programs: str) -> str:
    rows = [{"role": "actor", "text": f"Here it is.\n```{tag}\n{program}```\n"} for program in programs]
    rows.append({"role": "reflector", "text": lesson})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"scripted:{file}"


@needs_rust
def test_a_rust_task_is_accepted_after_a_compile_error(tmp_path: Path, afterword: Command) -> None:
    name = script(tmp_path / "r.jsonl", "rust", RUST_LESSON, RUST_BROKEN, RUST_RIGHT)
    record = tmp_path / "record.jsonl"
    ran = afterword("run", rust_task(tmp_path / "task"), "--model", name, "--record", record, "--json")
    told = ran.told
    assert (ran.code, told["status"], told["best_trial"], told["trust"]) == (0, "accepted", 2, "shared_process")
    assert told["acceptance"] == {"passed": True, "checks_passed": 1, "checks_total": 1, "trust": "shared_process"}
    trials = told["trials"]
    assert isinstance(trials, list)
    assert [(trial["reason"], trial["score"]) for trial in trials] == [("syntax", 0.0), ("ok", 1.0)]
    first, second = prompts(record, "actor")
    assert "one Rust function" in first
    assert "```rust" in first
    assert "error[E0308]" in second
    assert CANARY not in ran.out + record.read_text(encoding="utf-8")


@needs_rust
def test_a_rust_program_that_fails_what_is_held_out_is_rejected(tmp_path: Path, afterword: Command) -> None:
    unsorted = RUST_RIGHT.replace("BTreeMap", "HashMap").replace("b.1.cmp(&a.1)", "b.1.cmp(&a.1).then(b.0.cmp(&a.0))")
    name = script(tmp_path / "r.jsonl", "rust", RUST_LESSON, unsorted)
    ran = afterword("run", rust_task(tmp_path / "task"), "--model", name, "--json")
    assert (ran.code, ran.told["status"]) == (1, "rejected")


@needs_node
def test_a_javascript_task_is_accepted_at_the_second_trial(tmp_path: Path, afterword: Command) -> None:
    name = script(tmp_path / "r.jsonl", "js", JS_LESSON, JS_WRONG, JS_RIGHT)
    ran = afterword("run", js_task(tmp_path / "task"), "--model", name, "--json")
    told = ran.told
    assert (ran.code, told["status"], told["best_trial"], told["trust"]) == (0, "accepted", 2, "shared_process")
    acceptance = told["acceptance"]
    assert isinstance(acceptance, dict)
    assert acceptance["checks_total"] == 2


@needs_node
def test_the_display_names_the_trust(tmp_path: Path, afterword: Command) -> None:
    name = script(tmp_path / "r.jsonl", "js", JS_LESSON, JS_RIGHT)
    ran = afterword("run", js_task(tmp_path / "task"), "--model", name)
    assert "2 visible checks, 2 held out" in ran.out
    assert "shared_process" in ran.out
    assert JS_RIGHT.splitlines()[1] in ran.out


def change(file: str, text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / file).write_text(text, encoding="utf-8")

    return write


BAD: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "no checks": (lambda f: (f / "visible_tests.rs").unlink(), ("visible_tests.rs", "add visible_tests.rs")),
    "no test in them": (change("visible_tests.rs", "fn helper() { word_counts(); }"), ("visible_tests.rs", "#[test]")),
    "empty tests": (change("visible_tests.rs", " \n"), ("visible_tests.rs", "empty")),
    "tests of something else": (change("visible_tests.rs", "#[test] fn a() {}"), ("never use 'word_counts'",)),
    "python tests": (change("visible_tests.py", "assert True"), ("visible_tests.py", "language is 'rust'")),
    "labelled cases": (change("held_out_cases.jsonl", "{}"), ("held_out_cases.jsonl", "held_out_tests.rs")),
    "held out as visible": (change("held_out_tests.rs", RUST_VISIBLE), ("held_out_tests.rs", "of their own")),
    "a signature of another function": (
        change("task.toml", RUST_TOML.replace("fn word_counts", "fn words")),
        ("task.toml:5", "fn word_counts(…) -> …"),
    ),
    "no signature": (
        change("task.toml", RUST_TOML[: RUST_TOML.index("signature")]),
        ("task.toml: ", 'signature = "fn word_counts(…) -> …"'),
    ),
    "a python interpreter": (change("task.toml", RUST_TOML + 'python = "/usr/bin/python3"\n'), ("task.toml:6", "Rust")),
    "split and a held-out file": (change("task.toml", RUST_TOML + "split = 0.5\n"), ("held_out_tests.rs", "split")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_rust_task_is_refused_with_one_line(name: str, tmp_path: Path, afterword: Command) -> None:
    folder = rust_task(tmp_path / "task")
    spoil, told = BAD[name]
    spoil(folder)
    ran = afterword("run", folder, "--model", script(tmp_path / "r.jsonl", "rust", RUST_LESSON, RUST_RIGHT))
    assert (ran.code, ran.out) == (2, "")
    for part in told:
        assert part in ran.complaint


def test_check_says_that_it_is_for_python(tmp_path: Path, afterword: Command) -> None:
    ran = afterword("check", rust_task(tmp_path / "task"))
    assert (ran.code, ran.out) == (2, "")
    assert "is in Rust" in ran.complaint


@needs_rust
def test_tests_that_do_not_compile_are_refused_before_money_is_spent(tmp_path: Path, afterword: Command) -> None:
    folder = rust_task(tmp_path / "task", visible=RUST_VISIBLE.replace("is_empty()", "is_void()"))
    ran = afterword("run", folder, "--model", script(tmp_path / "r.jsonl", "rust", RUST_LESSON, RUST_RIGHT))
    assert (ran.code, ran.out) == (2, "")
    assert "visible_tests.rs" in ran.complaint
    assert "is_void" in ran.complaint


@pytest.mark.parametrize(("language", "told"), [("rust", "needs rustc on PATH"), ("javascript", "needs node on PATH")])
def test_a_missing_toolchain_is_told(
    language: str, told: str, tmp_path: Path, afterword: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = rust_task(tmp_path / "task") if language == "rust" else js_task(tmp_path / "task")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    ran = afterword("run", folder, "--model", script(tmp_path / "r.jsonl", "rust", RUST_LESSON, RUST_RIGHT))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.complaint


def test_doctor_shows_toolchains(afterword: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = afterword("doctor", "--json").told["languages"]
    assert isinstance(told, dict)
    assert set(told) == {"rust", "javascript"}
    assert "install Rust" in told["rust"]["why_not"]
