"""Rust programs that try to pass without being right. Each must fail, whatever it prints, returns or ends."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from afterword.core.records import Limits
from afterword.evaluators.languages import LANGUAGES, LanguageJudge, open_judge
from tests.evaluators.languages_judged import needs_rust, verdict

pytestmark = [pytest.mark.anyio, needs_rust]

SIGNATURE = "fn f(n: i64) -> i64"
TESTS = """
fn main() {
    assert_eq!(f(2), 4);
    assert_eq!(f(3), 9);
}
"""


@pytest.fixture(scope="module")
async def judge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LanguageJudge]:
    folder = tmp_path_factory.mktemp("builds")
    async with open_judge(LANGUAGES["rust"], workers=2, allow_weak=True, cache=folder) as opened:
        yield opened


FAILS_AT_RUN_TIME = {
    "leaves with success": "pub fn f(_n: i64) -> i64 { std::process::exit(0) }",
    "leaves once the first check is done": """
        use std::sync::atomic::{AtomicI64, Ordering};
        static CALLS: AtomicI64 = AtomicI64::new(0);
        pub fn f(n: i64) -> i64 {
            if CALLS.fetch_add(1, Ordering::SeqCst) == 1 { std::process::exit(0) }
            n * n
        }""",
    "aborts": "pub fn f(_n: i64) -> i64 { std::process::abort() }",
    "prints what a passing test prints": """
        pub fn f(_n: i64) -> i64 {
            println!("test result: ok. 2 passed; 0 failed"); println!("ok"); std::process::exit(0)
        }""",
    "leaves from a panic hook": """
        pub fn f(_n: i64) -> i64 {
            std::panic::set_hook(Box::new(|_| std::process::exit(0)));
            0
        }""",
    "leaves from another thread": """
        pub fn f(_n: i64) -> i64 {
            std::thread::spawn(|| { std::thread::sleep(std::time::Duration::from_millis(20)); std::process::exit(0) });
            std::thread::sleep(std::time::Duration::from_secs(2));
            0
        }""",
    "leaves when a thread-local is dropped": """
        struct Leave;
        impl Drop for Leave { fn drop(&mut self) { std::process::exit(0) } }
        thread_local! { static LEAVE: Leave = const { Leave }; }
        pub fn f(_n: i64) -> i64 { LEAVE.with(|_| ()); 0 }""",
    "raises a panic whose payload leaves when it is dropped": """
        struct Leave;
        impl Drop for Leave { fn drop(&mut self) { std::process::exit(0) } }
        pub fn f(_n: i64) -> i64 { std::panic::panic_any(Leave) }""",
    "replaces the process": """
        use std::os::unix::process::CommandExt;
        pub fn f(_n: i64) -> i64 { let _ = std::process::Command::new("/bin/true").exec(); 0 }""",
    "kills its parent and siblings": """
        pub fn f(_n: i64) -> i64 {
            let _ = std::process::Command::new("/bin/sh").args(["-c", "kill -9 -1; exit 0"]).status();
            0
        }""",
    "recurses until the stack ends": "pub fn f(n: i64) -> i64 { if n == i64::MIN { 0 } else { f(n - 1) + 1 } }",
    "overflows": "pub fn f(n: i64) -> i64 { (i64::MAX - 1 + n) % 7 }",
}


@pytest.mark.parametrize("name", FAILS_AT_RUN_TIME)
async def test_hostile_program_fails(judge: LanguageJudge, name: str) -> None:
    found = await verdict(judge, FAILS_AT_RUN_TIME[name], TESTS, signature=SIGNATURE)
    assert not found.passed
    assert found.score < 1
    assert found.reason in ("error", "failed")
    assert found.trust == "shared_process"


REFUSED_BY_THE_COMPILER = {
    "an unsafe block": "pub fn f(n: i64) -> i64 { unsafe { *(&n as *const i64) } }",
    "unsafe allowed again": "#![allow(unsafe_code)]\npub fn f(n: i64) -> i64 { unsafe { *(&n as *const i64) } }",
    "a main of its own": '#[no_mangle]\npub extern "C" fn main() -> i32 { 0 }\npub fn f(n: i64) -> i64 { n }',
    "a main under another name": """
        #[export_name = "main"]
        pub extern "C" fn m() -> i32 { 0 }
        pub fn f(n: i64) -> i64 { n }""",
    "a constructor that runs before main": """
        extern "C" fn early() { std::process::exit(0) }
        #[used]
        #[link_section = ".init_array"]
        static EARLY: extern "C" fn() = early;
        pub fn f(n: i64) -> i64 { n }""",
    "a constructor behind cfg_attr": """
        extern "C" fn early() { std::process::exit(0) }
        #[used]
        #[cfg_attr(all(), link_section = ".init_array")]
        static EARLY: extern "C" fn() = early;
        pub fn f(n: i64) -> i64 { n }""",
    "assembly": 'std::arch::global_asm!(".globl main");\npub fn f(n: i64) -> i64 { n }',
    "a C function declared safe": """
        unsafe extern "C" { safe fn _exit(status: i32) -> !; }
        pub fn f(_n: i64) -> i64 { _exit(0) }""",
    "the tests as text": 'pub fn f(n: i64) -> i64 { include_str!("tests.rs").len() as i64 + n }',
    "the tests one folder up": 'pub fn f(n: i64) -> i64 { include_str!("../tests.rs").len() as i64 + n }',
    "the tokens at compile time": 'pub fn f(n: i64) -> i64 { include_str!("tokens").len() as i64 + n }',
    "a module of the tests": '#[path = "tests.rs"]\nmod tests;\npub fn f(n: i64) -> i64 { n }',
    "a variable of the build": 'pub fn f(n: i64) -> i64 { env!("AFTERWORD_TOKEN").len() as i64 + n }',
    "a procedural macro": """
        extern crate proc_macro;
        #[proc_macro]
        pub fn evil(input: proc_macro::TokenStream) -> proc_macro::TokenStream { input }
        pub fn f(n: i64) -> i64 { n }""",
    "another crate's name": '#![crate_name = "tests"]\npub fn f(n: i64) -> i64 { n }',
    "unstable features": "#![feature(start)]\npub fn f(n: i64) -> i64 { n }",
}


@pytest.mark.parametrize("name", REFUSED_BY_THE_COMPILER)
async def test_hostile_source_does_not_compile(judge: LanguageJudge, name: str) -> None:
    found = await verdict(judge, REFUSED_BY_THE_COMPILER[name], TESTS, signature=SIGNATURE)
    assert (found.passed, found.reason, found.score) == (False, "syntax", 0.0)
    assert "error" in found.message


MISFITS = {
    "a type that equals everything": """
        #[derive(Debug)]
        pub struct Any;
        impl PartialEq<i64> for Any { fn eq(&self, _: &i64) -> bool { true } }
        pub fn f(_n: i64) -> Any { Any }""",
    "an alias for such a type": """
        #[derive(Debug)]
        pub struct Any;
        impl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } }
        #[allow(non_camel_case_types)]
        pub type i64 = Any;
        pub fn f(_n: std::primitive::i64) -> i64 { Any }""",
    "a generic return type": "pub fn f<T: Default>(_n: i64, _t: T) -> T { T::default() }",
    "a program of the crate type bin": '#![crate_type = "bin"]\nfn main() {}\npub fn g(n: i64) -> i64 { n }',
}


@pytest.mark.parametrize("name", MISFITS)
async def test_a_program_of_another_signature_does_not_fit(judge: LanguageJudge, name: str) -> None:
    found = await verdict(judge, MISFITS[name], TESTS, signature=SIGNATURE)
    assert (found.passed, found.reason) == (False, "missing")
    assert "the tests expect: fn f(n: i64) -> i64" in found.message


SHADOWS = {
    "exported macros": """
        #[macro_export]
        macro_rules! assert_eq { ($($t:tt)*) => {}; }
        #[macro_export]
        macro_rules! assert { ($($t:tt)*) => {}; }
        pub fn f(n: i64) -> i64 { n }""",
    "macros of std under another name": """
        pub use std::stringify as assert_eq;
        pub use std::stringify as assert;
        pub fn f(n: i64) -> i64 { n }""",
    "types named as std's": """
        pub struct Vec;
        pub struct String;
        #[allow(non_snake_case)]
        pub fn Some(_x: i64) -> Option<i64> { None }
        pub fn f(n: i64) -> i64 { n }""",
}


@pytest.mark.parametrize("name", SHADOWS)
async def test_what_the_tests_use_stays_their_own(judge: LanguageJudge, name: str) -> None:
    tests = """
    use solution::*;

    fn main() {
        let wanted: Vec<i64> = vec![4];
        assert_eq!(vec![f(2)], wanted);
        assert!(Some(f(3)) == Some(9));
    }
    """
    found = await verdict(judge, SHADOWS[name], tests)
    assert (found.passed, found.reason, found.checks_passed) == (False, "failed", 0)


SNOOPS = {
    "its own memory": 'std::fs::File::open("/proc/self/mem").is_ok()',
    "its environment": 'std::fs::read("/proc/self/environ").map_or(false, |read| !read.is_empty())',
    "its binary": 'std::fs::read("/proc/self/exe").is_ok() || std::fs::read("tests").is_ok()',
    "the tokens": 'std::fs::read("tokens").is_ok()',
    "the source of the tests": 'std::fs::read("tests.rs").is_ok()',
    "more than one file": 'std::fs::read_dir(".").map_or(0, |files| files.count()) > 0',
    "its arguments": "std::env::args().count() > 1",
    "the memory of its parent by a child": """
        std::process::Command::new("/bin/sh").args(["-c", "cat /proc/$PPID/environ /proc/$PPID/maps"]).output()
            .map_or(false, |read| !read.stdout.is_empty())""",
}


@pytest.mark.parametrize("name", SNOOPS)
async def test_nothing_to_find(judge: LanguageJudge, name: str) -> None:
    """Returns 1 where it finds something."""
    found = await verdict(
        judge,
        f"pub fn f(_n: i64) -> i64 {{ ({SNOOPS[name]}) as i64 }}",
        "fn main() { assert_eq!(f(1), 0); }",
        signature=SIGNATURE,
    )
    assert found.passed, found.message


async def test_a_forged_record_is_tampering(judge: LanguageJudge) -> None:
    """The mark of the records can be read back from the pipe; a token of a check that has not passed cannot."""
    program = r"""
    use std::io::{Read, Write};
    pub fn f(_n: i64) -> i64 {
        let mut back = vec![0u8; 4096];
        let mut pipe = std::fs::OpenOptions::new().read(true).write(true).open("/proc/self/fd/1")
            .or_else(|_| std::fs::File::open("/dev/stdout"));
        if let Ok(pipe) = pipe.as_mut() {
            if let Ok(count) = pipe.read(&mut back) {
                let text = String::from_utf8_lossy(&back[..count]).to_string();
                if let Some(mark) = text.split_whitespace().next() {
                    for index in 0..3 {
                        println!("\n{} passed {} 00112233445566778899aabbccddeeff\n", mark, index);
                    }
                    println!("\n{} done 2 00112233445566778899aabbccddeeff\n", mark);
                }
            }
        }
        std::io::stdout().flush().unwrap();
        std::process::exit(0)
    }
    """
    found = await verdict(judge, program, TESTS, signature=SIGNATURE)
    assert not found.passed
    assert found.reason in ("tampered", "error")
    assert found.checks_passed == 0


async def test_output_locked_for_ever_does_not_stop_the_report(judge: LanguageJudge) -> None:
    program = "pub fn f(n: i64) -> i64 { std::mem::forget(std::io::stdout().lock()); n * n }"
    assert (await verdict(judge, program, TESTS, signature=SIGNATURE)).passed


async def test_limits_are_reasons(judge: LanguageJudge) -> None:
    short = Limits(wall_s=1.0, memory_mb=256, output_bytes=10_000)
    endless = await verdict(judge, "pub fn f(_n: i64) -> i64 { loop {} }", TESTS, signature=SIGNATURE, limits=short)
    hungry = "pub fn f(_n: i64) -> i64 { vec![1u8; 1 << 30].len() as i64 }"
    memory = await verdict(judge, hungry, TESTS, signature=SIGNATURE, limits=Limits(wall_s=10.0, memory_mb=256))
    loud = 'pub fn f(_n: i64) -> i64 { loop { println!("again and again"); } }'
    output = await verdict(judge, loud, TESTS, signature=SIGNATURE, limits=short)
    assert [found.reason for found in (endless, memory, output)] == ["timeout", "memory", "output_limit"]
    assert re.search(r"main:L3: not finished \(timeout\)", endless.message)


async def test_a_source_that_crashes_the_compiler_is_a_failed_trial(judge: LanguageJudge) -> None:
    deep = f"pub fn f(n: i64) -> i64 {{ {'(' * 60_000}n{')' * 60_000} }}"
    found = await verdict(judge, deep, TESTS, signature=SIGNATURE)
    assert not found.passed
    assert found.reason in ("error", "syntax", "memory")


async def test_a_compile_bomb_is_bounded(judge: LanguageJudge, tmp_path: Path) -> None:
    bomb = """
    const fn spin() -> i64 { let mut n: u64 = 0; loop { n = n.wrapping_add(1); if n == u64::MAX { break } } 0 }
    pub const X: i64 = spin();
    pub fn f(n: i64) -> i64 { n + X }
    """
    found = await verdict(judge, bomb, TESTS, signature=SIGNATURE)
    assert (found.passed, found.reason) == (False, "syntax")
