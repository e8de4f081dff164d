"""Ships a job's Python dependencies with Spark: every executor has them before the first task that may use them."""

from __future__ import annotations

import os
import shutil
import tempfile

from pyspark.core.files import SparkFiles
from pyspark.sql import SparkSession

from penstock.core.program.dependencies import PythonDependencies, shipped_name
from penstock.core.scratch import scratch_folder
from penstock.runtime.dependencies import in_front_of_path, install_requirements
from penstock.spark.startup.workers import worker_python

__all__ = ["enter_worker", "ship"]

_HOME = os.getcwd()


def ship(spark: SparkSession, dependencies: PythonDependencies) -> None:
    """Give a job's files, archives and requirements to Spark; called on the driver before the query is built."""
    context = spark.sparkContext
    context.pythonExec = dependencies.executable or worker_python(str(context.master))
    for path in dependencies.files:
        if not os.path.isdir(path):
            context.addPyFile(path)
    for archive in dependencies.archives:
        context.addArchive(f"{archive.path}#{archive.target}")
    for path in dependencies.folders:
        _ship_folder(spark, path, shipped_name(path))
    if dependencies.requirements:
        with tempfile.TemporaryDirectory(prefix="requirements-", dir=scratch_folder()) as folder:
            install_requirements(dependencies.requirements, dependencies.cache, folder, context.pythonExec)
            _ship_folder(spark, folder, shipped_name(dependencies.requirements))


def _ship_folder(spark: SparkSession, folder: str, name: str) -> None:
    """Ship a folder as an archive, so that extension modules and data files in it work; Spark serves it to its end."""
    base = os.path.join(tempfile.mkdtemp(prefix="shipped-", dir=scratch_folder()), name)
    spark.sparkContext.addArchive(f"{shutil.make_archive(base, 'zip', folder)}#{name}")


def enter_worker(shipped_paths: tuple[str, ...], in_archive_folder: bool) -> None:
    """Make shipped paths importable; called in a worker before the plan is unpickled.

    A worker serves several jobs, so its working folder is set each time.
    """
    root = _root()
    in_front_of_path([os.path.normpath(os.path.join(root, path)) for path in shipped_paths])
    os.chdir(root if in_archive_folder else _HOME)


def _root() -> str:
    """The folder of shipped files. The planner of a streaming source is told one inside it that does not exist."""
    root = str(SparkFiles.getRootDirectory())
    return root if os.path.isdir(root) else os.path.dirname(root)
