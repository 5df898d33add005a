"""Programs in replies, in Rust and JavaScript."""

from __future__ import annotations

import pytest

from afterword.evaluators.languages import LANGUAGES
from afterword.families.programming.language_reply import extract_program

RUST, JS = LANGUAGES["rust"], LANGUAGES["javascript"]
PROGRAM = "pub fn f<'a>(x: &'a str) -> char {\n    '`'\n}\n"
PROMPT = "use std::collections::HashMap;\n\n/// Counts.\nfn f(x: &str) -> HashMap<char, i64> {"


@pytest.mark.parametrize(
    "reply",
    [
        f"Sure:\n```rust\n{PROGRAM}```\nDone.",
        f"```rs\n{PROGRAM}```",
        f"```\n{PROGRAM}```",
        f"```src/lib.rs\n{PROGRAM}```",
        f"<think>\n```rust\nfn f() {{}}\n```\n</think>\n```rust\n{PROGRAM}```",
        f"First try:\n```rust\nfn f() {{}}\n```\nBetter:\n```rust\n{PROGRAM}```\nRun:\n```bash\ncargo test\n```",
        f"```rust\n{PROGRAM}```\nUse it:\n```rust\nfn main() {{ f(\"\"); }}\n```",
        f"Here is it.\n\n{PROGRAM}\nIt borrows.",
        f"```rust\n{PROGRAM}",
    ],
)  # fmt: skip
def test_the_program_that_defines_the_entry_point_is_taken(reply: str) -> None:
    assert extract_program(reply, RUST, "f", None) == PROGRAM


def test_a_program_without_the_entry_point_is_taken_for_want_of_better() -> None:
    assert extract_program("```rust\nfn g() {}\n```", RUST, "f", None) == "fn g() {}\n"


@pytest.mark.parametrize("reply", ["", "I cannot do that.", "```bash\nls\n```", "x" * 300_000])
def test_no_program_is_none(reply: str) -> None:
    assert extract_program(reply, RUST, "f", None) is None


def test_a_bare_body_gets_the_head_of_the_signature() -> None:
    found = extract_program("```rust\n    HashMap::new()\n```", RUST, "f", PROMPT)
    assert found == f"{PROMPT}\n    HashMap::new()\n}}\n"


def test_imports_that_only_the_signature_has_are_added_where_they_are_used() -> None:
    body = "fn f(x: &str) -> HashMap<char, i64> {\n    HashMap::new()\n}\n"
    assert extract_program(f"```rust\n{body}```", RUST, "f", PROMPT) == f"use std::collections::HashMap;\n{body}"
    whole = f"use std::collections::{{HashMap, HashSet}};\n{body}"
    assert extract_program(f"```rust\n{whole}```", RUST, "f", PROMPT) == whole
    full = "fn f(x: &str) -> std::collections::BTreeMap<char, i64> {\n    todo!()\n}\n"
    assert extract_program(f"```rust\n{full}```", RUST, "f", PROMPT) == full


@pytest.mark.parametrize(
    "program",
    [
        "function f(n) {\n  return `${n}`;\n}\n",
        "const f = (n) => n;\nmodule.exports = { f };\n",
        "export async function f(n) {\n  return n;\n}\n",
        "class f {}\n",
        "exports.f = (n) => n;\n",
    ],
)
def test_javascript_programs_are_found(program: str) -> None:
    reply = f"Like this:\n```javascript\n{program}```\n```js\nconsole.log('done');\n```"
    assert extract_program(reply, JS, "f", None) == program
