"""Published runs executed and scored again: what they claim against what is found, item by item."""

from afterword.experiments.rescore.findings import Finding, findings
from afterword.experiments.rescore.logs import Log, find_logs
from afterword.experiments.rescore.scores import Difference, OwnTestScore, RunScore, Unstable
from afterword.experiments.rescore.scoring import Bench, open_bench, rescore

__all__ = [
    "Bench",
    "Difference",
    "Finding",
    "Log",
    "OwnTestScore",
    "RunScore",
    "Unstable",
    "find_logs",
    "findings",
    "open_bench",
    "rescore",
]
