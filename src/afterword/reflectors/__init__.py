"""Reflectors: the lesson of a failed trial, and whether it is fit to be used."""

from afterword.reflectors.lesson import Lesson, read_lesson
from afterword.reflectors.shape import Material, Problem, check_shape
from afterword.reflectors.verbal import Domain, Example, VerbalReflector

__all__ = ["Domain", "Example", "Lesson", "Material", "Problem", "VerbalReflector", "check_shape", "read_lesson"]
