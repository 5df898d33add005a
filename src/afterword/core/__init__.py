"""The loop and its vocabulary; no I/O. Start with `loop`, `protocols` and `records`."""
