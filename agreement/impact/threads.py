"""One thread for small matrix products: faster on a busy machine, and the same digits whatever the number of cores."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module


def one_thread() -> AbstractContextManager[object]:
    """Limits the linear algebra library to one thread while the context is open (where threadpoolctl is installed)."""
    try:
        limits: AbstractContextManager[object] = import_module("threadpoolctl").threadpool_limits(1)
    except ImportError:
        return nullcontext()
    return limits
