"""The floor: a process that has the usual modules loaded forks, and the child exits at once. It judges nothing."""

import bisect  # noqa: F401
import collections  # noqa: F401
import copy  # noqa: F401
import dataclasses  # noqa: F401
import datetime  # noqa: F401
import decimal  # noqa: F401
import fractions  # noqa: F401
import functools  # noqa: F401
import gc
import hashlib  # noqa: F401
import heapq  # noqa: F401
import itertools  # noqa: F401
import math  # noqa: F401
import os
import platform
import random  # noqa: F401
import re  # noqa: F401
import statistics  # noqa: F401
import string  # noqa: F401
import typing  # noqa: F401

from verdict_line import serve_grader


def fork(_item):
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


gc.collect()
gc.freeze()
serve_grader(platform.python_version(), fork, fork)
