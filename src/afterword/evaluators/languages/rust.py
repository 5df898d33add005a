"""Rust, by `rustc` alone: the solution is a crate, the tests are another that links it, each compiled in its own jail.

The solution is compiled without `unsafe`: then nothing of it runs before the tests' `main`, and none of it can look
around in the memory of the tests, short of a hole in the compiler.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from afterword.errors import InputError
from afterword.evaluators.languages.protocol import BuildFailure, Made, Program, Step, TestFile, Toolchain, Workshop
from afterword.evaluators.languages.rust_harness import HARNESS_CODE
from afterword.evaluators.languages.rust_link import CRATE, declares, head_of, imports_of, link, names_taken
from afterword.evaluators.languages.rust_tests import read_tests
from afterword.evaluators.languages.rust_text import items_of, public_names, tokens_of, with_public_items

_LIBRARY = f"lib{CRATE}.rlib"
_COMMON = ("--edition", "2021", "-C", "opt-level=0", "-C", "overflow-checks=on", "-C", "codegen-units=1",
           "-A", "warnings",
           "--error-format", "json")  # fmt: skip
_SHOWN_ERRORS = 3
_MAX_ERROR = 900
_PROBE_S = 30


class Rust:
    """The language as the registry holds it."""

    name = "rust"
    title = "Rust"
    suffix = ".rs"
    signature_form = "fn {name}(…) -> …"
    needs_signature = True
    fences: Sequence[str] = ("rust", "rs")
    advice = (
        "Only the standard library and safe Rust are there: `unsafe` does not compile, and overflow panics. "
        "No `fn main`. What the tests use has to be `pub`."
    )

    def find_toolchain(self) -> Toolchain:
        """`rustc` itself, not rustup's launcher, which needs a home."""
        launcher = shutil.which("rustc")
        if launcher is None:
            raise InputError("a Rust task needs rustc on PATH, found none; install Rust, then see: afterword doctor")
        if shutil.which("cc") is None:
            raise InputError("a Rust task needs a C linker (cc) on PATH, found none; install gcc or clang")
        sysroot = Path(_answer(launcher, "--print", "sysroot").strip())
        version = _answer(launcher, "--version", "--verbose").strip()
        program = sysroot / "bin" / "rustc"
        if not program.is_file():
            program = Path(launcher).resolve()
        readable = () if sysroot.is_relative_to("/usr") else (sysroot,)
        return Toolchain(program, version, readable)

    def read_tests(self, text: str, entry_point: str, signature: str | None, file: Path | None) -> TestFile:
        return read_tests(text, entry_point, signature, file)

    def is_signature(self, signature: str, entry_point: str) -> bool:
        return declares(signature, entry_point)

    def defines(self, code: str, name: str) -> bool:
        return name in public_names(code)

    def complete(self, code: str, signature: str) -> str:
        if not public_names(code) and signature.rstrip().endswith("{"):
            body = code.strip("\n")
            return f"{signature.rstrip()}\n{body}\n}}\n"
        used = {token.text for token in tokens_of(code)} - {item.name for item in items_of(tokens_of(code))}
        given = " ".join(imports_of(code))
        missing = [line for line in imports_of(signature) if (name := _last_name(line)) in used and name not in given]
        return "\n".join([*missing, code])

    def stub(self, tests: TestFile) -> str | None:
        signature = tests.signature or ""
        head = head_of(signature, tests.entry_point)
        if not head or "impl" in head.partition(")")[2]:  # nothing that does nothing is an `impl Trait`
            return None
        if names_taken(tests) - {tests.entry_point}:
            return None
        return "\n".join([*imports_of(signature), f"pub {head} {{ loop {{}} }}\n"])

    def blames_names(self, message: str) -> bool:
        return re.search(r"error\[E04(?:05|12|25|32|33)\]", message) is not None

    async def build(
        self, toolchain: Toolchain, workshop: Workshop, solution: str, tests: TestFile
    ) -> Program | BuildFailure:
        rustc = str(toolchain.program)
        library = await workshop.make(
            Step(
                (rustc, "--crate-name", CRATE, "--crate-type", "rlib", *_COMMON, "-F", "unsafe_code", "solution.rs"),
                {"solution.rs": with_public_items(solution).encode("utf-8", "replace")},
                (_LIBRARY,),
            )
        )
        if library.exit_code != 0 or _LIBRARY not in library.files:
            return BuildFailure("syntax", f"the program does not compile\n{errors_in(library)}")
        source = f"{tests.code}\n{link(tests, solution)}\n{HARNESS_CODE}"
        linked = await workshop.make(
            Step(
                (rustc, "--crate-name", "tests", *_COMMON, "-C", "link-arg=-Wl,-s", "--extern",
                 f"{CRATE}={_LIBRARY}", "tests.rs", "-o", "tests"),
                {"tests.rs": source.encode("utf-8", "replace"), _LIBRARY: library.files[_LIBRARY]},
                ("tests",),
            )
        )  # fmt: skip
        if linked.exit_code != 0 or "tests" not in linked.files:
            return BuildFailure("missing", f"the tests do not compile against the program\n{_misfit(linked, tests)}")
        return Program(("/bin/sh", "-c", "chmod 111 tests && exec ./tests"), linked.files)


def errors_in(made: Made) -> str:
    """The compiler's errors as it renders them, the first few."""
    return _shown([str(error.get("rendered") or error["message"]).strip() for error in _errors(made)], made)


def _misfit(made: Made, tests: TestFile) -> str:
    """The errors of tests that do not fit a program; of those in what links the two, what they say alone."""
    written = tests.text.count("\n") + 1
    texts = []
    expected = ""
    for error in _errors(made):
        found = error.get("spans")
        spans = [span for span in found if isinstance(span, dict)] if isinstance(found, list) else []
        if any(int(span.get("line_start", 0)) > written for span in spans):
            labels = [f" ({span['label']})" for span in spans if span.get("is_primary") and span.get("label")]
            text = "".join([str(error["message"]), *labels[:1]])
            texts.append(f"error: {text.replace('`::submission`', '`solution`')}")
            expected = head_of(tests.signature or "", tests.entry_point)
        else:
            texts.append(str(error.get("rendered") or error["message"]).strip())
    shown = _shown(list(dict.fromkeys(texts)), made)
    return f"{shown}\nthe tests expect: {expected}" if expected else shown


def _errors(made: Made) -> list[dict[str, object]]:
    found = []
    for line in made.output.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        is_error = isinstance(told, dict) and str(told.get("level", "")).startswith("error")
        if is_error and not str(told["message"]).startswith("aborting due to"):
            found.append(told)
    return found


def _shown(texts: list[str], made: Made) -> str:
    if not texts:
        return made.output.strip()[-_MAX_ERROR:] or "the compiler ended without a message"
    shown = [text if len(text) <= _MAX_ERROR else f"{text[:_MAX_ERROR]} […]" for text in texts[:_SHOWN_ERRORS]]
    more = len(texts) - len(shown)
    return "\n\n".join([*shown, *([f"and {more} more"] if more else [])])


def _last_name(line: str) -> str:
    """The name that a `use` line brings in; the first of several."""
    names = re.findall(r"\w+", line.rstrip(";").split("::")[-1])
    return names[-1] if " as " in line and names else names[0] if names else ""


def _answer(program: str, *arguments: str) -> str:
    try:
        return subprocess.run(
            [program, *arguments],
            capture_output=True,
            text=True,
            timeout=_PROBE_S,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"{program!r} does not answer as a Rust compiler ({error}); install Rust anew") from None
