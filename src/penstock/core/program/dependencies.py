"""Dependencies of Python functions in a worker: modules, packages, archives, an interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from penstock.core.config import ConfigOption, Configuration
from penstock.core.config.options.workers import PYTHON_ARCHIVES, PYTHON_EXECUTABLE, PYTHON_FILES, PYTHON_REQUIREMENTS
from penstock.core.errors import ConfigurationError

__all__ = ["Archive", "PythonDependencies", "joined"]

_ARCHIVE_TYPES = (".zip", ".tar", ".tar.gz", ".tgz", ".jar")


def joined(conf: Configuration, option: ConfigOption[str], item: str) -> None:
    """Add an item to a setting that is a list with commas."""
    conf.set_string(option.key, ",".join(filter(None, (conf.get(option), item))))


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive and the folder it is unpacked in, below the worker's working folder."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class PythonDependencies:
    """All of them, as absolute paths that exist.

    >>> PythonDependencies.of(Configuration())
    PythonDependencies(files=(), archives=(), requirements=None, cache=None, executable=None)
    """

    files: tuple[str, ...] = ()
    archives: tuple[Archive, ...] = ()
    requirements: str | None = None
    cache: str | None = None
    executable: str | None = None

    @staticmethod
    def of(conf: Configuration) -> PythonDependencies:
        """Read and check the settings."""
        requirements, _, cache = conf.get(PYTHON_REQUIREMENTS).partition("#")
        archives = tuple(_archive(item) for item in _items(conf, PYTHON_ARCHIVES))
        targets = [a.target for a in archives]
        if doubled := sorted({t for t in targets if targets.count(t) > 1}):
            raise ConfigurationError(
                f"{PYTHON_ARCHIVES.key}: several archives would be unpacked in {doubled[0]!r}: name target_dir"
            )
        return PythonDependencies(
            tuple(_existing(PYTHON_FILES, path) for path in _items(conf, PYTHON_FILES)),
            archives,
            _existing(PYTHON_REQUIREMENTS, requirements) if requirements else None,
            _existing(PYTHON_REQUIREMENTS, cache) if cache else None,
            conf.get(PYTHON_EXECUTABLE) or None,
        )

    @property
    def folders(self) -> tuple[str, ...]:
        """Files that are folders."""
        return tuple(f for f in self.files if os.path.isdir(f))

    @property
    def shipped_paths(self) -> tuple[str, ...]:
        """Paths that workers put in front of their module search path, relative to the folder of shipped files."""
        requirements = (shipped_name(self.requirements),) if self.requirements else ()
        files = {_importable(f) for f in self.files if f not in self.folders}
        return (*map(shipped_name, self.folders), *requirements, *sorted(files))


def _importable(path: str) -> str:
    """A module is found in its folder, an archive of modules is one."""
    return os.curdir if path.endswith(".py") else os.path.basename(path)


def shipped_name(path: str) -> str:
    """Under which a folder, or what a requirements file lists, is unpacked in a worker."""
    return f"penstock-{blake2b(path.encode(), digest_size=6).hexdigest()}"


def _items(conf: Configuration, option: ConfigOption[str]) -> Iterator[str]:
    return (item.strip() for item in conf.get(option).split(",") if item.strip())


def _archive(item: str) -> Archive:
    path, _, target = item.partition("#")
    if not path.endswith(_ARCHIVE_TYPES):
        raise ConfigurationError(f"{PYTHON_ARCHIVES.key}: {path} is none of {', '.join(_ARCHIVE_TYPES)}")
    return Archive(_existing(PYTHON_ARCHIVES, path), target or os.path.basename(path))


def _existing(option: ConfigOption[str], path: str) -> str:
    local = path.removeprefix("file://")
    if not os.path.exists(local):
        raise ConfigurationError(f"{option.key}: there is no file {path}")
    return os.path.abspath(local)
