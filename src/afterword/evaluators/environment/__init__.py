"""Judges of a trial in a world: by the world's own word, by a rule of thumb, or by a model's opinion."""

from afterword.evaluators.environment.judge import ModelWatch, success_judge
from afterword.evaluators.environment.stuck import StuckHeuristic, Watch
from afterword.evaluators.environment.success import EnvironmentSuccess

__all__ = ["EnvironmentSuccess", "ModelWatch", "StuckHeuristic", "Watch", "success_judge"]
