"""Code extraction: the shared cases, and siblings of each of their kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.families.programming.extraction import MAX_REPLY_CHARS, complete, extract_code

CODE = "def f(a, b):\n    return a + b\n"
WRONG = "def f(a, b):\n    return a * b\n"


def test_shared_cases_come_out_byte_for_byte(cases_dir: Path) -> None:
    rows = [json.loads(line) for line in (cases_dir / "reply_parsing.jsonl").read_text().splitlines()]
    assert len(rows) == 13
    for row in rows:
        code = extract_code(row["reply"], row["entry_point"], row.get("signature"))
        assert code == row["code"], row["id"]


PLAIN = {
    "python tag": f"```python\n{CODE}```",
    "python3 tag": f"```python3\n{CODE}```",
    "py tag": f"```py\n{CODE}```",
    "upper-case tag": f"```Python\n{CODE}```",
    "tag with a space": f"``` python\n{CODE}```",
    "tag with attributes": f'```python title="solution.py" {{1,2}}\n{CODE}```',
    "braced tag": f"```{{.python .numberLines}}\n{CODE}```",
    "tag with a file name": f"```python:solution.py\n{CODE}```",
    "file name alone": f"```solution.py\n{CODE}```",
    "no tag": f"```\n{CODE}```",
    "text tag": f"```text\n{CODE}```",
    "tool_code tag": f"```tool_code\n{CODE}```",
    "label inside a bare fence": f"```\npython\n{CODE}```",
    "tilde fence": f"~~~python\n{CODE}~~~",
    "long tilde fence": f"~~~~\n{CODE}~~~~\n",
    "four backticks": f"````python\n{CODE}````",
    "closing fence longer": f"```python\n{CODE}`````",
    "spaces behind the closing fence": f"```python\n{CODE}```   \nDone.",
    "windows line ends": f"Here:\r\n```python\r\n{CODE}```\r\n".replace("\r\n", "\n").replace("\n", "\r\n"),
    "byte order mark": f"\ufeff```python\n{CODE}```",
    "byte order mark inside": f"```python\n\ufeff{CODE}```",
    "unclosed fence": f"Sure:\n```python\n{CODE}",
    "unclosed fence, prose follows": f"```python\n{CODE}\nThis runs in constant time.",
    "unopened fence": f"{CODE}```\nThis runs in constant time.",
    "fence opens behind prose": f"Here it is: ```python\n{CODE}```",
    "fence closes on the last line": f"```python\n{CODE[:-1]}\n```That is all.",
    "bullet item": "- The function:\n\n  ```python\n  def f(a, b):\n      return a + b\n  ```\n",
    "fence on the bullet's line": "- ```python\n  def f(a, b):\n      return a + b\n  ```\n",
    "nested item": "1. A\n   - B\n\n     ```python\n     def f(a, b):\n         return a + b\n     ```\n2. C",
    "two-digit item": "10. Write:\n\n    ```python\n    def f(a, b):\n        return a + b\n    ```\n",
    "item indented by a tab": "1. Write:\n\n\t```python\n\tdef f(a, b):\n\t    return a + b\n\t```\n",
    "indented fence, code at the edge": f"   ```python\n{CODE}   ```",
    "fence at the edge, code indented": "```python\n    def f(a, b):\n        return a + b\n```",
    "quoted passage": "> Here:\n> ```python\n> def f(a, b):\n>     return a + b\n> ```\n\nDone.",
    "usage after it": f"```python\n{CODE}```\nUse it so:\n```python\nprint(f(1, 2))\n```",
    "output after it": f"```python\n{CODE}```\nIt prints:\n```\n3\n```",
    "shell command before it": f"```bash\npip install numpy\n```\n```python\n{CODE}```",
    "other language after it": f"```python\n{CODE}```\nIn JavaScript:\n```js\nfunction f(a, b) {{ return a + b }}\n```",
    "signature first": f"Given\n```python\ndef f(a, b):\n    ...\n```\nI write\n```python\n{CODE}```",
    "stub repeated last": f"```python\n{CODE}```\nIt fits the signature\n```python\ndef f(a, b): ...\n```",
    "corrected in the same reply": f"```python\n{WRONG}```\nWait, the sum is wanted:\n```python\n{CODE}```",
    "a cut second version": f"```python\n{CODE}```\nOr, shorter:\n```python\ndef f(a, b):\n    return (a",
    "tests of its own behind it": f"```python\n{CODE}```\n```python\ndef test_f():\n    assert f(1, 2) == 3\n```",
    "no fence": CODE,
    "no fence, prose before": f"The function is:\n\n{CODE}",
    "no fence, prose follows at once": f"{CODE}This runs in constant time.",
    "no fence, heading follows": f"{CODE}\n## Explanation\nIt adds.",
    "no fence, comment-like heading follows": f"{CODE}\n# Explanation\n\nIt adds both.",
    "no fence, bullets follow": f"{CODE}\n- It adds.\n- It's quick.",
    "no fence, heading before": f"# Solution\n\n{CODE}",
    "no fence, import-like prose before": f"from this we get\n\n{CODE}",
    "no fence, first try and second": f"First try:\n\n{WRONG}\nThat is wrong. Better:\n\n{CODE}",
    "copy of a chat page": f"python\nCopy code\n{CODE}",
    "indented code block": "The function:\n\n    def f(a, b):\n        return a + b\n\nThat is it.",
    "json": json.dumps({"thought": "sum", "code": CODE}),
    "json, explanation behind the code": json.dumps({"code": CODE, "explanation": f"Not\n{WRONG}"}),
    "json, other key": json.dumps({"program": CODE, "language": "python"}),
    "json, nested": json.dumps({"answer": {"explanation": "def g", "files": [{"name": "s.py", "text": CODE}]}}),
    "json list of lines": json.dumps({"code": ["def f(a, b):", "    return a + b", ""]}),
    "json lines with line ends": json.dumps({"cells": [{"source": ["def f(a, b):\n", "    return a + b\n"]}]}),
    "json string": json.dumps(CODE),
    "json with a fence inside": json.dumps({"reply": f"Here:\n```python\n{CODE}```\nDone."}),
    "json with bare line breaks": '{"code": "def f(a, b):\n    return a + b\n"}',
    "json with triple quotes": f'{{"code": """{CODE}"""}}',
    "json tool call": json.dumps({"name": "submit", "arguments": json.dumps({"code": CODE})}),
    "json in prose": f"I answer {json.dumps({'code': CODE})} as asked.",
    "json in a bare fence": f"```\n{json.dumps({'solution': CODE})}\n```",
    "html": f'<pre><code class="language-python">{CODE}</code></pre>',
    "html code alone": f"<code>\n{CODE}</code>",
    "html highlighted": '<pre><span class="k">def</span> f(a, b):\n    return a + b\n</pre>',
    "answer tag": f"<answer>\n{CODE}</answer>",
    "answer tag around a fence": f"<solution>\n```python\n{CODE}```\n</solution>",
    "session": ">>> def f(a, b):\n...     return a + b\n...\n>>> f(1, 2)\n3\n",
    "session in a pycon fence": "```pycon\n>>> def f(a, b):\n...     return a + b\n... \n>>> f(1, 2)\n3\n```",
    "notebook session": (
        "```\nIn [1]: def f(a, b):\n   ...:     return a + b\n   ...:\n\nIn [2]: f(1, 2)\nOut[2]: 3\n```"
    ),
    "diff with git header": (
        "```diff\ndiff --git a/s.py b/s.py\nindex 1..2 100644\n--- a/s.py\n+++ b/s.py\n@@ -1,2 +1,2 @@\n"
        " def f(a, b):\n-    return a * b\n+    return a + b\n\\ No newline at end of file\n```"
    ),
    "diff without header": "```diff\n def f(a, b):\n-    return a * b\n+    return a + b\n```",
    "diff without fence": (
        "--- a/s.py\n+++ b/s.py\n@@ -1,2 +1,2 @@\n def f(a, b):\n-    return a * b\n+    return a + b\n"
    ),
    "new file as a diff in a python fence": "```python\n+def f(a, b):\n+    return a + b\n```",
    "program in a diff fence": f"```diff\n{CODE}```",
    "old line ends": f"Here:\r```python\r{CODE}```\r".replace("\n", "\r"),
    "quotes for a fence": f"Here:\n'''python\n{CODE}'''\nDone.",
    "double quotes for a fence": f'"""py\n{CODE}"""',
    "square answer tags": f"[PYTHON]\n{CODE}[/PYTHON]",
    "line breaks escaped": "def f(a, b):\\n    return a + b\\n",
    "thinking": f"<thinking>\n{WRONG}</thinking>\n```python\n{CODE}```",
    "thought with an open fence": f"<think>\n```python\n{WRONG}</think>\n```python\n{CODE}```",
    "thought ends on a line of text": f"<think>It can't be\n```python\n{WRONG}```\nno.</think>```python\n{CODE}```",
    "two thoughts": f"<think>a</think>\n<think>\n```python\n{WRONG}```\n</think>\n```python\n{CODE}```",
    "nested thoughts": f"<think>a <think>b</think>\n```python\n{WRONG}```\n</think>\n```python\n{CODE}```",
    "thought behind the answer": f"```python\n{CODE}```\n<think>\n```python\n{WRONG}```\n</think>",
    "thought behind the answer, cut": f"```python\n{CODE}```\n<think>or maybe\n```python\n{WRONG}",
    "closing tag alone, open fence before": f"```python\n{WRONG}\n</think>\n```python\n{CODE}```",
    "square tags": f"[THINK]\n```python\n{WRONG}```\n[/THINK]\n```python\n{CODE}```",
    "channels": (
        f"<|channel|>analysis<|message|>```python\n{WRONG}```<|end|><|channel|>final<|message|>```python\n{CODE}```"
    ),
    "end-of-turn token": f"```python\n{CODE}```<|im_end|>",
    "end-of-turn token without fence": f"{CODE}<|im_end|>\n",
}


@pytest.mark.parametrize("reply", PLAIN.values(), ids=PLAIN.keys())
def test_form_of_reply_gives_the_program(reply: str) -> None:
    code = extract_code(reply, "f")
    assert code is not None
    assert code.rstrip("\n") == CODE.rstrip("\n")


EXACT = {
    "tabs": "def f(a, b):\n\treturn a + b\n",
    "trailing spaces": "def f(a, b):   \n    return a + b  \n",
    "blank lines around": "\n\ndef f(a, b):\n\n    return a + b\n\n",
    "form feed": "\x0cdef f(a, b):\n    return a + b\n"[1:] + "\x0c\n",
    "line separator in a string": "def f(a, b):\n    return 'x\u2028y\x85z'\n",
    "vertical tab in a string": "def f(a, b):\n    return 'x\x0by\x1cz'\n",
    "astral and combining characters": "def f(a, b):\n    return '😀e\u0301'\n",
    "no-break space in a string": "def f(a, b):\n    return '\xa0'\n",
    "escapes": "def f(a, b):\n    return '\\n\\t\\\\'\n",
    "entities": "def f(a, b):\n    return a.replace('&amp;', '&').replace('&#39;', b)\n",
    "think tags in strings": 'def f(a, b):\n    return a.replace("<think>", "").replace("</think>", b)\n',
    "think tags in single quotes": "def f(a, b):\n    return a.split('</think>')[-1]\n",
    "think tags in a regular expression": "import re\ndef f(a, b):\n    return re.sub(r'<think>.*?</think>', '', a)\n",
    "think tags on lines of a docstring": (
        'def f(a, b):\n    """\n    <think>\n    x\n    </think>\n    """\n    return a\n'
    ),
    "end-of-turn token in a string": "def f(a, b):\n    return a.replace('<|im_end|>', b)\n",
    "fence in a docstring": 'def f(a, b):\n    """\n    ```python\n    f(1, 2)\n    ```\n    """\n    return a + b\n',
    "fence in a docstring at the edge": 'def f(a, b):\n    """\n```\nf(1, 2)\n```\n"""\n    return a + b\n',
    "fence in a shallow docstring": 'def f(a, b):\n  """\n  ```\n  f(1, 2)\n  ```\n  """\n  return a + b\n',
    "fence in a string": "def f(a, b):\n    return '```python\\n' + a + '\\n```'\n",
    "fence in single-quoted docstring": "def f(a, b):\n    '''\n```\nf\n```\n'''\n    return a + b\n",
    "fence in a comment": "def f(a, b):\n    # ``` is no fence here\n    return a + b\n",
    "tilde line in a docstring": 'def f(a, b):\n    """\n~~~\n"""\n    return a\n',
    "markdown built by the program": 'T = """\n# H\n```python\nx\n```\n"""\n\ndef f(a, b):\n    return T\n',
    "session in a docstring": 'def f(a, b):\n    """\n    >>> f(1, 2)\n    3\n    """\n    return a + b\n',
    "diff-like string": 'def f(a, b):\n    return """\n@@ -1 +1 @@\n-x\n+y\n"""\n',
    "html in a string": "def f(a, b):\n    return f'<pre><code>{a}</code></pre>'\n",
    "json in a string": 'def f(a, b):\n    return \'{"code": "def f(): pass"}\'\n',
    "imports and helper": (
        "import math\nfrom typing import (\n    List,\n)\n\n\ndef g(x):\n    return x\n\n\n"
        "def f(a, b):\n    return g(a)\n"
    ),
    "async function": "async def f(a, b):\n    return a + b\n",
    "decorated": "from functools import cache\n\n\n@cache\ndef f(a, b):\n    return a + b\n",
    "lambda": "f = lambda a, b: a + b\n",
    "annotated assignment": "from typing import Callable\n\nf: Callable[[int, int], int] = lambda a, b: a + b\n",
    "alias": "def add(a, b):\n    return a + b\n\n\nf = add\n",
    "imported": "from operator import add as f\n",
    "class": "class f:\n    def __init__(self, a):\n        self.a = a\n",
    "class with base": "class f(dict):\n    pass\n",
    "generic function": "def f[T](a: T, b: T) -> T:\n    return a\n",
    "signature over lines": "def f(\n    a: int,\n    b: int,\n) -> int:\n    return a + b\n",
    "under a condition": "try:\n    import numpy\nexcept ImportError:\n    def f(a, b):\n        return a + b\n",
    "main guard": "def f(a, b):\n    return a + b\n\n\nif __name__ == '__main__':\n    print(f(1, 2))\n",
    "syntax error": "def f(a, b)\n    return a + b\n",
    "unclosed string": "def f(a, b):\n    return 'abc\n",
    "null character": "def f(a, b):\n    return '\x00'\n",
}


