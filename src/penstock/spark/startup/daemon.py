"""The daemon whose children are the Python workers: PySpark's, with our modules imported once for all of them.

An embedded Spark runs it as `python -m penstock.spark.startup.daemon pyspark.worker`; other masters run PySpark's own.
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from importlib import import_module

__all__ = ["PRELOADED", "spare_full_collections"]

PRELOADED = (
    "pyspark.worker",
    "penstock.api.environment",
    "penstock.runtime.source_task",
    "penstock.runtime.stage",
    "penstock.spark.pickled_plan",
)
"""None of them starts a thread, as pyarrow and pandas do: a process with threads must not be forked."""


class _Collector:
    """Stands for the module `gc` in the daemon, which uses nothing else of it."""

    collect = staticmethod(partial(gc.collect, 1))


def spare_full_collections() -> None:
    """Called in a worker: after each task the daemon's loop visits every object of the process, modules and state too.

    With short tasks that is a quarter of a worker's time. Young objects are enough: the cycle collector itself sees to
    the old ones when they have grown by a quarter.
    """
    manager = getattr(sys.modules["__main__"], "manager", None)
    names = getattr(manager, "__globals__", {})
    if names.get("gc") is gc:
        names["gc"] = _Collector


if __name__ == "__main__":
    from pyspark.daemon import manager

    if sys.argv[1:] == ["pyspark.worker"]:
        for name in PRELOADED:
            import_module(name)
        gc.collect()
        gc.freeze()
    manager()
