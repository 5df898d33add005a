"""Lessons across tasks: drafted from many, approved by a person one by one, and measured before they are believed."""

from afterword.experiments.lessons.distil import SourceLesson, clusters_of, distil
from afterword.experiments.lessons.rules import Evidence, Rule, RuleBook, RuleFile, read_rule_file, write_rule_file
from afterword.experiments.lessons.transfer import FirstTrial, Transfer, transfer

__all__ = [
    "Evidence",
    "FirstTrial",
    "Rule",
    "RuleBook",
    "RuleFile",
    "SourceLesson",
    "Transfer",
    "clusters_of",
    "distil",
    "read_rule_file",
    "transfer",
    "write_rule_file",
]
