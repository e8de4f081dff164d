"""The daemon that forks Spark's Python workers: PySpark's own, with Penstock's modules imported before it forks.

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
"""Modules that the daemon imports. pyarrow and pandas are left out: they start threads, and a process with threads must
not be forked."""


class _Collector:
    """Takes the place of the module `gc` in the daemon's loop, which calls nothing but `collect`."""

    collect = staticmethod(partial(gc.collect, 1))


def spare_full_collections() -> None:
    """Let the daemon's loop collect young objects only. Called in a worker when it loads a job.

    After each task PySpark's loop calls `gc.collect()`, which visits every object of the process, modules and state
    too: with short tasks that is a quarter of a worker's time. Python's own collector still visits the old objects
    when they have grown by a quarter.
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
