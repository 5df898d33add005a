"""Afterword: language agents that learn from failed attempts."""
