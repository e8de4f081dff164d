"""Python workers that are there, with all they need imported, before the first task asks for them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

from pyspark import SparkContext

__all__ = ["warm_workers"]


def warm_workers(context: SparkContext, module: str) -> None:
    """In the background, a small job on every core that imports a module: meanwhile the session and the plan are made.

    If it fails so will the job's own tasks, which say why.
    """

    def run() -> None:
        with suppress(Exception):
            cores = context.defaultParallelism
            context.parallelize(range(cores), cores).foreachPartition(partial(_import, module))

    threading.Thread(target=run, name="penstock-warm", daemon=True).start()


def _import(module: str, _: Iterable[Any]) -> None:
    """In a worker."""
    import_module(module)
