"""Brings the Python dependencies of functions to the place where they run."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from penstock.core.errors import ConfigurationError
from penstock.core.program.dependencies import PythonDependencies

__all__ = ["dependencies_at_hand", "in_front_of_path", "install_requirements"]


def install_requirements(requirements: str, cache: str | None, folder: str, python: str = sys.executable) -> None:
    """Install the packages of a requirements file into a folder; with a cache, from the cache alone."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder]
    offline = ["--no-index", "--find-links", cache] if cache else []
    # If the cache holds a source package but no build tools, it is built with those of this environment.
    ways = [[], ["--no-build-isolation"]] if cache else [[]]
    for way in ways:
        done = subprocess.run(
            [*command, *offline, *way, "-r", requirements], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return
    raise ConfigurationError(f"The Python requirements {requirements} cannot be installed:\n{done.stderr.strip()}")


def in_front_of_path(folders: Sequence[str]) -> None:
    """Put folders at the front of the module search path."""
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    importlib.invalidate_caches()


@contextlib.contextmanager
def dependencies_at_hand(dependencies: PythonDependencies) -> Iterator[None]:
    """While the block runs, make files and packages importable in this process, and archives files of its working
    folder."""
    if dependencies in (PythonDependencies(), PythonDependencies(executable=dependencies.executable)):
        yield
        return
    before = list(sys.path)
    with tempfile.TemporaryDirectory(prefix="penstock-dependencies-") as folder, contextlib.ExitStack() as stack:
        in_front_of_path(_prepared(dependencies, folder))
        if dependencies.archives:
            stack.enter_context(contextlib.chdir(folder))
        try:
            yield
        finally:
            sys.path[:] = before


def _prepared(dependencies: PythonDependencies, folder: str) -> list[str]:
    """Unpack and install below a folder; returns the folders for the module search path."""
    for archive in dependencies.archives:
        shutil.unpack_archive(archive.path, os.path.join(folder, archive.target), _format(archive.path))
    paths = [os.path.dirname(f) if f.endswith(".py") else f for f in dependencies.files]
    if dependencies.requirements:
        installed = os.path.join(folder, "requirements")
        install_requirements(dependencies.requirements, dependencies.cache, installed)
        paths.append(installed)
    return paths


def _format(path: str) -> str | None:
    """Jars are zips; other formats are known by the name of the file."""
    return "zip" if path.endswith(".jar") else None
