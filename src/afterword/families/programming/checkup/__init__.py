"""A check-up of a task's own checks: do they hold still, and do they notice a wrong program?"""

from afterword.families.programming.checkup.examine import Settings, examine
from afterword.families.programming.checkup.findings import Finding, findings_of
from afterword.families.programming.checkup.records import Examination, MutantVerdict, Part, PartVerdicts

__all__ = ["Examination", "Finding", "MutantVerdict", "Part", "PartVerdicts", "Settings", "examine", "findings_of"]
