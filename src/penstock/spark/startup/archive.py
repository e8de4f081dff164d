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
"""How many archives a user has at most: each takes 175 MB."""
# The JVM would write its warnings to standard output, which belongs to the job. An unusable archive costs only time.
_QUIET = "-Xlog:disable -Xlog:all=warning:stderr -Xlog:cds*=off:stderr -Xlog:class+path=off:stderr"


def archive_option(java_home: str) -> str:
    """The JVM options that use the archive of this Java and Spark.

    Called when the options of a JVM are put together. If there is no archive yet, the options are empty, and a process
    that makes the archive is started in the background (unless PENSTOCK_NO_ARCHIVE is set), for the next job.
    """
    archive = archive_path(java_home, Path(pyspark_folder(), "jars"))
    if archive.exists():
        with contextlib.suppress(OSError):
            os.utime(archive)  # marks the archive as used, so that `_bound` keeps it
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_QUIET}"
    if not NO_ARCHIVE.get():
        _make_in_background(archive)
    return ""


def archive_path(java_home: str, jars: Path) -> Path:
    """The file of the archive. Its name has two digests: of the two folders, and of the files in them.

    A JVM refuses an archive if one of the jars has changed, even if only its date has, so sizes and dates count.
    """
    release = Path(java_home, "release")
    found = [release.read_text() if release.exists() else ""]
    if jars.is_dir():
        with os.scandir(jars) as entries:
            found += sorted(f"{jar.name} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in entries)
    return cache_folder() / f"jvm-{digest(java_home, str(jars))}-{digest(*found)}.jsa"


def make_archive(archive: Path) -> None:
    """Write the archive, unless another process is writing it; called in a process of its own.

    Afterwards the archives that this one replaces are removed, and the least recently used ones beyond the limit.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_suffix(".part")
    with archive.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        environment = {**os.environ, "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={fresh} {_QUIET}"}
        # the JVM writes the archive as it ends, and holds these pipes until then: `run` waits for that
        subprocess.run([sys.executable, "-c", _TRAINING], env=environment, capture_output=True, timeout=600)
        with contextlib.suppress(FileNotFoundError):
            fresh.rename(archive)
            _remove_older(archive)
            _bound(archive)


def _remove_older(archive: Path) -> None:
    """Remove archives of the same folders that were made before Java or Spark was updated."""
    places = archive.name.rpartition("-")[0]
    for other in archive.parent.glob(f"{places}-*"):
        if other.stem != archive.stem:
            other.unlink(missing_ok=True)


def _bound(archive: Path) -> None:
    """Keep the archives that were used last: each virtual environment has its own, and many do not live long."""
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
    """Start `make_archive` in a process of its own, at low priority, which outlives this one."""
    subprocess.Popen(
        ["nice", "-n", "19", sys.executable, "-m", "penstock.spark.startup.archive", str(archive)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
