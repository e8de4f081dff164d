"""PySpark's daemon, whose children are the workers: what it does between two tasks."""

from __future__ import annotations

import gc
import sys
from functools import partial

__all__ = ["spare_full_collections"]


class _Collector:
    """Stands for the module `gc` in the daemon, which uses nothing else of it."""

    collect = staticmethod(partial(gc.collect, 1))


def spare_full_collections() -> None:
    """Called in a worker: after each task the daemon's loop visits every object of the process, modules and state too.

    With short tasks that is a quarter of a worker's time. Young objects are enough: the cycle collector itself sees to
    the old ones when they have grown by a quarter.
    """
    daemon = sys.modules["__main__"]
    if hasattr(daemon, "manager") and getattr(daemon, "gc", None) is gc:
        daemon.gc = _Collector  # type: ignore[attr-defined]
