"""Judges of an attempt; one folder or module for each way to judge."""
