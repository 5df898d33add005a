"""An exam for reflectors: planted bugs whose line and cause are known, before money is spent on a loop."""

from afterword.experiments.exam.examining import BASELINE, Diagnosis, Examined, Repair, examine
from afterword.experiments.exam.naming import Naming, naming
from afterword.experiments.exam.planting import PlantedBug, plant, planted_quixbugs
from afterword.experiments.exam.programs import KnownRight, known_right_programs

__all__ = [
    "BASELINE",
    "Diagnosis",
    "Examined",
    "KnownRight",
    "Naming",
    "PlantedBug",
    "Repair",
    "examine",
    "known_right_programs",
    "naming",
    "plant",
    "planted_quixbugs",
]