@pytest.mark.parametrize("code", EXACT.values(), ids=EXACT.keys())
def test_fenced_program_comes_out_byte_for_byte(code: str) -> None:
    assert extract_code(f"Here it is.\n\n```python\n{code}```\n\nIt's done; don't worry.", "f") == code


BARE = [name for name in EXACT if name not in {"blank lines around", "form feed", "syntax error", "under a condition"}]


@pytest.mark.parametrize("name", BARE)
def test_bare_program_comes_out_byte_for_byte(name: str) -> None:
    code = EXACT[name]
    assert extract_code(code, "f") == code
    assert extract_code(f"Here is the function I wrote.\n\n{code}\nIt is quick, and I checked it.\n", "f") == code


@pytest.mark.parametrize("name", EXACT)
def test_json_program_comes_out_byte_for_byte(name: str) -> None:
    assert extract_code(json.dumps({"code": EXACT[name]}), "f") == EXACT[name]


NOTHING = {
    "empty": "",
    "blank": " \n\n\t",
    "refusal": "I'm sorry, but I can't help with that.",
    "prose about def f": "To define f, write def f(a, b) and return the sum.",
    "only a thought": f"<think>\n```python\n{CODE}```\n</think>\n",
    "cut thought": f"<think>\n```python\n{CODE}```\nbut",
    "output only": "```\n3\n```",
    "shell only": "```bash\npython f.py\n```",
    "other language": "```javascript\nfunction f(a, b) { return a + b }\n```",
    "empty fence": "```python\n```",
    "opening fence only": "```python",
    "json without code": '{"answer": 42}',
    "broken json": '{"code": "def f(a',
    "diff with two hunks": (
        "```diff\n@@ -1,2 +1,2 @@\n def f(a, b):\n-    x = 1\n+    x = 2\n@@ -9,1 +9,1 @@\n-    y\n+    z\n```"
    ),
    "diff that lacks the definition": "```diff\n@@ -2,1 +2,1 @@\n-    return a * b\n+    return a + b\n```",
    "session without definition": "```python\n>>> f(1, 2)\n3\n```",
}


