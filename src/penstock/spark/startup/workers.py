"""The Python processes of an embedded Spark: which Python they are started with, and workers started ahead of time."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module

from pyspark import SparkContext

from penstock.core.whole_files import write_whole
from penstock.spark.startup.places import cache_folder, digest, pyspark_folder

__all__ = ["warm_workers", "worker_python"]

_SCRIPT = """#!/bin/sh
zip={zip}
PYTHONPATH="${{PYTHONPATH#"$zip":}}" exec {python} "$@"
"""


def worker_python(master: str) -> str:
    """The Python that Spark is to start its worker processes with: this one, by way of a script that mends its path.

    Spark puts PySpark in front of the path as a zip, and Python compiles anew whatever it imports from a zip: half a
    second for each process, and a streaming job starts five, one after the other. The script takes the zip off the
    path, so that the installed PySpark is imported, which has been compiled.

    A Python that PYSPARK_PYTHON names is returned as it is, and so is this one if workers run on other machines.
    """
    named = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return _quick_python() if named == sys.executable and master.startswith("local") else named


def _quick_python() -> str:
    """The script; this Python itself if SPARK_HOME names another Spark, or if the script cannot be written."""
    home = pyspark_folder()
    if os.environ.get("SPARK_HOME", home) != home:
        return sys.executable
    zipped = os.path.join(home, "python", "lib", "pyspark.zip")
    text = _SCRIPT.format(zip=shlex.quote(zipped), python=shlex.quote(sys.executable))
    script = cache_folder() / f"python-{digest(text)}"
    with suppress(OSError):
        if not script.exists():
            script.parent.mkdir(parents=True, exist_ok=True)
            write_whole(script, text, 0o755)
    return str(script) if os.access(script, os.X_OK) else sys.executable


def warm_workers(context: SparkContext, module: str) -> None:
    """Start Python workers, one for each core, and let them import a module. Returns at once.

    Called when a context has been made: the workers start while the session and the plan are made. A failure is
    ignored, since the job's own tasks will fail likewise and say why.
    """

    def run() -> None:
        with suppress(Exception):
            cores = context.defaultParallelism
            context.parallelize(range(cores), cores).foreachPartition(partial(_import, module))

    threading.Thread(target=run, name="penstock-warm", daemon=True).start()


def _import(module: str, _: Iterable[int]) -> None:
    """Called in a worker."""
    import_module(module)
