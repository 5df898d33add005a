"""Judging by a command: any program that checks a folder, run in the jail over a fresh copy of it."""

from afterword.evaluators.command.asked import AskedVerdict
from afterword.evaluators.command.check import CommandCheck, ResultFormat
from afterword.evaluators.command.evaluator import CommandTests
from afterword.evaluators.command.snapshot import Snapshot, read_snapshot

__all__ = ["AskedVerdict", "CommandCheck", "CommandTests", "ResultFormat", "Snapshot", "read_snapshot"]
