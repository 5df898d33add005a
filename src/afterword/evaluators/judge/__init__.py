"""The judge process: everything that runs beside the tests, and nothing that runs in the main process.

Apart from `program`, the main process imports none of it; it needs only the standard library.
"""
