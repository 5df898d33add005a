"""The entry point: the commands, and how an error becomes one line and an exit code.

Exit codes: 0 accepted or unverified, 1 rejected or gave up, 2 bad usage or bad input, 3 faulted,
130 interrupted.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Annotated, Never, Protocol, runtime_checkable

import typer

from afterword._version import __version__
from afterword.cli import (
    audit,
    audit_tests,
    check,
    compare,
    continue_,
    doctor,
    evaluate,
    exam,
    experiment,
    export,
    extract,
    failures,
    fork,
    journal_cmd,
    judge,
    lessons,
    model,
    new,
    pilot,
    report,
    rescore,
    resume,
    run,
    runs,
    show,
    verify,
)
from afterword.cli.streams import settle_streams
from afterword.cli.text import plain
from afterword.core.faults import first_of_group
from afterword.errors import AfterwordError, InputError

BAD_INPUT = 2
FAULTED = 3
INTERRUPTED = 130

app = typer.Typer(
    name="afterword",
    help="Language agents that learn from failed attempts, with verdicts that hold.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("resume")(resume.resume)
app.command("fork")(fork.fork)
app.command("continue")(continue_.continue_run)
app.command("experiment")(experiment.experiment)
app.command("evaluate")(evaluate.evaluate)
app.command("verify")(verify.verify)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("rescore")(rescore.rescore)
app.command("check")(check.check)
app.command("audit")(audit.audit)
app.command("audit-tests")(audit_tests.audit_tests)
app.command("exam")(exam.exam)
app.command("pilot")(pilot.pilot)
app.command("failures")(failures.failures)
app.command("extract")(extract.extract)
app.command("new")(new.new)
app.command("doctor")(doctor.doctor)
app.command("runs")(runs.runs)
app.command("show")(show.show)
app.command("export")(export.export)
app.add_typer(journal_cmd.app, name="journal")
app.add_typer(model.app, name="model")
app.add_typer(judge.app, name="judge")
app.add_typer(lessons.app, name="lessons")


@app.callback(invoke_without_command=True)
def afterword(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Language agents that learn from failed attempts, with verdicts that hold."""
    if version:
        sys.stdout.write(f"afterword {__version__}\n")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> Never:
    """Runs the command line and exits."""
    settle_streams()
    _end_as_by_ctrl_c()
    gc.set_threshold(20_000, 20, 50)  # records come and go without cycles: to look for those took a seventh of the time
    sys.exit(exit_code_of(arguments))


def _end_as_by_ctrl_c() -> None:
    """Has SIGTERM end a command as orderly as Ctrl-C does, also where a script's `&` has Ctrl-C ignored."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # goes on being ignored, with a handler to call
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _as_ctrl_c)


def _as_ctrl_c(_: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)  # the event loop's own while there is one
    if callable(handler):
        handler(signal.SIGINT, frame)


def exit_code_of(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code; errors are one line on stderr."""
    try:
        try:
            code = app(arguments, prog_name="afterword", standalone_mode=False)
            sys.stdout.flush()
        except BaseExceptionGroup as group:
            raise first_of_group(group) from None
    except typer.TyperException as error:
        return _refuse(error)
    except InputError as error:
        return _fail(str(error), BAD_INPUT)
    except AfterwordError as error:
        return _fail(str(error), FAULTED)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):
        # The reader has left, e.g. `afterword run … | head`; nothing more can be said to it. typer and rich make
        # of that an exit with 1, which would mean "rejected" here.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except OSError as error:
        if not _output_fails():
            return _bug(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is not tried again
        return _fail(f"the output cannot be written: {error.strerror}; make room, or send it elsewhere", FAULTED)
    except Exception as error:  # noqa: BLE001 - told in full, with an exit code that is not "rejected"
        return _bug(error)
    if code == INTERRUPTED:  # typer has caught it
        return _fail("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _output_fails() -> bool:
    """Whether it was the output: that fails again."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _bug(error: Exception) -> int:
    traceback.print_exception(error)
    return _fail(f"this is a bug in afterword ({type(error).__name__}); the lines above say where", FAULTED)


@runtime_checkable
class _Misused(Protocol):
    """The command that bad usage was of; typer's own class for it is not public."""

    @property
    def command_path(self) -> str: ...

    def get_help(self) -> str: ...


def _refuse(error: typer.TyperException) -> int:
    """Tells of bad usage and where to read on; nothing but the name of a group is answered with its help."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if not isinstance(context, _Misused):
        return _fail(message, BAD_INPUT)
    if message == context.get_help():
        sys.stdout.write(f"{message}\n")
        return BAD_INPUT
    return _fail(f"{message.rstrip('.')}; see: {context.command_path} --help", BAD_INPUT)


def _fail(message: str, code: int) -> int:
    line = " ".join(plain(message).split())
    sys.stderr.write(f"afterword: {line}\n")
    return code
