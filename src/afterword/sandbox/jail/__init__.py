"""What runs on the other side of the wall: the zygote, the cell that it forks, and the worker in it.

Stdlib only and free of the rest of the package, since the interpreter that the user names (3.8 or later) runs
these files, by path and without `afterword` being installed there.
"""
