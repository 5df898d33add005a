"""Lessons measured: what they hold, what followed them, what a person says of them, and what they cause."""

from afterword.experiments.audit.labels import LABELS, MEANINGS, Label, LabelFile
from afterword.experiments.audit.lessons import AuditedLesson, audited
from afterword.experiments.audit.past import PastTask, past_task, reflected_by
from afterword.experiments.audit.summary import Group, summarise

__all__ = [
    "LABELS",
    "MEANINGS",
    "AuditedLesson",
    "Group",
    "Label",
    "LabelFile",
    "PastTask",
    "audited",
    "past_task",
    "reflected_by",
    "summarise",
]
