"""The loop and its vocabulary; no I/O."""
