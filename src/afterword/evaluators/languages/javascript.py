"""JavaScript, by `node`: all that a further language takes, in one file.

Solution and tests share an interpreter. The solution is loaded after the tests' tools have been put out of its reach:
built-in objects are frozen, it can load harmless modules only, and there is no file system, process or debugger for it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterword.errors import BadTests, InputError, NoTests
from afterword.evaluators.languages.protocol import BuildFailure, Made, Program, Step, TestFile, Toolchain, Workshop

_TOKEN = re.compile(
    r"""(?P<space>[^\S\n]+)
      | (?P<newline>\n)
      | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*(?:`|\\?\Z))
      | (?P<name>[#@]?[^\W\d][\w$]*|\$[\w$]*)
      | (?P<number>\d[\w.]*)
      | (?P<pattern>/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)
      | (?P<mark>=>|\?\.|\.\.\.|[-+*/%<>=!&|^?:]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_BEFORE_A_PATTERN = frozenset(("( [ { } , ; = => : ? ! && || ?? == === != !== return typeof case").split())  # noqa: SIM905
_CONTINUES = frozenset((". ?. ( [ , ? : = => + - * / % < > <= >= == === != !== && || ?? | & ^ in instanceof").split())  # noqa: SIM905
_BLOCK_WORDS = frozenset({"for", "while", "do", "if", "try", "switch", "{"})
_TEST_NAME = re.compile(r"test(?:_\w+|[A-Z0-9]\w*)\Z")
_EXPORT = re.compile(
    r"^export[ \t]+(?:default[ \t]+)?(?=(?:async[ \t]+)?function\b|class\b|const\b|let\b|var\b)", re.MULTILINE
)
_EXPORT_LIST = re.compile(r"^export[ \t]*\{[^}]*\}[ \t]*;?|^export[ \t]+default[ \t]+\w+[ \t]*;?[ \t]*$", re.MULTILINE)
_SOLUTION = re.compile(r"""require\(\s*["']\./solution(?:\.c?js)?["']\s*\)""")
_MAX_STATEMENT = 300
_MAX_ERROR = 1_200
_PROBE_S = 30


class JavaScript:
    """The language as the registry holds it."""

    name = "javascript"
    title = "JavaScript"
    suffix = ".js"
    signature_form = "function {name}(…)"
    needs_signature = False
    fences: Sequence[str] = ("javascript", "js", "node", "cjs", "mjs")
    advice = (
        "It is loaded by Node.js as a CommonJS module and read by its exports: end it with `module.exports = { … }`. "
        "No packages, files, processes or `eval`."
    )

    def find_toolchain(self) -> Toolchain:
        """`node` itself, not a launcher."""
        launcher = shutil.which("node")
        if launcher is None:
            raise InputError(
                "a JavaScript task needs node on PATH, found none; install Node.js, then see: afterword doctor"
            )
        try:
            answer = subprocess.run(
                [launcher, "-p", "process.execPath + '\\n' + process.version"],
                capture_output=True, text=True, timeout=_PROBE_S, check=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError(f"{launcher!r} does not answer as node ({error}); install Node.js anew") from None
        program, version = answer.stdout.split()
        prefix = Path(program).parent.parent
        return Toolchain(Path(program), version, () if prefix.is_relative_to("/usr") else (prefix,))

    def read_tests(self, text: str, entry_point: str, signature: str | None, file: Path | None) -> TestFile:
        """Asserts at the top level, loops and blocks that hold some, and functions named `test_…` or `test…`."""
        return _Reader(text, entry_point, file).test_file(signature)

    def is_signature(self, signature: str, entry_point: str) -> bool:
        return self.defines(signature, entry_point)

    def defines(self, code: str, name: str) -> bool:
        word = re.escape(name)
        declared = r"(?:async[ \t]+)?function[ \t]*\*?[ \t]*|class[ \t]+|(?:const|let|var)[ \t]+"
        pattern = (
            rf"^(?:export[ \t]+(?:default[ \t]+)?)?(?:{declared}){word}(?![\w$])|^(?:module\.)?exports\.{word}[ \t]*="
        )
        return re.search(pattern, code, re.MULTILINE) is not None

    def complete(self, code: str, signature: str) -> str:
        head = signature.rstrip()
        if head.endswith("{") and not re.search(r"\b(?:function|class|=>)", code):
            return f"{head}\n{code.strip(chr(10))}\n}}\n"
        return code

    def stub(self, tests: TestFile) -> str | None:
        return f"module.exports.{tests.entry_point} = function () {{}};\n"

    def blames_names(self, message: str) -> bool:  # noqa: ARG002 - names are looked up at run time
        return False

    async def build(
        self, toolchain: Toolchain, workshop: Workshop, solution: str, tests: TestFile
    ) -> Program | BuildFailure:
        """There is nothing to compile; both files are only parsed, so that what is wrong is told by file and line."""
        node, name = str(toolchain.program), tests.entry_point
        plain = _EXPORT_LIST.sub("", _EXPORT.sub("", solution))
        parsed = await self._parse(node, workshop, "tests.cjs", tests.code)
        if parsed.exit_code != 0:
            raise BadTests(f"the tests do not compile: {_said(parsed)}")
        parsed = await self._parse(node, workshop, "solution.cjs", plain)
        if parsed.exit_code != 0:
            return BuildFailure("syntax", f"the program does not compile\n{_said(parsed)}")
        missing = f"module.exports.{name} === undefined && typeof {name} !== 'undefined'"
        files = {
            "solution.cjs": f"{plain}\n;if ({missing}) module.exports.{name} = {name};\n",
            "tests.cjs": tests.code,
            "run.cjs": _HARNESS,
        }
        flags = (
            "--frozen-intrinsics",
            "--disallow-code-generation-from-strings",
            "--zero-fill-buffers",
            "--no-warnings",
            "--stack-trace-limit=5",
        )
        encoded = {file: text.encode("utf-8", "replace") for file, text in files.items()}
        return Program((node, *flags, "run.cjs"), encoded)

    async def _parse(self, node: str, workshop: Workshop, file: str, text: str) -> Made:
        return await workshop.make(Step((node, "--check", file), {file: text.encode("utf-8", "replace")}, ()))


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    depth: int
    on_new_line: bool
    kind: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _tokens(source: str) -> Iterator[_Token]:
    position, depth, new_line, last = 0, 0, True, ";"
    while position < len(source) and (match := _TOKEN.match(source, position)):
        kind, text = str(match.lastgroup), match.group()
        if kind == "pattern" and last not in _BEFORE_A_PATTERN:
            kind, text = "mark", "/"
        if kind in ("space", "newline", "comment"):
            new_line |= "\n" in text
        else:
            depth -= text in (")", "]", "}")
            yield _Token(text, position, max(depth, 0), new_line, kind)
            depth = max(depth, 0) + (text in ("(", "[", "{"))
            new_line, last = False, text
        position += len(text)


class _Reader:
    """One pass over a test file; collects its checks and the changes that mark them."""

    def __init__(self, text: str, entry_point: str, file: Path | None) -> None:
        self._text = text
        self._entry_point = entry_point
        self._file = file
        self._tokens = list(_tokens(text))
        self._parts: list[str] = []
        self._at = 0
        self._ids: list[str] = []
        self._statements: dict[str, str] = {}
        self._shared: list[str] = []

    def test_file(self, signature: str | None) -> TestFile:
        functions = []
        for first, last in self._split():
            word, following = self._tokens[first].text, [token.text for token in self._tokens[first + 1 : first + 4]]
            if word == "import" and following[:1] != ["("]:
                self._fail("import statements are not supported; write: const { … } = require('./solution')", first)
            if word in ("function", "async"):
                name = next((text for text in following if text not in ("function", "*")), "")
                if _TEST_NAME.match(name):
                    functions.append(name)
            elif word in ("let", "var"):
                self._shared.append(f"{word} {following[0] if following else ''}")
            elif word == "assert" or (word in _BLOCK_WORDS and self._asserts(first, last)):
                self._mark(first, last)
        body = "".join([*self._parts, self._text[self._at :]])
        calls = "".join(f"await check({len(self._ids) + at}, {name});\n" for at, name in enumerate(functions))
        self._ids += functions
        if not self._ids:
            raise NoTests("the tests define no check; add an assert, or a function named test_…", file=self._file)
        if len(set(self._ids)) < len(self._ids):
            raise BadTests("two tests have the same name or stand on one line; part them", file=self._file)
        taken = "" if _SOLUTION.search(self._text) else f"const {{ {self._entry_point} }} = require('./solution'); "
        if taken and re.search(rf"^(?:const|let|var)\b[^=\n]*\b{re.escape(self._entry_point)}\b", self._text, re.M):
            taken = ""
        # A block of its own inside, since tests may declare assert themselves.
        head = "module.exports = async function (require, check, assert) { 'use strict'; {"
        code = f"{head} {taken}{body}\n{calls}}} }};\n"
        return TestFile(
            self._text, self._entry_point, signature, tuple(self._ids), code, self._statements, tuple(self._shared)
        )

    def _split(self) -> Iterator[tuple[int, int]]:
        """The statements at the top level, as indices of their first and last token."""
        tokens, at = self._tokens, 0
        while at < len(tokens):
            first = at
            is_block = tokens[at].text in _BLOCK_WORDS | {"function", "async", "class"}
            while at < len(tokens):
                token, following = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
                at += 1
                if token.depth > 0:
                    continue
                if token.text == ";" or following is None:
                    break
                closes = token.text == "}" and is_block and following.text not in ("else", "catch", "finally", "while")
                ends_line = following.on_new_line and following.depth == 0 and following.text not in _CONTINUES
                if closes or (ends_line and not is_block and token.text not in _CONTINUES - {")", "]", "}"}):
                    break
            yield first, at - 1

    def _asserts(self, first: int, last: int) -> bool:
        return any(token.kind == "name" and token.text == "assert" for token in self._tokens[first : last + 1])

    def _mark(self, first: int, last: int) -> None:
        start, end = self._tokens[first].start, self._tokens[last].end
        statement = self._text[start:end]
        check_id = f"module:L{self._text.count(chr(10), 0, start) + 1}"
        self._parts += [self._text[self._at : start], f"await check({len(self._ids)}, async () => {{ {statement}\n}});"]
        # The line break ends a comment on the statement's line; later lines are one further down for each check.
        self._at = end
        self._ids.append(check_id)
        told = " ".join(statement.split())
        self._statements[check_id] = told if len(told) <= _MAX_STATEMENT else f"{told[:_MAX_STATEMENT]} […]"

    def _fail(self, message: str, at: int) -> None:
        raise BadTests(message, file=self._file, line=self._text.count("\n", 0, self._tokens[at].start) + 1)


def _said(parsed: Made) -> str:
    """What node says of a file that it cannot parse, without its own stack."""
    output = re.sub(r"^\S*/(solution|tests)\.cjs", r"\1.js", parsed.output.strip())
    lines = [line for line in output.splitlines() if not re.match(r"\s+at |Node\.js v", line)]
    return "\n".join(line for line in lines if line.strip())[:_MAX_ERROR]


_HARNESS = r"""'use strict';
const fs = require('fs'), vm = require('vm'), path = require('path');
const lines = fs.readFileSync('tokens', 'utf8').split('\n');
const [mark, tokens] = [lines[0], lines.slice(1, -1)];
const sources = { solution: fs.readFileSync('solution.cjs', 'utf8'), tests: fs.readFileSync('tests.cjs', 'utf8') };
for (const name of ['tokens', 'solution.cjs', 'tests.cjs', 'run.cjs']) fs.unlinkSync(name);
const realProcess = process, exit = process.reallyExit.bind(process), write = fs.writeSync;
const assert = require('assert');
const harmless = ['assert', 'assert/strict', 'buffer', 'crypto', 'events', 'perf_hooks', 'punycode', 'querystring',
                  'string_decoder', 'timers', 'timers/promises', 'url', 'util'];
const modules = new Map(harmless.map((name) => [name, require(name)]));
for (const one of [assert, assert.strict, assert.AssertionError, assert.AssertionError.prototype]) Object.freeze(one);

const stub = Object.freeze({
  argv: Object.freeze(['node', 'solution.js']), env: Object.freeze({}), platform: realProcess.platform,
  version: realProcess.version, versions: realProcess.versions, nextTick: realProcess.nextTick.bind(realProcess),
  hrtime: Object.assign((...past) => realProcess.hrtime(...past), { bigint: () => realProcess.hrtime.bigint() }),
  exit() { throw new Error('process.exit is not available'); }, on() {}, cwd: () => '/',
  stdout: Object.freeze({ write: (text) => { console.log(String(text).replace(/\n$/, '')); return true; } }),
});
for (const name of ['process', 'WebAssembly', 'fetch', 'WebSocket']) delete globalThis[name];
globalThis.process = stub;
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const found = Object.getOwnPropertyDescriptor(globalThis, name);
  if (!found.configurable) continue;
  const value = 'value' in found ? found.value : globalThis[name];
  const { enumerable } = found;
  Object.defineProperty(globalThis, name, { value, writable: false, enumerable, configurable: false });
}

function say(word, index, value) { write(1, `\n${mark} ${word} ${index} ${value}\n`); }
function textOf(error) {
  try {
    if (error instanceof assert.AssertionError) return `assertion failed: ${error.message}`;
    if (error instanceof Error) return `${error.name}: ${error.message}`;
    return `threw ${typeof error}`;
  } catch { return 'threw what cannot be shown'; }
}
function hex(text) { return Buffer.from(String(text).slice(0, 1500)).toString('hex'); }
async function check(index, body) {
  say('begun', index, '');
  try { await body(); } catch (error) { say('failed', index, hex(textOf(error))); return; }
  say('passed', index, tokens[index]);
}
function load(source, name, names, values) {
  const module = { exports: {} };
  const compiled = vm.compileFunction(source, ['exports', 'module', ...names], { filename: name });
  compiled.call(module.exports, module.exports, module, ...values);
  return module.exports;
}
function requireHarmless(name) {
  const found = modules.get(String(name).replace(/^node:/, ''));
  if (found === undefined) throw new Error(`the module '${name}' is not available here`);
  return found;
}
let solution;
function requireFromTests(name) {
  return /^\.\/solution(\.c?js)?$/.test(name) ? solution : requireHarmless(name);
}
(async () => {
  try {
    const given = { require: requireHarmless, __filename: '/solution.js', __dirname: '/' };
    solution = load(sources.solution, 'solution.js', Object.keys(given), Object.values(given));
    const tests = load(sources.tests, 'tests.js', [], []);
    await tests(requireFromTests, check, assert);
    say('done', tokens.length - 1, tokens[tokens.length - 1]);
  } catch (error) { say('stopped', 0, hex(textOf(error))); }
  exit(0);
})();
"""
