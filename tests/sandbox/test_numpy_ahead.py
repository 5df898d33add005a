"""Programs that speak of numpy find it loaded, since its import takes longer than a whole verdict; others do not."""

from __future__ import annotations

import pytest

from tests.sandbox.jailed import told

pytest.importorskip("numpy")
LOADED = "'numpy' in sys.modules"


def test_numpy_is_loaded_for_who_speaks_of_it() -> None:
    assert told(f"({LOADED}, 'numpy')[0]", "namespaces", before="import sys") is True


def test_numpy_is_not_loaded_for_others() -> None:
    assert (
        told("any(name.startswith('num' + 'py') for name in sys.modules)", "namespaces", before="import sys") is False
    )


def test_one_thread_and_its_own_numbers() -> None:
    threads = told("len(os.listdir('/proc/self/task')) if 'numpy' else 0", "namespaces")
    assert threads == 1
    drawn = {told("__import__('numpy').random.default_rng().integers(1 << 60).item()", "namespaces") for _ in range(3)}
    assert len(drawn) == 3
