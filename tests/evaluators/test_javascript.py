"""JavaScript programs: right ones pass, wrong and hostile ones do not, and what tests can hold."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from afterword.core.records import Limits
from afterword.errors import BadTests, NoTests
from afterword.evaluators.languages import LANGUAGES, LanguageJudge, open_judge
from tests.evaluators.languages_judged import needs_node, suite_of, verdict

pytestmark = [pytest.mark.anyio]

TESTS = """
const { f } = require('./solution');

assert.strictEqual(f(2), 4); // two
assert.deepStrictEqual([f(3)], [9]);
for (const n of [1, 2]) {
  assert.ok(f(n) === n * n);
}
"""
IDS = ("module:L4", "module:L5", "module:L6")


@pytest.fixture(scope="module")
async def judge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LanguageJudge]:
    folder = tmp_path_factory.mktemp("builds")
    async with open_judge(LANGUAGES["javascript"], workers=2, allow_weak=True, cache=folder) as opened:
        yield opened


RIGHT = {
    "exports": "module.exports = { f: (n) => n * n };",
    "a plain function": "function f(n) { return n * n; }",
    "an exported constant": "export const f = (n) => n * n;",
    "a default export": "export default function f(n) {\n  return n * n;\n}",
    "an export list": "const f = (n) => n * n;\nexport { f };",
    "a module of node": "const { inspect } = require('node:util');\nmodule.exports.f = (n) => (inspect(n), n ** 2);",
    "output": "function f(n) { console.log('n', n); return n * n; }",
}


@needs_node
@pytest.mark.parametrize("name", RIGHT)
async def test_right_program_passes(judge: LanguageJudge, name: str) -> None:
    found = await verdict(judge, RIGHT[name], TESTS)
    assert found.passed, found.message
    assert tuple(check.id for check in found.checks) == IDS
    assert found.trust == "shared_process"


HOSTILE = {
    "ends the process": "module.exports.f = () => process.exit(0);",
    "ends it by its real name": "module.exports.f = () => process.reallyExit(0);",
    "replaces the assertions": """
        const a = require('assert');
        a.strictEqual = a.deepStrictEqual = a.ok = () => {};
        module.exports.f = () => 1;""",
    "redefines the assertions": """
        Object.defineProperty(require('assert'), 'strictEqual', { value() {} });
        module.exports.f = () => 1;""",
    "changes what built-ins do": """
        Object.is = () => true;
        Array.prototype.every = () => true;
        module.exports.f = () => 1;""",
    "changes globals": """
        globalThis.assert = Object.assign(() => {}, { strictEqual() {}, ok() {} });
        module.exports.f = () => 1;""",
    "prints records": "module.exports.f = () => { console.log('passed 0\\ndone 3'); return 1; };",
    "throws what ends the process when shown": """
        module.exports.f = () => { throw { get message() { process.exit(0); } }; };""",
    "returns what answers everything": "module.exports.f = () => new Proxy({}, { get: () => () => true });",
}


@needs_node
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_program_fails(judge: LanguageJudge, name: str) -> None:
    found = await verdict(judge, HOSTILE[name], TESTS)
    assert (found.passed, found.checks_passed) == (False, 0)


OUT_OF_REACH = {
    "files": "require('fs')",
    "other processes": "require('child_process')",
    "the debugger": "require('inspector')",
    "the heap": "require('node:v8')",
    "threads": "require('worker_threads')",
    "the loader": "module.constructor._load('fs')",
    "the main module": "require.main.require('fs')",
    "bindings": "process.binding('fs')",
    "built-in modules": "process.getBuiltinModule('fs')",
    "code from text": "eval('1')",
    "functions from text": "new Function('return 1')()",
    "functions from text, by an async one": "(async () => {}).constructor('return 1')()",
}


@needs_node
@pytest.mark.parametrize("name", OUT_OF_REACH)
async def test_out_of_reach(judge: LanguageJudge, name: str) -> None:
    program = (
        f"let found; try {{ found = {OUT_OF_REACH[name]}; }} catch {{}}\nmodule.exports.f = () => found === undefined;"
    )
    found = await verdict(judge, program, "assert.strictEqual(f(), true);")
    assert found.passed, found.message


@needs_node
async def test_modules_cannot_be_imported_later(judge: LanguageJudge) -> None:
    program = """
    module.exports.f = async () => {
      try { await import('node:fs'); return 'loaded'; } catch { return 'refused'; }
    };
    """
    found = await verdict(judge, program, "async function test_import() { assert.strictEqual(await f(), 'refused'); }")
    assert found.passed, found.message


@needs_node
async def test_the_frames_of_the_harness_hold_no_functions(judge: LanguageJudge) -> None:
    program = """
    Error.prepareStackTrace = (error, frames) => frames;
    module.exports.f = () => {
      const frames = new Error().stack;
      return Array.isArray(frames) ? frames.filter((one) => one.getFunction() || one.getThis()).length : 0;
    };
    """
    found = await verdict(judge, program, "assert.strictEqual(f(), 0);")
    assert found.passed, found.message


@needs_node
async def test_failures_are_told_with_the_statement(judge: LanguageJudge) -> None:
    found = await verdict(judge, "const f = (n) => n + 2;", TESTS)
    assert (found.passed, found.reason, found.checks_passed) == (False, "failed", 1)
    assert "module:L5: assert.deepStrictEqual([f(3)], [9]);" in found.message
    assert "module:L4" not in found.failed_ids


@needs_node
async def test_a_program_that_does_not_parse_is_syntax(judge: LanguageJudge) -> None:
    found = await verdict(judge, "function f( { return", TESTS)
    assert (found.reason, found.score) == ("syntax", 0.0)
    assert "solution.js:1" in found.message
    assert "SyntaxError" in found.message


@needs_node
async def test_an_error_while_loading_reaches_no_check(judge: LanguageJudge) -> None:
    found = await verdict(judge, "throw new Error('no luck'); module.exports.f = (n) => n * n;", TESTS)
    assert (found.reason, found.checks_passed) == ("error", 0)
    assert "Error: no luck" in found.message


@needs_node
async def test_an_endless_loop_is_a_timeout(judge: LanguageJudge) -> None:
    found = await verdict(judge, "const f = (n) => { for (;;); };", TESTS, limits=Limits(wall_s=2.0))
    assert found.reason == "timeout"
    assert "module:L4: not finished" in found.message


@needs_node
async def test_checks_that_passed_before_a_timeout_count(judge: LanguageJudge) -> None:
    program = "const f = (n) => { if (n === 3) for (;;); return n * n; };"
    found = await verdict(judge, program, TESTS, limits=Limits(wall_s=4.0))
    assert (found.reason, found.checks_passed) == ("timeout", 1)


@needs_node
async def test_broken_tests_are_refused_before_a_run(judge: LanguageJudge) -> None:
    with pytest.raises(BadTests, match="the tests do not compile"):
        await judge.refuse_unusable(suite_of("javascript", "assert.strictEqual(f(1), 1);\nconst x = ;"))


def test_test_functions_are_checks() -> None:
    suite = suite_of(
        "javascript", "function test_a() { assert(f()); }\nasync function testB() {}\nfunction helper() {}"
    )
    assert suite.check_ids == ("test_a", "testB")


def test_statements_without_semicolons_are_told_apart() -> None:
    suite = suite_of(
        "javascript", "const { f } = require('./solution')\nassert(f(1)\n  === 2)\nassert(/[)\"]/.test(f('a')))"
    )
    assert suite.check_ids == ("module:L2", "module:L4")


def test_asserts_in_comments_and_texts_are_no_checks() -> None:
    with pytest.raises(NoTests):
        suite_of("javascript", "// assert(f(1));\nconst text = `\nassert(f(2));\n`;")


def test_import_statements_are_refused_by_line() -> None:
    with pytest.raises(BadTests, match="import statements") as refused:
        suite_of("javascript", "\nimport { f } from './solution.js';\nassert(f(1));")
    assert refused.value.line == 2


def test_a_variable_that_changes_is_shared_state() -> None:
    suite = suite_of("javascript", "let n = 1;\nassert(f(n));\nn += 1;\nassert(f(n));")
    assert suite.shared_state == ("let n",)
