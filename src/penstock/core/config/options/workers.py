"""Settings of what Python functions find in a worker: modules, packages, archives, an interpreter."""

from __future__ import annotations

from penstock.core.config.option import ON_SPARK
from penstock.core.config.values import listed, setting, text

__all__ = ["PYTHON_ARCHIVES", "PYTHON_EXECUTABLE", "PYTHON_FILES", "PYTHON_REQUIREMENTS", "WORKER_OPTIONS"]

PYTHON_FILES = setting("python.files", listed(","), "", "Modules, packages, zips and folders that functions import.")
PYTHON_ARCHIVES = setting(
    "python.archives",
    listed(","),
    "",
    "Archives that are unpacked in every worker's working folder; path#folder names the folder.",
)
PYTHON_REQUIREMENTS = setting(
    "python.requirements",
    text("the path of a requirements file"),
    "",
    "Packages that functions import, as pip lists them; path#folder installs them from that folder alone.",
)
PYTHON_EXECUTABLE = setting(
    "python.executable",
    text("the path of a Python interpreter"),
    "",
    "The interpreter of the workers.",
    ON_SPARK,
    default_text="the one that runs the program",
)

WORKER_OPTIONS = (PYTHON_FILES, PYTHON_ARCHIVES, PYTHON_REQUIREMENTS, PYTHON_EXECUTABLE)
