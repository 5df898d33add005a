"""The command line: one small module per command, and the only place that wires the parts together."""
