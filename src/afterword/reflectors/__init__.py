"""Reflectors: the lesson of a failed trial, and whether it is fit to be used."""

from afterword.reflectors.lesson import Lesson, read_lesson
from afterword.reflectors.shape import Material, Problem, check_shape
from afterword.reflectors.verbal import (
    ANSWER_PROMPTS,
    PLAY_PROMPTS,
    PROGRAM_PROMPTS,
    Domain,
    Example,
    Prompts,
    VerbalReflector,
    show_message,
    show_play,
)

__all__ = [
    "ANSWER_PROMPTS",
    "PLAY_PROMPTS",
    "PROGRAM_PROMPTS",
    "Domain",
    "Example",
    "Lesson",
    "Material",
    "Problem",
    "Prompts",
    "VerbalReflector",
    "check_shape",
    "read_lesson",
    "show_message",
    "show_play",
]
