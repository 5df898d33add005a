"""The filter's verdicts, by a small interpreter of classic BPF, for both machines and without asking a kernel."""

from __future__ import annotations

import errno
import struct

import pytest

from afterword.sandbox.jail import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSED = 0x00050000 | errno.EPERM
MISSING = 0x00050000 | errno.ENOSYS
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {"read": 0, "execve": 59, "execveat": 322, "clone": 56, "socket": 41, "socketpair": 53, "ioctl": 16,
               "setsockopt": 54, "ptrace": 101, "mount": 165, "keyctl": 250, "unshare": 272, "setns": 308, "bpf": 321,
               "prlimit64": 302, "memfd_create": 319},
    "aarch64": {"read": 63, "execve": 221, "execveat": 281, "clone": 220, "socket": 198, "socketpair": 199,
                "ioctl": 29, "setsockopt": 208, "ptrace": 117, "mount": 40, "keyctl": 219, "unshare": 97, "setns": 268,
                "bpf": 280, "prlimit64": 261, "memfd_create": 279},
}  # fmt: skip


def verdict(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """Runs the program on one call, as the kernel would."""
    words = [number, arch, 0, 0]
    for value in (*arguments, *[0] * (6 - len(arguments))):
        words += [value & 0xFFFFFFFF, value >> 32]
    instructions = list(struct.iter_unpack("=HBBI", program))
    loaded = at = 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        if code == 0x20:
            loaded = words[value // 4]
        elif code == 0x54:
            loaded &= value
        elif code == 0x06:
            return int(value)
        else:
            truth = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += if_true if truth else if_false


@pytest.fixture(params=["x86_64", "aarch64"])
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ask(machine: str, name: str, *arguments: int, may_exec: bool = False) -> int:
    program = seccomp.assemble(may_exec=may_exec, machine=machine)
    return verdict(program, ARCH[machine], NUMBERS[machine][name], *arguments)


def test_ordinary_calls_pass(machine: str) -> None:
    assert ask(machine, "read", 0) == ALLOW


@pytest.mark.parametrize("name", ["ptrace", "mount", "keyctl", "unshare", "setns", "bpf"])
@pytest.mark.parametrize("may_exec", [False, True])
def test_dangerous_calls_are_refused_to_all(machine: str, name: str, may_exec: bool) -> None:
    assert ask(machine, name, may_exec=may_exec) == REFUSED


@pytest.mark.parametrize("name", ["execve", "execveat"])
def test_exec_is_for_commands_only(machine: str, name: str) -> None:
    assert ask(machine, name) == REFUSED
    assert ask(machine, name, may_exec=True) == ALLOW


def test_threads_and_forks_pass_and_namespaces_do_not(machine: str) -> None:
    assert ask(machine, "clone", 0x3D0F00) == ALLOW
    assert ask(machine, "clone", 17) == ALLOW
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert ask(machine, "clone", flag | 17) == REFUSED


@pytest.mark.parametrize(
    ("family", "kind", "expected"),
    [(1, 1, ALLOW), (1, 5, ALLOW), (2, 1, ALLOW), (2, 0x80802, ALLOW), (10, 1, ALLOW), (2, 3, REFUSED),
     (10, 3, REFUSED), (16, 2, REFUSED), (17, 3, REFUSED), (38, 5, REFUSED), (40, 1, REFUSED)],
)  # fmt: skip
def test_socket_families(machine: str, family: int, kind: int, expected: int) -> None:
    assert ask(machine, "socket", family, kind) == expected


def test_pairs_options_and_terminals(machine: str) -> None:
    assert ask(machine, "socketpair", 1, 1) == ALLOW
    assert ask(machine, "socketpair", 30, 1) == REFUSED
    assert ask(machine, "setsockopt", 3, 1) == ALLOW
    assert ask(machine, "setsockopt", 3, 6) == REFUSED
    assert ask(machine, "ioctl", 0, 0x5401) == ALLOW
    assert ask(machine, "ioctl", 0, 0x5412) == REFUSED


def test_a_program_sets_its_own_limits_only(machine: str) -> None:
    assert ask(machine, "prlimit64", 0, 7) == ALLOW
    assert ask(machine, "prlimit64", 1, 7) == REFUSED


def test_memory_without_a_process_is_for_commands_only(machine: str) -> None:
    assert ask(machine, "memfd_create") == REFUSED
    assert ask(machine, "memfd_create", may_exec=True) == ALLOW


def test_calls_of_another_machine_kill(machine: str) -> None:
    program = seccomp.assemble(may_exec=True, machine=machine)
    assert verdict(program, 0x40000003, 11) == KILL


def test_x32_calls_kill() -> None:
    program = seccomp.assemble(may_exec=True, machine="x86_64")
    assert verdict(program, ARCH["x86_64"], 0x40000000 + 520) == KILL


def test_calls_after_the_table_are_missing(machine: str) -> None:
    program = seccomp.assemble(may_exec=True, machine=machine)
    allowed = {number for number in range(424, 700) if verdict(program, ARCH[machine], number) == ALLOW}
    assert {434, 436, 439, 441} <= allowed
    assert not {425, 426, 427, 428, 429, 430, 431, 432, 433, 435, 438, 440, 442, 444, 445, 446, 447} & allowed
    assert {verdict(program, ARCH[machine], number) for number in range(424, 700)} == {ALLOW, MISSING}