@pytest.mark.parametrize("reply", NOTHING.values(), ids=NOTHING.keys())
def test_reply_without_program_gives_none(reply: str) -> None:
    assert extract_code(reply, "f") is None


def test_raw_code_tag_is_not_unescaped() -> None:
    code = "def f(a, b):\n    return a.replace('&lt;', '<')\n"
    assert extract_code(f"<code>\n{code}</code>", "f") == code


def test_escaped_html_is_unescaped_once() -> None:
    reply = "<pre>def f(a, b):\n    return a.replace(&#39;&amp;lt;&#39;, &quot;&lt;&quot;)\n</pre>"
    assert extract_code(reply, "f") == "def f(a, b):\n    return a.replace('&lt;', \"<\")\n"


def test_helper_block_is_put_before_the_program_that_uses_it() -> None:
    reply = "A helper:\n```python\ndef g(x):\n    return x\n```\nand\n```python\ndef f(a, b):\n    return g(a)\n```\n"
    assert extract_code(reply, "f") == "def g(x):\n    return x\ndef f(a, b):\n    return g(a)\n"


def test_import_block_is_put_before_the_program_that_uses_it() -> None:
    reply = "```python\nimport math\n```\n```python\ndef f(a, b):\n    return math.gcd(a, b)\n```\n"
    assert extract_code(reply, "f") == "import math\ndef f(a, b):\n    return math.gcd(a, b)\n"


