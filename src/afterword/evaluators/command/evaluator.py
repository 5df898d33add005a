"""`CommandTests`: the evaluator that runs a command over a fresh copy of a folder with the candidate in it.

The jail keeps the command and the candidate from the host; it does not keep them from each other, and `trust` says so.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path

from afterword.core.protocols import EvaluateContext, Sandbox
from afterword.core.records import Feedback, Limits, RunResult
from afterword.errors import InputError
from afterword.evaluators.assertion_lines import MAX_CHARS, MAX_LINES, assertion_lines
from afterword.evaluators.command.check import LISTING, CommandCheck
from afterword.evaluators.command.report import Garbled
from afterword.evaluators.command.verdict import read_report, verdict

DEFAULT_LIMITS = Limits(wall_s=60.0, processes=256)
"""A command starts interpreters, compilers and their threads."""

_SCRIPT = f"""
PATH="$1:$PATH"
export PATH PYTHONDONTWRITEBYTECODE=1
command=$2
shift 2
[ $# -eq 0 ] || chmod u+x -- "$@"
/bin/sh -c "$command"
code=$?
find . -type d -o -print0 > {LISTING}
exit "$code"
"""
_CANNOT_START = (126, 127)


@dataclass(frozen=True)
class CommandTests:
    """Judges the output of a trajectory, the text of one file, by a command."""

    check: CommandCheck
    sandbox: Sandbox
    limits: Limits = field(default_factory=lambda: DEFAULT_LIMITS)

    @property
    def check_ids(self) -> tuple[str, ...]:
        return self.check.ids

    def check_texts(self) -> tuple[str, ...]:
        """What would give the checks away, for the leak audit: their names, and what protected files expect."""
        names = [part for name in self.check_ids for part in (name, name.rpartition("::")[2])]
        files = (self.check.snapshot.files.get(name, b"") for name in self.check.protected)
        texts = (file[:MAX_CHARS].decode(errors="replace") for file in files)
        return (*names, *islice((line for text in texts for line in assertion_lines(text)), MAX_LINES))

    async def evaluate(self, context: EvaluateContext) -> Feedback:
        """The verdict.

        Raises:
            SandboxFault: no verdict could be reached.
        """
        program = context.trajectory.output
        request = (self.check.digest, program, asdict(self.limits))
        changes = {self.check.candidate: program.encode("utf-8", "surrogatepass")}
        return await context.effects.effect(context.role, request, lambda: self.judge(changes), Feedback)

    async def judge(self, changes: Mapping[str, bytes]) -> Feedback:
        """The verdict on a folder with these files changed. What may not be changed is put back, and reported."""
        return verdict(self.check, await self._run(changes), changes)

    async def prepared(self) -> CommandTests:
        """The same evaluator, knowing which tests there are: the command is run on the folder as it stands.

        Raises:
            InputError: the check cannot work, or it passes without a program.
        """
        ended = await self._run({})
        self._refuse_broken(ended)
        found = verdict(self.check, ended)
        if found.reason == "tampered":
            changed = next(name for name in found.failed_ids if name.startswith("protected:"))
            raise self._error(f"the command itself changes a file that is {changed}; narrow protect")
        if found.passed:
            without = await self.judge({self.check.candidate: b""})
            if without.passed:
                raise self._error(f"the command passes with an empty {self.check.candidate!r}; it checks nothing of it")
        return replace(self, check=self.check.expecting(self.check.ids or self._known_ids(ended)))

    def _refuse_broken(self, ended: RunResult) -> None:
        """What no program can mend."""
        if ended.exit_code in _CANNOT_START and self.check.result.file not in ended.files:
            said = (ended.stderr.strip() or ended.stdout.strip()).split("\n")[-1][:300]
            raise self._error(f"the command cannot be started in the jail: {said}; install it or name its folder")
        if ended.exit_code != 0 or self.check.result.kind == "exit_code":
            return
        try:
            report = read_report(self.check, ended)
        except Garbled as garbled:
            raise self._error(
                f"the command ended well, but its result {self.check.result} is no use: {garbled}"
            ) from None
        if not report.checks:
            raise self._error("the command ended well and reported no tests; correct it")

    def _known_ids(self, ended: RunResult) -> tuple[str, ...]:
        """The tests of the pristine folder; none where some could not even be loaded there."""
        if ended.reason != "exited":
            return ()
        try:
            report = read_report(self.check, ended)
        except Garbled:
            return ()
        if any(check.stands_for_many for check in report.checks):
            return ()
        return tuple(check.id for check in report.checks)

    async def _run(self, changes: Mapping[str, bytes]) -> RunResult:
        check = self.check
        python = str((check.python or Path(sys.executable)).parent)
        executable = sorted(check.snapshot.executable & check.snapshot.files.keys() - {check.result.file})
        argv = ["/bin/sh", "-c", _SCRIPT, "sh", python, check.command, *executable]
        wanted = [check.result.file] if check.result.file else []
        files = check.files_with(changes)
        return await self.sandbox.run(argv, files, self.limits, collect=[*wanted, LISTING, *check.protected])

    def _error(self, message: str) -> InputError:
        return InputError(message, file=self.check.file)


def limits_of(timeout_s: float, memory_mb: int) -> Limits:
    """Limits of a command."""
    return replace(DEFAULT_LIMITS, wall_s=timeout_s, memory_mb=memory_mb)
