"""Rust: how tests become checks, how a program is linked to them, and verdicts on honest programs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from afterword.core.records import Limits
from afterword.errors import BadTests, InputError, NoTests
from afterword.evaluators.function_tests import split
from afterword.evaluators.languages import LANGUAGES, LanguageJudge, open_judge
from afterword.evaluators.languages.rust_link import imports_of, pin
from afterword.evaluators.languages.rust_text import public_names, with_public_items
from tests.evaluators.languages_judged import needs_rust, suite_of, verdict

RUST = LANGUAGES["rust"]
MAIN = """
fn main() {
    let candidate = f;
    assert_eq!(candidate(2), 4);
    for n in [1, 3] {
        assert_eq!(candidate(n), n * n, "for {}", n);
    }
    assert!(candidate(-1) == 1);
}
"""


@pytest.fixture(scope="module")
async def judge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LanguageJudge]:
    folder = tmp_path_factory.mktemp("builds")
    async with open_judge(RUST, workers=2, allow_weak=True, cache=folder) as opened:
        yield opened


def test_asserts_of_main_are_checks() -> None:
    assert suite_of("rust", MAIN).check_ids == ("main:L4", "main:L5", "main:L8")


def test_main_without_asserts_is_one_check() -> None:
    assert suite_of("rust", "fn main() { verify(f); }\nfn verify(g: fn(i64) -> i64) {}").check_ids == ("main",)


def test_test_functions_are_checks_with_their_modules() -> None:
    text = """
    #[test]
    fn one() { assert_eq!(f(1), 1); }

    #[cfg(test)]
    mod more {
        use super::*;
        #[test]
        #[should_panic(expected = "negative")]
        fn two() { f(-1); }
        fn helper() {}
    }
    """
    assert suite_of("rust", text).check_ids == ("one", "more::two")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("#[test]\n#[ignore]\nfn a() {}", "skipped tests"),
        ("#[tokio::test]\nasync fn a() {}", "tokio::test"),
        ("#[test]\nasync fn a() {}", "asynchronous"),
        ("fn main() -> Result<(), String> { assert!(true); Ok(()) }", "return nothing"),
        ("fn main() { assert!(f(1) > 0); assert!(f(2) > 0); }", "two tests"),
    ],
)
def test_what_is_not_supported_is_named(text: str, told: str) -> None:
    with pytest.raises(BadTests, match=told):
        suite_of("rust", text)


@pytest.mark.parametrize("text", ["fn helper() {}", "// assert!(f(1) == 1);", 'const T: &str = "#[test] fn a() {}";'])
def test_tests_without_a_check_are_refused(text: str) -> None:
    with pytest.raises(NoTests):
        suite_of("rust", text)


def test_a_selection_keeps_the_order_and_refuses_unknown_ids() -> None:
    suite = suite_of("rust", MAIN)
    assert suite.select(["main:L8", "main:L4"]).check_ids == ("main:L4", "main:L8")
    assert suite.select(["main:L8"]).digest != suite.digest
    with pytest.raises(InputError, match="no check 'main:L99'"):
        suite.select(["main:L99"])


def test_checks_that_share_a_variable_cannot_be_split() -> None:
    lines = "".join(f"    assert_eq!(s.f({n}), {n});\n" for n in range(5))
    with pytest.raises(InputError, match="let mut s"):
        split(suite_of("rust", f"fn main() {{\n    let mut s = S::new();\n{lines}}}"), 0.4, 0)
    visible, held_out = split(suite_of("rust", f"fn main() {{\n    let s = S::new();\n{lines}}}"), 0.4, 0)
    assert (len(visible.check_ids), len(held_out.check_ids)) == (3, 2)


def test_items_are_opened_and_nothing_else_changes() -> None:
    text = 'const A: &str = "fn a() {";\n'
    function = "fn f<'a>(x: &'a str) -> char { '{' }\n"
    opened = with_public_items(f"{text}{function}pub(crate) fn g() {{}}\nimpl S {{ fn m() {{}} }}\n")
    assert opened == f"pub {text}pub {function}pub fn g() {{}}\nimpl S {{ pub fn m() {{}} }}\n"


def test_methods_of_traits_keep_their_visibility() -> None:
    assert with_public_items("impl T for S { fn m() {} }\n") == "impl T for S { fn m() {} }\n"


def test_names_are_those_of_the_top_level() -> None:
    comment = "/* fn a() {} /* nested */ fn b() {} */ mod m { fn c() {} }"
    source = f'{comment} call!(r#"fn d() {{}}"#);\nstruct S<T>(T);\nasync fn e() {{}}'
    assert public_names(source) == {"m", "S", "e"}


def test_hostile_text_is_read_in_one_pass() -> None:
    for text in ('\\"' * 50_000, "'\\x{" * 50_000, "/*" * 50_000, "#[" * 50_000, "{" * 100_000, 'r#"' * 50_000):
        assert public_names(text) == frozenset()


@pytest.mark.parametrize(
    ("signature", "pinned"),
    [
        ("fn f(n: i64) -> i64 {", "pub fn f(a0: i64) -> i64 { ::submission::f(a0) }"),
        (
            "pub fn f(mut v: Vec<(u8, u8)>, (a, b): (i8, i8))",
            "pub fn f(a0: Vec<(u8, u8)>, a1: (i8, i8)) { ::submission::f(a0, a1) }",
        ),
        (
            "fn f<'a, T: Into<u8>>(x: &'a T) -> &'a T where T: Copy",
            "pub fn f<'a, T: Into<u8>>(a0: &'a T) -> &'a T where T: Copy { ::submission::f(a0) }",
        ),
        ("async fn f() -> u8", "pub async fn f() -> u8 { ::submission::f().await }"),
        ("fn f(&self) -> u8", None),
        ("pub struct f;", None),
        ("unsafe fn f()", None),
    ],
)
def test_a_signature_pins_the_types(signature: str, pinned: str | None) -> None:
    assert pin(signature, "f") == pinned


def test_imports_before_a_signature_are_found() -> None:
    signature = "use std::collections::{HashMap, HashSet};\n/// use nothing;\nfn f() {"
    assert imports_of(signature) == ["use std::collections::{HashMap, HashSet};"]


@needs_rust
@pytest.mark.anyio
@pytest.mark.parametrize(
    "source",
    [
        "fn f(n: i64) -> i64 { n * n }",
        "\ufefffn f(n: i64) -> i64 { n * n }",
        "#!/usr/bin/env run\nfn f(n: i64) -> i64 { n * n }",
        "macro_rules! make { ($n:ident) => { pub fn $n(n: i64) -> i64 { n * n } } }\nmake!(f);",
        "mod inner { pub fn f(n: i64) -> i64 { n * n } }\npub use inner::f;",
        'pub fn f(n: i64) -> i64 {\n    println!("n = {}", n);\n    n.pow(2)\n}',
        """
        use std::ops::Mul;
        fn square<T: Mul<Output = T> + Copy>(n: T) -> T { n * n }
        pub(crate) fn f(n: i64) -> i64 { square(n) }""",
        """#![allow(dead_code)]
        fn f(n: i64) -> i64 { std::thread::spawn(move || n * n).join().unwrap() }
        fn main() { assert_eq!(f(1), 2); }""",
    ],
)
async def test_right_program_passes(judge: LanguageJudge, source: str) -> None:
    found = await verdict(judge, source, MAIN, signature="fn f(n: i64) -> i64")
    assert found.passed, found.message
    assert [check.id for check in found.checks] == ["main:L4", "main:L5", "main:L8"]
    assert (found.reason, found.trust, found.score) == ("ok", "shared_process", 1.0)


@needs_rust
@pytest.mark.anyio
async def test_each_assertion_is_judged(judge: LanguageJudge) -> None:
    found = await verdict(judge, 'fn f(n: i64) -> i64 { eprintln!("seen {n}"); n + 2 }', MAIN)
    assert (found.reason, found.checks_passed) == ("failed", 2)
    assert found.failed_ids == ("main:L5",)
    assert 'assert_eq!(candidate(n), n * n, "for {}", n);' in found.message
    assert "left: 3" in found.message
    assert "> seen 2" in found.message


@needs_rust
@pytest.mark.anyio
async def test_test_functions_run_apart(judge: LanguageJudge) -> None:
    tests = """
    use solution::{f, Stack};

    #[test]
    fn right() -> Result<(), String> { if f(2) == 4 { Ok(()) } else { Err("no".into()) } }
    #[test]
    fn wrong() { assert_eq!(f(3), 10); }
    #[test]
    #[should_panic(expected = "empty")]
    fn empty() { Stack::new().pop(); }
    mod inner {
        use super::*;
        #[test]
        fn push() { let mut s = Stack::new(); s.push(1); assert_eq!(s.pop(), 1); }
    }
    """
    source = """
    pub fn f(n: i64) -> i64 { n * n }
    pub struct Stack { items: Vec<i64> }
    impl Stack {
        fn new() -> Self { Stack { items: Vec::new() } }
        fn push(&mut self, n: i64) { self.items.push(n) }
        fn pop(&mut self) -> i64 { self.items.pop().expect("the stack is empty") }
    }
    """
    found = await verdict(judge, source, tests)
    assert found.failed_ids == ("wrong",)
    assert found.checks_passed == 3


@needs_rust
@pytest.mark.anyio
async def test_a_panic_of_the_program_is_an_error_and_the_others_go_on(judge: LanguageJudge) -> None:
    found = await verdict(judge, 'fn f(n: i64) -> i64 { if n == 2 { panic!("two!") } n * n }', MAIN)
    assert (found.reason, found.checks_passed) == ("error", 2)
    assert "two!" in found.message


@needs_rust
@pytest.mark.anyio
async def test_overflow_panics(judge: LanguageJudge) -> None:
    found = await verdict(judge, "fn f(n: i64) -> i64 { n * n + i64::MAX - i64::MAX }", MAIN)
    assert found.reason == "error"
    assert "overflow" in found.message


@needs_rust
@pytest.mark.anyio
async def test_a_panic_between_checks_is_no_pass(judge: LanguageJudge) -> None:
    tests = "fn main() {\n    assert_eq!(f(1), 1);\n    f(2);\n}"
    found = await verdict(judge, 'fn f(n: i64) -> i64 { if n == 2 { panic!("late") } n }', tests)
    assert (found.passed, found.reason) == (False, "error")
    assert "late" in found.message


@needs_rust
@pytest.mark.anyio
async def test_compile_errors_are_rendered_and_short(judge: LanguageJudge) -> None:
    source = "fn f(n: i64) -> i64 {\n    let text: String = n;\n    n\n}\n" + "".join(
        f'fn g{number}() -> u8 {{ "no" }}\n' for number in range(20)
    )
    found = await verdict(judge, source, MAIN)
    assert (found.reason, found.score) == ("syntax", 0.0)
    assert "error[E0308]: mismatched types" in found.message
    assert "solution.rs:2" in found.message
    assert "and 18 more" in found.message
    assert len(found.message) < 4_000


@needs_rust
@pytest.mark.anyio
async def test_a_missing_function_is_missing(judge: LanguageJudge) -> None:
    found = await verdict(judge, "fn g(n: i64) -> i64 { n }", MAIN, signature="fn f(n: i64) -> i64")
    assert found.reason == "missing"
    assert "cannot find function `f` in crate `solution`" in found.message


@needs_rust
@pytest.mark.anyio
@pytest.mark.parametrize("source", ["", "  \n", "fn f\0() {}", "// " + "x" * 300_000])
async def test_what_is_no_program_is_not_compiled(judge: LanguageJudge, source: str) -> None:
    found = await verdict(judge, source, MAIN, limits=Limits(wall_s=1.0))
    assert (found.reason, found.passed) == ("syntax", False)


@needs_rust
@pytest.mark.anyio
async def test_tests_that_do_not_compile_are_refused_by_their_signature(judge: LanguageJudge, tmp_path: Path) -> None:
    bad = suite_of("rust", 'fn main() { assert_eq!(f("text"), 4); }', signature="fn f(n: i64) -> i64")
    with pytest.raises(BadTests, match="mismatched types"):
        await judge.refuse_unusable(bad)
    with pytest.raises(BadTests, match="signature is not valid"):
        await judge.refuse_unusable(suite_of("rust", MAIN, signature="fn f(n: i64 -> i64"))
    await judge.refuse_unusable(suite_of("rust", MAIN, signature="fn f(n: i64) -> i64"))


@needs_rust
@pytest.mark.anyio
@pytest.mark.parametrize(
    "tests",
    [
        "use solution::{f, Item};\nfn main() { assert_eq!(f(&Item::new(2)), 4); }",
        "use solution::*;\nfn main() { assert_eq!(f(&Item::new(2)), 4); }",
        "fn main() { assert_eq!(f(&Item::new(2)), 4); }",
        "extern crate solution;\nuse solution as s;\n#[test]\nfn a() { assert_eq!(s::f(&s::Item::new(2)), 4); }",
    ],
)
async def test_types_of_the_program_can_be_used_however_they_are_named(judge: LanguageJudge, tests: str) -> None:
    signature = "pub fn f(item: &Item) -> i64"
    await judge.refuse_unusable(suite_of("rust", tests, signature=signature))
    source = """
    pub struct Item { n: i64 }
    impl Item { pub fn new(n: i64) -> Self { Item { n } } }
    pub fn f(item: &Item) -> i64 { item.n * item.n }
    """
    found = await verdict(judge, source, tests, signature=signature)
    assert found.passed, found.message


SLY = {
    "a trait": """
        pub trait Sly { fn is_empty(self) -> bool; }
        impl Sly for Vec<i64> { fn is_empty(self) -> bool { true } }""",
    "a trait that the tests seem to name": """
        #[allow(non_camel_case_types)]
        pub trait is_empty { fn is_empty(self) -> bool; }
        impl is_empty for Vec<i64> { fn is_empty(self) -> bool { true } }""",
    "a trait that a macro makes beside a function": """
        macro_rules! make { ($n:ident) => {
            pub trait $n { fn is_empty(self) -> bool; }
            impl $n for Vec<i64> { fn is_empty(self) -> bool { true } }
        } }
        pub fn is_empty() {}
        make!(is_empty);""",
}


@needs_rust
@pytest.mark.anyio
@pytest.mark.parametrize("name", SLY)
async def test_traits_are_taken_by_name_only(judge: LanguageJudge, name: str) -> None:
    """A trait with a method by value would come before std's own method of the same name."""
    for head in ("use solution::*;\n", ""):
        tests = f"{head}fn main() {{ assert!(f().is_empty()); }}"
        source = f"{SLY[name]}\npub fn f() -> Vec<i64> {{ vec![1] }}"
        found = await verdict(judge, source, tests, signature="fn f() -> Vec<i64>")
        assert (found.passed, found.reason) == (False, "failed"), found.message
