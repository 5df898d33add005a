"""The version, in this place only."""

__version__ = "0.1.0"
