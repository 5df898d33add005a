"""A comparison of arms for people: read from a journal, put in words, and shown as a table, a page or data."""

from afterword.experiments.report.gathering import Gathered, RunFacts, baseline_of, gather
from afterword.experiments.report.wording import name_of

__all__ = ["Gathered", "RunFacts", "baseline_of", "gather", "name_of"]
