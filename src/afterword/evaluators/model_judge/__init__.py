"""A model's opinion as a verdict: it reads the attempt against a rubric in words."""

from afterword.evaluators.model_judge.evaluator import ModelJudge, same_model_warning, shown_output, shown_steps
from afterword.evaluators.model_judge.reading import Judgement, read_judgement
from afterword.evaluators.model_judge.rubric_file import read_rubric_text

__all__ = [
    "Judgement",
    "ModelJudge",
    "read_judgement",
    "read_rubric_text",
    "same_model_warning",
    "shown_output",
    "shown_steps",
]
