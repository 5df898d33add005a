"""How the names of benchmarks are read: `HumanEval-Plus`, `humaneval_plus` and `humaneval+` are one."""

from __future__ import annotations


def plain_name(name: str) -> str:
    """A name without what people write in different ways."""
    return name.strip().lower().replace("_", "").replace("-", "").replace("plus", "+")
