"""Structured output: JSON that has to satisfy a JSON Schema or a pydantic type."""

from afterword.evaluators.schema.evaluator import JsonSchema, PydanticSchema
from afterword.evaluators.schema.reading import JsonBounds

__all__ = ["JsonBounds", "JsonSchema", "PydanticSchema"]
