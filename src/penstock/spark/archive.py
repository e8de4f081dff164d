"""Makes the class-data archive that halves the start of the driver's JVM: `python -m penstock.spark.archive PATH`.

A short batch and a short stateful query are run so that the archive holds the classes that jobs use;
the JVM writes it when it ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["make_archive"]

_TRAINING = """
from penstock.common import Configuration
from penstock.datastream import StreamExecutionEnvironment
for host in ("bounded", "streaming"):
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("penstock.host", host))
    stream = env.set_parallelism(1).from_collection(range(10)).key_by(lambda v: v % 2).reduce(lambda a, b: a + b)
    list(stream.execute_and_collect())
"""


def make_archive(archive: Path) -> None:
    """Write the archive unless another process is at it already."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_suffix(".part")
    try:
        os.close(os.open(archive.with_suffix(".lock"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    try:
        options = f"-XX:ArchiveClassesAtExit={fresh} -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
        environment = {**os.environ, "SPARK_SUBMIT_OPTS": options}
        # the JVM holds these pipes until it has ended, which is what is waited for
        subprocess.run([sys.executable, "-c", _TRAINING], env=environment, capture_output=True, timeout=600)
        with contextlib.suppress(FileNotFoundError):
            fresh.rename(archive)
    finally:
        archive.with_suffix(".lock").unlink(missing_ok=True)


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
