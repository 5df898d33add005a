"""Whether reflexion pays on somebody's own tasks: a sequential comparison that may stop as soon as it is clear."""

from afterword.experiments.pilot.deciding import Answer, Counts, Rules, answer_of, is_clear, tasks_missing
from afterword.experiments.pilot.evidence import confidence_sequence, difference_sequence
from afterword.experiments.pilot.ladder import Ladder, Rung, ladder
from afterword.experiments.pilot.sentences import ladder_lines, verdict
from afterword.experiments.pilot.tally import ARMS, ArmSeen, Standing, TaskSeen, counted, standing, task_seen

__all__ = [
    "ARMS",
    "Answer",
    "ArmSeen",
    "Counts",
    "Ladder",
    "Rules",
    "Rung",
    "Standing",
    "TaskSeen",
    "answer_of",
    "confidence_sequence",
    "counted",
    "difference_sequence",
    "is_clear",
    "ladder",
    "ladder_lines",
    "standing",
    "task_seen",
    "tasks_missing",
    "verdict",
]