def test_helper_behind_the_program_and_helper_of_a_helper() -> None:
    reply = (
        "```python\ndef h(x):\n    return x\n```\n```python\ndef f(a, b):\n    return g(a)\n```\n"
        "```python\ndef g(x):\n    return h(x)\n```"
    )
    code = extract_code(reply, "f")
    assert code is not None
    assert code.endswith("def f(a, b):\n    return g(a)\n")
    assert "def g(x)" in code
    assert "def h(x)" in code


def test_block_that_is_not_needed_is_left_out() -> None:
    reply = f"```python\nimport math\n\ndef g(x):\n    return x\n```\n```python\n{CODE}```"
    assert extract_code(reply, "f") == CODE


def test_own_tests_are_not_a_part() -> None:
    reply = f"```python\nimport math\nassert f(1, 2) == 3\n```\n```python\n{CODE}```"
    assert extract_code(reply, "f") == CODE


def test_misnamed_program_is_returned_for_its_verdict() -> None:
    code = "def add(a, b):\n    return a + b\n"
    assert extract_code(f"```python\n{code}```", "f") == code
    assert extract_code(f"Here:\n\n{code}", "f") == code


def test_method_of_a_class_is_returned_for_its_verdict() -> None:
    code = "class Solution:\n    def f(self, a, b):\n        return a + b\n"
    assert extract_code(f"```python\n{code}```", "f") == code


