"""Where PyFlink's tests are. Its wheel and its source distribution have none: they are in Flink's repository alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from benchmarks.envs import SCRATCH, pins

VARIABLE = "PYFLINK_SOURCES"
"""May name the folder `flink-python/pyflink` of Flink's sources; nothing is fetched then."""
REPOSITORY = "https://github.com/apache/flink.git"


class SourcesMissing(Exception):
    """There are no tests to run."""


def flink_version() -> str:
    """The version that the benchmarks and the comparisons with PyFlink pin."""
    return next(pin.partition("==")[2] for pin in pins("flink") if pin.startswith("apache-flink=="))


def pyflink_sources() -> tuple[Path, str]:
    """The folder `pyflink` of Flink's sources, and where it is from."""
    given = os.environ.get(VARIABLE)
    folder = Path(given) if given else _fetched(f"release-{flink_version()}")
    if not (folder / "datastream" / "tests").is_dir() and not (folder / "common" / "tests").is_dir():
        raise SourcesMissing(f"{folder} is not the folder flink-python/pyflink of Flink's sources: it has no tests")
    return folder, f"the folder that {VARIABLE} names" if given else f"Flink's repository, release-{flink_version()}"


def _fetched(tag: str) -> Path:
    """A sparse checkout of one tag, made once."""
    folder = SCRATCH / "flink-sources" / tag
    if not (folder / "flink-python").is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        clone = ["git", "clone", "--quiet", "--depth", "1", "--filter=blob:none", "--sparse", "--branch", tag]
        try:
            _run([*clone, REPOSITORY, str(folder)])
            _run(["git", "-C", str(folder), "sparse-checkout", "set", "flink-python/pyflink"])
        except subprocess.CalledProcessError as error:
            raise SourcesMissing(
                f"Flink's sources could not be fetched; name a folder flink-python/pyflink of {tag} with {VARIABLE}:\n"
                f"{error.stderr}"
            ) from error
    return folder / "flink-python" / "pyflink"


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
