"""Run untrusted programs: the jail, its fallbacks, one result type."""

from afterword.sandbox.levels import STRONG, Level, LevelReport, open_sandbox, probe

__all__ = ["STRONG", "Level", "LevelReport", "open_sandbox", "probe"]