BODIES = {
    "indented": "    return a + b\n",
    "in a fence": "```python\n    return a + b\n```",
    "at the edge in a fence": "```python\nreturn a + b\n```",
    "at the edge": "return a + b\n",
}


@pytest.mark.parametrize("reply", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("signature", ["def f(a, b):", "def f(a, b)", "f(a, b)"])
def test_body_alone_is_completed_by_the_signature(reply: str, signature: str) -> None:
    assert extract_code(reply, "f", signature) == CODE


def test_body_of_several_lines_keeps_its_indentation() -> None:
    reply = "    total = 0\n    for x in a:\n        total += x\n    return total\n"
    assert extract_code(reply, "f", "def f(a):") == f"def f(a):\n{reply}"


def test_body_with_trimmed_first_line() -> None:
    reply = "total = a\n    total += b\n    return total"
    assert extract_code(reply, "f", "def f(a, b):") == "def f(a, b):\n    total = a\n    total += b\n    return total\n"


def test_body_at_the_edge_with_a_block_is_indented_whole() -> None:
    assert complete("def f(a):", "if a:\n    return 1\nreturn 2\n") == (
        "def f(a):\n    if a:\n        return 1\n    return 2\n"
    )


def test_signature_with_docstring_is_completed() -> None:
    signature = 'from typing import List\n\n\ndef f(a, b):\n    """Add."""\n'
    assert extract_code("    return a + b\n", "f", signature) == (
        'from typing import List\n\n\ndef f(a, b):\n    """Add."""\n    return a + b\n'
    )


@pytest.mark.parametrize(
    "reply", ["I return the sum.", "return the sum of both", "It is a plus b.", "a + b", "```\n3\n```"]
)
def test_prose_is_no_body(reply: str) -> None:
    assert extract_code(reply, "f", "def f(a, b):") is None


def test_whole_program_is_preferred_to_completion() -> None:
    assert extract_code(f"```python\n{CODE}```", "f", "def f(a, b):") == CODE


def test_entry_point_with_a_longer_sibling() -> None:
    code = "def f_helper(a):\n    return a\n\n\ndef f(a, b):\n    return f_helper(a)\n"
    assert extract_code(f"```python\n{code}```\n```python\ndef f_test():\n    pass\n```", "f") == code


PRELUDE = "from typing import List\n\n\ndef g(x):\n    return x\n\n\ndef f(a: List[int]) -> int:"


def test_imports_and_helpers_of_the_signature_are_put_before_a_program_that_lacks_them() -> None:
    code = extract_code("```python\ndef f(a: List[int]) -> int:\n    return g(a[0])\n```", "f", PRELUDE)
    assert code == PRELUDE + "\n    return g(a[0])\n"


def test_helper_of_the_signature_is_kept_for_the_tests() -> None:
    code = extract_code("```python\ndef f(a):\n    return 1\n```", "f", PRELUDE)
    assert code is not None
    assert "def g(x):" in code


def test_program_that_repeats_the_signature_is_left_alone() -> None:
    whole = PRELUDE + "\n    return g(a[0])\n"
    assert extract_code(f"```python\n{whole}```", "f", PRELUDE) == whole


HOSTILE = {
    "fences": "```\n" * 40_000,
    "fences and quotes": "```\n'''\n" * 20_000,
    "fences of definitions": "```python\ndef f(a): g\n```\n" * 6_000,
    "escaped quotes": "'\\" * 90_000,
    "quotes": '"' * 190_000,
    "brackets": "def f(a):\n    return " + "(" * 180_000,
    "json nesting": '{"code":' * 20_000,
    "json list nesting": "[" * 190_000,
    "long number": "9" * 190_000,
    "tags": "<code>" * 30_000,
    "thoughts": "<think>" * 25_000,
    "closing thoughts": "</think>" * 20_000,
    "spaces": "def f(a):" + " " * 180_000 + "x",
    "quote fences": "'''python\n" * 15_000,
    "square tags": "[CODE]\n" * 20_000,
    "names": "def f(a):\n" + "a, " * 60_000,
    "backticks": "`" * 190_000,
    "single backticks": "`a" * 90_000,
    "definitions": "def f(a):\n" * 18_000,
    "prompts": ">>> def f(a): pass\n" * 9_000,
    "too long": "x" * (MAX_REPLY_CHARS + 1),
    "surrogates": "```python\ndef f(a):\n    return '\ud800'\n```",
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_reply_neither_crashes_nor_hangs(reply: str) -> None:
    result = extract_code(reply, "f", "def f(a):")
    assert result is None or isinstance(result, str)


@given(st.text(max_size=300))
def test_any_reply_is_read(reply: str) -> None:
    code = extract_code(reply, "f")
    assert code is None or code in reply.replace("\r\n", "\n") or code.strip()


PIECES = st.lists(
    st.sampled_from(
        [
            "```",
            "```python",
            "~~~",
            "def f(a):",
            "    return a",
            '"""',
            "'",
            "<think>",
            "</think>",
            "\n",
            ">>> ",
            "{",
            "@@",
            "x = 1",
        ]
    ),
    max_size=30,
)


@given(PIECES)
def test_any_mixture_of_marks_is_read(pieces: list[str]) -> None:
    code = extract_code("".join(pieces), "f", "def f(a):")
    assert code is None or code.strip()


LINES = st.text(st.characters(exclude_characters="\r\n`~'\"#\\", exclude_categories=["Cs"]), max_size=30)


@given(st.lists(LINES, max_size=6))
def test_fenced_lines_come_out_byte_for_byte(lines: list[str]) -> None:
    code = "def f(a):\n" + "".join(f"    {line}\n" for line in lines) + "    return a\n"
    assert extract_code(f"Here.\n```python\n{code}```\nDone.", "f") == code
