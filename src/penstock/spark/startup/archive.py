"""The class-data archive that halves the start of the driver's JVM.

`python -m penstock.spark.startup.archive PATH` makes one: it runs a short batch and a short stateful query, so that the
archive holds the classes that jobs use. The JVM writes the archive when it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

from penstock.core.config.variables import NO_ARCHIVE
from penstock.spark.startup.places import cache_folder, digest, pyspark_folder

__all__ = ["archive_option", "archive_path", "make_archive"]

_TRAINING = """
from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
for host in ("bounded", "streaming"):
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("penstock.host", host))
    stream = env.set_parallelism(1).from_collection(range(10)).key_by(lambda v: v % 2).reduce(lambda a, b: a + b)
    list(stream.execute_and_collect())
"""
_KEPT = 3
"""How many archives a user has at most; each takes 175 MB."""
# The JVM writes its warnings to standard output, which is the job's; what an archive lacks costs time and no more.
_QUIET = "-Xlog:disable -Xlog:all=warning:stderr -Xlog:cds*=off:stderr -Xlog:class+path=off:stderr"


def archive_option(java_home: str) -> str:
    """Use the archive of this Java and Spark if there is one; else have one made in the background."""
    archive = archive_path(java_home, Path(pyspark_folder(), "jars"))
    if archive.exists():
        with contextlib.suppress(OSError):
            os.utime(archive)  # most recently used
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_QUIET}"
    if not NO_ARCHIVE.get():
        _make_in_background(archive)
    return ""


def archive_path(java_home: str, jars: Path) -> Path:
    """Where the archive is kept: a name for the two places, and one for what stands there.

    A JVM refuses an archive if one of the jars has changed, be it only its date.
    """
    release = Path(java_home, "release")
    found = [release.read_text() if release.exists() else ""]
    if jars.is_dir():
        with os.scandir(jars) as entries:
            found += sorted(f"{jar.name} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in entries)
    return cache_folder() / f"jvm-{digest(java_home, str(jars))}-{digest(*found)}.jsa"


def make_archive(archive: Path) -> None:
    """Write the archive unless another process is at it already; those of the same places before it are removed."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_suffix(".part")
    with archive.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        environment = {**os.environ, "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={fresh} {_QUIET}"}
        # the JVM holds these pipes until it has ended, which is what is waited for
        subprocess.run([sys.executable, "-c", _TRAINING], env=environment, capture_output=True, timeout=600)
        with contextlib.suppress(FileNotFoundError):
            fresh.rename(archive)
            _remove_older(archive)
            _bound(archive)


def _remove_older(archive: Path) -> None:
    """Those of the same Java and Spark before an update."""
    places = archive.name.rpartition("-")[0]
    for other in archive.parent.glob(f"{places}-*"):
        if other.stem != archive.stem:
            other.unlink(missing_ok=True)


def _bound(archive: Path) -> None:
    """Keep the archives that were used last: each virtual environment has one, and many do not live long."""
    found = [path for path in archive.parent.glob("jvm-*.jsa") if path != archive]
    for other in sorted(found, key=_last_used, reverse=True)[_KEPT - 1 :]:
        for path in other.parent.glob(f"{other.stem}.*"):
            path.unlink(missing_ok=True)


def _last_used(archive: Path) -> float:
    try:
        return archive.stat().st_mtime
    except FileNotFoundError:  # removed by another process meanwhile
        return 0.0


def _make_in_background(archive: Path) -> None:
    """A process of its own, at low priority, that outlives this one."""
    subprocess.Popen(
        ["nice", "-n", "19", sys.executable, "-m", "penstock.spark.startup.archive", str(archive)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
