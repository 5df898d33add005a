"""The durable record of runs: what was paid for is on the disk before it is used, and a run resumes from it."""

from afterword.journal.copying import copy_run
from afterword.journal.database import DEFAULT_NAME, default_place
from afterword.journal.journal import Journal, open_journal
from afterword.journal.maintenance import Findings, Sizes, compact_journal
from afterword.journal.positional import PositionalRecorder, RecordedRow
from afterword.journal.records import EffectRow, ForkPoint, ModelUse, Note, RunSpec, RunSummary, TaskSummary, TrialRow
from afterword.journal.run import Run
from afterword.journal.writer import Stall

__all__ = [
    "DEFAULT_NAME",
    "EffectRow",
    "Findings",
    "ForkPoint",
    "Journal",
    "ModelUse",
    "Note",
    "PositionalRecorder",
    "RecordedRow",
    "Run",
    "RunSpec",
    "RunSummary",
    "Sizes",
    "Stall",
    "TaskSummary",
    "TrialRow",
    "compact_journal",
    "copy_run",
    "default_place",
    "open_journal",
]
