"""How endings are read, and how untrusted output becomes text."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.records import Limits
from afterword.errors import InputError, SandboxFault
from afterword.sandbox.results import Ending, anonymous_file, clean, pack_files, unpack_collected

LIMITS = Limits(wall_s=5.0, cpu_s=2.0)


def exited(code: int) -> int:
    return code << 8


@pytest.mark.parametrize(
    ("ending", "reason", "code"),
    [
        (Ending(exited(0), None, 0.1), "exited", 0),
        (Ending(exited(3), None, 0.1), "exited", 3),
        (Ending(signal.SIGSEGV, None, 0.1), "signal", None),
        (Ending(signal.SIGXCPU, None, 0.1), "timeout", None),
        (Ending(signal.SIGKILL, None, 3.0, cpu_s=2.5), "timeout", None),
        (Ending(signal.SIGKILL, None, 0.1, cpu_s=0.1), "signal", None),
        (Ending(signal.SIGKILL, None, 0.1, memory_kill=True), "memory", None),
        (Ending(exited(0), None, 0.1, memory_kill=True), "exited", 0),
        (Ending(None, "memory", 0.1), "memory", None),
        (Ending(None, None, 0.1, memory_kill=True), "memory", None),
        (Ending(None, "deadline", 5.2), "timeout", None),
        (Ending(None, "closed", 0.1), "signal", None),
        (Ending(exited(0), "closed", 0.1), "exited", 0),
        (Ending(None, "output_limit", 0.1), "output_limit", None),
        (Ending(exited(1), None, 0.1, stderr=b"Traceback\nMemoryError\n"), "memory", None),
        (Ending(exited(0), None, 0.1, stderr=b"MemoryError\n"), "exited", 0),
        (Ending(signal.SIGABRT, None, 0.1, stderr=b"memory allocation of 80 bytes failed"), "memory", None),
    ],
)
def test_reasons(ending: Ending, reason: str, code: int | None) -> None:
    result = ending.result(LIMITS, "namespaces")
    assert (result.reason, result.exit_code) == (reason, code)


def test_an_ending_that_nothing_explains_is_a_fault() -> None:
    with pytest.raises(SandboxFault, match="without saying how"):
        Ending(None, None, 0.1).result(LIMITS, "namespaces")


@pytest.mark.parametrize(
    ("captured", "text"),
    [
        (b"plain\ttext\r\n", "plain\ttext\r\n"),
        (b"\x1b[31mred\x1b[0m", "[31mred[0m"),
        (b"a\x00b\x07c\x7f", "abc"),
        ("x\u202ey\u2066z\u200f".encode(), "xyz"),
        ("\x9b31m".encode(), "31m"),
        (b"\xff\xfe", "\\xff\\xfe"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        ("naïve ünïcödé 漢字 🙂".encode(), "naïve ünïcödé 漢字 🙂"),
    ],
)
def test_output_is_made_harmless(captured: bytes, text: str) -> None:
    assert clean(captured) == text


@given(st.binary())
def test_any_output_can_be_printed_and_stored(captured: bytes) -> None:
    text = clean(captured)
    assert text.encode("utf-8").decode() == text
    assert not {"\x00", "\x1b", "\u202e"} & set(text)


@given(st.binary(max_size=200_000))
def test_an_anonymous_file_holds_what_it_was_given(content: bytes) -> None:
    fd = anonymous_file(content)
    try:
        assert os.pread(fd, len(content) + 1, 0) == content
    finally:
        os.close(fd)


@pytest.mark.parametrize("name", ["", "/etc/x", "../x", "a/../../x"])
def test_a_file_outside_the_work_folder_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="inside the work folder"):
        pack_files({name: b""})


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.binary()))
def test_packed_files_come_out_of_a_collection_alike(files: dict[str, bytes]) -> None:
    import json

    stream = b"".join(
        json.dumps({"name": name, "size": len(content)}).encode() + b"\n" + content for name, content in files.items()
    )
    assert unpack_collected(stream) == files
    inside = {name: content for name, content in files.items() if "/" not in name and name != ".."}
    assert pack_files(inside).endswith(b"".join(inside.values()))


def test_a_collection_cut_short_loses_its_last_file_only() -> None:
    stream = b'{"name": "a", "size": 2}\nxx{"name": "b", "size": 5}\nyy'
    assert unpack_collected(stream) == {"a": b"xx"}
